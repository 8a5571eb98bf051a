"""The cache on disk: facts by content, in the user's cache directory. Losing it costs time and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from pathlib import Path

from guard import __version__

_LIMIT_BYTES = 512 * 1024 * 1024


def default_directory() -> Path:
    """`GUARD_CACHE_DIR`, else `guard` under the platform's cache directory (XDG)."""
    named = os.environ.get("GUARD_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "merge-regression-guard"


class DiskStore:
    """A `guard.source.store.FactStore` in one SQLite file. Each process opens its own connection.

    A value is computed from analysed content and is never executed: what is stored must be read with a safe
    format (JSON), since a cache directory may be shared.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._file = (directory or default_directory()) / f"facts-{_code_version()}.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def get(self, kind: str, key: str) -> bytes | None:
        """What was put under this kind and key; None where nothing was, or the cache cannot be read."""
        with contextlib.suppress(sqlite3.Error, OSError):
            row = self._open().execute("select value from facts where kind = ? and key = ?", (kind, key)).fetchone()
            return bytes(row[0]) if row else None
        return None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Remember a value; a full disk or a read-only home is no error."""
        with contextlib.suppress(sqlite3.Error, OSError):
            self._open().execute("insert or replace into facts values (?, ?, ?)", (kind, key, value))

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            if self._file.exists() and self._file.stat().st_size > _LIMIT_BYTES:
                self._file.unlink()
            self._connection = sqlite3.connect(self._file, timeout=5, isolation_level=None)
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = off")
            self._connection.execute(
                "create table if not exists facts (kind text, key text, value blob, primary key (kind, key))"
            )
            self._process = os.getpid()
        return self._connection


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
