"""The cache on disk: facts by content, in the user's cache directory. Losing it costs time and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from multiprocessing.util import Finalize
from pathlib import Path

from guard import __version__

_LIMIT_BYTES = 512 * 1024 * 1024
_BATCH_BYTES = 4 * 1024 * 1024
_PATIENCE_SECONDS = 0.5


def default_directory() -> Path:
    """`GUARD_CACHE_DIR`, else `guard` under the platform's cache directory (XDG)."""
    named = os.environ.get("GUARD_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "merge-regression-guard"


class DiskStore:
    """A `guard.store.facts.FactStore` in one SQLite file. Each process opens its own connection.

    Values are gathered and written many at a time: runs that share the cache must never wait for one another, so a
    write that finds the file locked is given up. A value is computed from analysed content and is never executed: what
    is stored must be read with a safe format (JSON), since a cache directory may be shared.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._file = (directory or default_directory()) / f"facts-{_code_version()}.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._waiting: dict[tuple[str, str], bytes] = {}
        self._waiting_bytes = 0

    def get(self, kind: str, key: str) -> bytes | None:
        """What was put under this kind and key; None where nothing was, or the cache cannot be read."""
        key = _encodable(key)
        waiting = self._waiting.get((kind, key))
        if waiting is not None:
            return waiting
        with contextlib.suppress(sqlite3.Error, OSError):
            row = self._open().execute("select value from facts where kind = ? and key = ?", (kind, key)).fetchone()
            return bytes(row[0]) if row else None
        return None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Remember a value; a full disk or a read-only home is no error."""
        if self._process != os.getpid():
            with contextlib.suppress(sqlite3.Error, OSError):
                self._open()
        self._waiting[kind, _encodable(key)] = value
        self._waiting_bytes += len(value)
        if self._waiting_bytes > _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered, in one transaction."""
        if not self._waiting:
            return
        rows = [(kind, key, value) for (kind, key), value in self._waiting.items()]
        self._waiting, self._waiting_bytes = {}, 0
        with contextlib.suppress(sqlite3.Error, OSError):
            connection = self._open()
            connection.execute("begin immediate")
            connection.executemany("insert or replace into facts values (?, ?, ?)", rows)
            connection.execute("commit")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        if self._process != os.getpid():
            # What a forked process inherited is its parent's to write.
            self._waiting, self._waiting_bytes, self._process = {}, 0, os.getpid()
            Finalize(self, self.flush, exitpriority=10)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if self._file.exists() and self._file.stat().st_size > _LIMIT_BYTES:
            self._file.unlink()
        fresh = not self._file.exists()
        self._connection = sqlite3.connect(self._file, timeout=_PATIENCE_SECONDS, isolation_level=None)
        if fresh:
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute(
                "create table if not exists facts (kind text, key text, value blob, primary key (kind, key))"
            )
        self._connection.execute("pragma synchronous = off")
        return self._connection


def _encodable(key: str) -> str:
    """The key as SQLite takes it: a file name that is not UTF-8 carries surrogates, which are written as escapes."""
    return key.encode("utf-8", "backslashreplace").decode()


def _code_version() -> str:
    """Release and a stamp of the installed code: facts of another state of the code are never read."""
    import guard

    root = Path(guard.__file__).parent
    stamp = hashlib.sha256(__version__.encode())
    for folder in ("source", "history", "checks", "lint"):
        for file in sorted((root / folder).rglob("*.py")):
            state = file.stat()
            stamp.update(f"{file.relative_to(root)}:{state.st_size}:{state.st_mtime_ns}".encode())
    return stamp.hexdigest()[:16]
