"""Read objects: one long-lived `cat-file --batch` with one owner."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import IO, NoReturn

from guard.errors import GitError, MissingObjectError
from guard.git.command import GitCommand

# One object that may be read into memory. The largest source file of any repository looked at has 4 MB.
LARGEST_OBJECT = 64 * 1024 * 1024

_HEADER = re.compile(rb"(?P<sha>[0-9a-f]{40,64}) (?P<kind>blob|tree|commit|tag) (?P<size>\d+)\n")


class ObjectReader:
    """Reads objects by name. Threads of the process that made it take turns; no other process can use it.

    A request and its answer are one turn, and an answer that is not the object asked for is an error: a pipe that is
    out of step must never hand over another file's text.
    """

    def __init__(self, command: GitCommand) -> None:
        self._owner = os.getpid()
        self._turn = threading.Lock()
        self._process = command.start("cat-file", "--batch")
        process = self._process.proc
        if process is None or process.stdin is None or process.stdout is None:
            raise GitError("git cat-file could not be started")
        self._requests: IO[bytes] = process.stdin
        self._answers: IO[bytes] = process.stdout
        self._in_step = True

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pipe to git has one process; open another reader there")

    @property
    def usable(self) -> bool:
        """Whether this process may ask, and the last answer was read to its end."""
        if self._owner != os.getpid():
            return False
        with self._turn:
            return self._in_step

    def read(self, name: str) -> bytes:
        """The content of an object.

        Arguments:
            name: its full SHA, or `commit:path`.

        Raises:
            MissingObjectError: there is no such object here.
            GitError: it is larger than `LARGEST_OBJECT`, the process died, or answered something else.
        """
        if self._owner != os.getpid():
            raise RuntimeError("a pipe to git belongs to the process that opened it")
        if "\n" in name:  # two requests
            raise MissingObjectError("")
        with self._turn:
            if not self._in_step:
                raise GitError("git cat-file was ended in the middle of an answer")
            # Whatever ends this turn early, a signal too, leaves the rest of an answer in the pipe.
            self._in_step = False
            data = self._ask(name)
            self._in_step = True
        if data is None:
            raise MissingObjectError("" if ":" in name else name)
        return data

    def _ask(self, name: str) -> bytes | None:
        asked = name.encode("utf-8", "surrogateescape")
        try:
            self._requests.write(asked + b"\n")
            self._requests.flush()
            header = self._answers.readline()
        except (OSError, ValueError) as error:
            raise GitError(f"git cat-file ended early: {error}") from error
        if header == asked + b" missing\n":
            return None
        found = _HEADER.fullmatch(header)
        if found is None or (b":" not in asked and found["sha"] != asked):
            said = header.decode("utf-8", "backslashreplace").strip() or "nothing"
            raise GitError(f"git cat-file was asked for {name} and answered {said!r}")
        size = int(found["size"])
        if size > LARGEST_OBJECT:
            raise GitError(f"object {name} holds {size} bytes, more than guard reads ({LARGEST_OBJECT})")
        data = self._answers.read(size + 1)
        if len(data) != size + 1 or data[-1:] != b"\n":
            raise GitError(f"object {name} was cut short")
        return data[:-1]

    def close(self) -> None:
        """End the process: it ends by itself when its input does, but not while it waits to write an answer."""
        with contextlib.suppress(OSError, ValueError):
            self._requests.close()
        process = self._process.proc
        if process is not None:
            if not self._in_step:
                process.kill()
            with contextlib.suppress(OSError, ValueError):
                self._answers.close()
        with contextlib.suppress(Exception):
            self._process.wait()
