"""Questions answered in several processes that share what was read before the fork."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

# What forked workers find without a copy: set before the fork, empty otherwise.
_work: list[tuple[Callable[[Any], Any], Sequence[Any]]] = []


def _nothing(_item: object, _answer: object) -> None:
    return None


def in_processes(
    answer: Callable[[Item], Answer],
    items: Sequence[Item],
    jobs: int,
    each: Callable[[Item, Answer], None] = _nothing,
) -> list[Answer]:
    """Answer for each item, in order; in this process where there is one job, one item, or no safe fork.

    Arguments:
        answer: what is asked of an item; its result must be picklable.
        jobs: processes to use at most.
        each: told in this process of every answer as it comes, in any order.
    """

    def told(item: Item) -> Answer:
        given = answer(item)
        each(item, given)
        return given

    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if jobs <= 1 or len(items) < 2 or not can_fork:
        return [told(item) for item in items]
    _work.append((answer, items))
    try:
        with multiprocessing.get_context("fork").Pool(min(jobs, len(items)), end_when_told) as pool:
            answers: dict[int, Answer] = {}
            for index, given in pool.imap_unordered(_run, range(len(items)), chunksize=1):
                answers[index] = given
                each(items[index], given)
            return [answers[index] for index in range(len(items))]
    finally:
        _work.pop()


def end_when_told() -> None:
    """Let the system end this forked process at a signal, without asking Python.

    A handler of Python runs between two of its instructions. A worker that is told to end just before it begins to wait
    for its next task would wait for ever, and the run for the worker.
    """
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def _run(index: int) -> tuple[int, Any]:
    answer, items = _work[-1]
    return index, answer(items[index])
