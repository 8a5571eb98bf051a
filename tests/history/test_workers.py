"""Forked workers end when they are told to, whatever handler the run has."""

from __future__ import annotations

import os
import signal
import time

from guard.parallel import end_when_told, in_processes


def _handled(_item: int) -> list[bool]:
    return [signal.getsignal(number) is signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)]


def test_workers_have_no_handler_of_the_run() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        assert in_processes(_handled, [1, 2], 2) == [[True] * 3] * 2
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL, "the run keeps its own"
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_worker_that_is_told_to_end_ends() -> None:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGTERM, lambda *_: None)
        end_when_told()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
