"""The cache on disk: facts by content, in the user's cache directory. Losing it costs time and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from multiprocessing.util import Finalize
from pathlib import Path

from platformdirs import user_cache_path

from guard import __version__

_LIMIT_BYTES = 512 * 1024 * 1024
_BATCH_BYTES = 4 * 1024 * 1024
_PATIENCE_SECONDS = 0.5


def default_directory() -> Path:
    """`GUARD_CACHE_DIR`, else guard's folder where the platform keeps caches (XDG on Linux, Library on macOS)."""
    named = os.environ.get("GUARD_CACHE_DIR")
    if named:
        return Path(named)
    return user_cache_path("merge-regression-guard", appauthor=False)


class DiskStore:
    """A `guard.store.facts.FactStore` in one SQLite file. Each process opens its own connection.

    Values are gathered and written many at a time: runs that share the cache must never wait for one another, so a
    write that finds the file locked is given up. A value is computed from analysed content and is never executed: what
    is stored must be read with a safe format (JSON), since a cache directory may be shared.

    Arguments:
        directory: where the file stands; the default of the platform without one.
        tell: told, in a sentence, what was wrong with the cache and what became of it.
    """

    def __init__(self, directory: Path | None = None, tell: Callable[[str], None] | None = None) -> None:
        self._file = (directory or default_directory()) / f"facts-{_code_version()}.sqlite"
        self._tell = tell
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
        query = "select value from facts where kind = ? and key = ?"
        with self._mended():
            row = self._open().execute(query, (kind, key)).fetchone()
            return bytes(row[0]) if row and isinstance(row[0], bytes) else None
        return None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Remember a value; a full disk or a read-only home is no error."""
        if self._process != os.getpid():
            with self._mended():
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
        with self._mended():
            connection = self._open()
            connection.execute("begin immediate")
            connection.executemany("insert or replace into facts values (?, ?, ?)", rows)
            connection.execute("commit")

    @contextlib.contextmanager
    def _mended(self) -> Iterator[None]:
        """A use of the file: one that is damaged is replaced and said so, a locked or unwritable one passed over."""
        try:
            yield
        except sqlite3.OperationalError as error:
            # "locked", "read-only" and "disk is full" are the machine's; a table that is not there is another's file.
            if "no such" in str(error) or "has no column" in str(error):
                self._replace(error)
        except sqlite3.DatabaseError as error:
            self._replace(error)
        except OSError:
            pass

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        try:
            _remove(self._file)
            self._open()
        except (sqlite3.Error, OSError) as problem:
            outcome = f"could not be replaced ({problem}), so nothing is remembered"
        else:
            outcome = "was replaced by an empty one"
        if self._tell is not None:
            self._tell(f"the cache {self._file} was damaged ({error}) and {outcome}")

    def _tell_of_empty(self) -> None:
        """Say so where the file was emptied; a run beside this one may have made it just now."""
        with contextlib.suppress(OSError):
            age = time.time() - self._file.stat().st_mtime
            if self._tell is not None and age > _PATIENCE_SECONDS:
                self._tell(f"the cache {self._file} was empty and was made again")

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        if self._process != os.getpid():
            # What a forked process inherited is its parent's to write.
            self._waiting, self._waiting_bytes, self._process = {}, 0, os.getpid()
            Finalize(self, self.flush, exitpriority=10)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        if self._file.exists() and self._file.stat().st_size > _LIMIT_BYTES:
            _remove(self._file)
        empty = not self._file.exists() or not self._file.stat().st_size
        if empty and self._file.exists():
            self._tell_of_empty()
        connection = sqlite3.connect(self._file, timeout=_PATIENCE_SECONDS, isolation_level=None)
        self._connection = connection
        if empty:
            connection.execute("pragma journal_mode = wal")
            connection.execute(
                "create table if not exists facts (kind text, key text, value blob, primary key (kind, key))"
            )
        connection.execute("pragma synchronous = off")
        return connection


def _remove(file: Path) -> None:
    """Take the cache away, with the files that SQLite keeps beside it."""
    for name in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
        if name.is_dir() and not name.is_symlink():
            raise OSError(f"{name} is a folder")
        name.unlink(missing_ok=True)


def _encodable(key: str) -> str:
    """The key as SQLite takes it: a file name that is not UTF-8 carries surrogates, which are written as escapes."""
    return key.encode("utf-8", "backslashreplace").decode()


def _code_version() -> str:
    """Release and a stamp of the installed code: facts of another state of the code are never read."""
    import guard

    root = Path(guard.__file__).parent
    stamp = hashlib.sha256(__version__.encode())
    for file in sorted(root.rglob("*.py")):
        state = file.stat()
        stamp.update(f"{file.relative_to(root)}:{state.st_size}:{state.st_mtime_ns}".encode())
    return stamp.hexdigest()[:16]
