"""Do two things at once, in a forked process that shares what is in memory; and leave the collector out of it."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import multiprocessing.connection
import pickle
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Beside(Generic[T]):
    """A function that runs in a process of its own from now on. Its result must be picklable."""

    def __init__(self, function: Callable[[], T]) -> None:
        context = multiprocessing.get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_answer, args=(function, sender), daemon=True)
        self._process.start()
        sender.close()

    def result(self) -> T:
        """Wait for the result.

        Raises:
            RuntimeError: the process died before it answered.
        """
        try:
            answer: T = pickle.loads(self._receiver.recv_bytes())
        except EOFError:
            raise RuntimeError("a process that looked for breaks died") from None
        finally:
            self._receiver.close()
            self._process.join()
        return answer


def can_fork() -> bool:
    """Whether processes that share memory can be made here."""
    return "fork" in multiprocessing.get_all_start_methods()


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection inside: millions of small objects stay, and the collector would walk them for nothing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _answer(function: Callable[[], object], sender: multiprocessing.connection.Connection) -> None:
    sender.send_bytes(pickle.dumps(function(), pickle.HIGHEST_PROTOCOL))
    sender.close()
