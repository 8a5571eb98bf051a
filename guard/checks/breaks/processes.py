"""Do two things at once, in a forked process that shares what is in memory."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import pickle
from collections.abc import Callable
from typing import Generic, TypeVar

from guard.parallel import end_when_told

T = TypeVar("T")


class ForkedTask(Generic[T]):
    """A function that runs in a process of its own from now on. Its result must be picklable.

    Arguments:
        alone: it starts no processes itself, and is ended with this one.
    """

    def __init__(self, function: Callable[[], T], alone: bool = True) -> None:
        context = multiprocessing.get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=_answer, args=(function, sender), daemon=alone)
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
            raise RuntimeError("a process of the check died") from None
        finally:
            self._receiver.close()
            self._process.join()
        return answer


def can_fork() -> bool:
    """Whether processes that share memory can be made here."""
    return "fork" in multiprocessing.get_all_start_methods()


def _answer(function: Callable[[], object], sender: multiprocessing.connection.Connection) -> None:
    end_when_told()
    sender.send_bytes(pickle.dumps(function(), pickle.HIGHEST_PROTOCOL))
    sender.close()
