"""Read objects: one long-lived `cat-file --batch`."""

from __future__ import annotations

from typing import IO

from guard.errors import GitError
from guard.git.command import GitCommand


class ObjectReader:
    """Reads objects by name, one process for the life of the reader. Not shared between threads or processes."""

    def __init__(self, command: GitCommand) -> None:
        self._process = command.start("cat-file", "--batch")
        process = self._process.proc
        if process is None or process.stdin is None or process.stdout is None:
            raise GitError("git cat-file could not be started")
        self._requests: IO[bytes] = process.stdin
        self._answers: IO[bytes] = process.stdout

    def read(self, name: str) -> bytes:
        """The content of the object `name` (a full SHA).

        Raises:
            GitError: there is no such object, or the process died.
        """
        try:
            self._requests.write(name.encode() + b"\n")
            self._requests.flush()
            header = self._answers.readline()
        except (OSError, ValueError) as error:
            raise GitError(f"git cat-file ended early: {error}") from error
        parts = header.split()
        if len(parts) != 3:
            raise GitError(f"object {name} cannot be read: {header.decode('utf-8', 'replace').strip() or 'no answer'}")
        size = int(parts[2])
        data = self._answers.read(size + 1)
        if len(data) != size + 1:
            raise GitError(f"object {name} was cut short")
        return data[:-1]

    def close(self) -> None:
        """End the process."""
        import contextlib

        with contextlib.suppress(OSError, ValueError):
            self._requests.close()
        with contextlib.suppress(Exception):
            self._process.wait()
