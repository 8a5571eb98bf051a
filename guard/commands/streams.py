"""The checks of one sync in two streams of about equal work, each in a process of its own.

The check of what broke takes about as long as the linter and the check of what was lost together. Side by side they
need no shares of one check, whose results (the outlines of all files, above all) are costly to hand from one process
to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from guard.checks import CheckRun, run_check
from guard.checks.breaks.processes import ForkedTask, can_fork
from guard.checks.contract import CheckContext, CheckResult
from guard.commands.progress import count_check
from guard.errors import GuardError, fault
from guard.model import Outcome, Status

T = TypeVar("T")

# What stays in this process; the linter and all other checks run beside it.
_HERE = ("broken", "carried")


def pays(names: Sequence[str], jobs: int, *, lints: bool) -> bool:
    """Whether there is enough for two streams."""
    return jobs > 1 and can_fork() and "broken" in names and (lints or "lost" in names)


def in_streams(
    names: Sequence[str], context: CheckContext, first: Callable[[int], T] | None
) -> tuple[tuple[CheckRun, ...], T | None]:
    """Run the checks of a sync in two streams.

    Arguments:
        names: names of the registry.
        context: its jobs are divided between the streams.
        first: what the other stream does before its checks, given its jobs.

    Returns:
        One run a check, in the order of the names; and what `first` gave, None where its process died.

    Raises:
        GuardError: the user can mend it, whichever stream met it.
    """
    half = max(1, context.jobs // 2)
    there = replace(context, jobs=half, progress=lambda _text: None)
    apart = [name for name in names if name not in _HERE]
    stream = ForkedTask(lambda: _other(apart, there, first), alone=half == 1)
    here = replace(context, jobs=context.jobs - half)
    runs = {}
    for name in names:
        if name in _HERE:
            context.progress(f"{name}: {context.trees.sync.merge[:10]}")
            runs[name] = run_check(name, here)
            count_check(context.progress)
    context.progress(f"{', '.join(apart)}: {context.trees.sync.merge[:10]}")
    try:
        answer, error = stream.result()
    except RuntimeError as problem:
        died = f"its process ended without an answer ({problem})"
        failed = {name: CheckRun(name, CheckResult(), Outcome(name, Status.FAILED, died)) for name in apart}
        return tuple({**runs, **failed}[name] for name in names), None
    if error is not None:
        raise error
    ahead, others = answer
    runs.update((run.name, run) for run in others)
    for _ in (*others, *([ahead] if first is not None else [])):
        count_check(context.progress)
    return tuple(runs[name] for name in names), ahead


def _other(
    names: Sequence[str], context: CheckContext, first: Callable[[int], T] | None
) -> tuple[tuple[T | None, list[CheckRun]], Exception | None]:
    """What the other stream does; an error that must end the run is handed over, not raised in the wrong process."""
    try:
        ahead = first(context.jobs) if first is not None else None
        return (ahead, [run_check(name, context) for name in names]), None
    except GuardError as error:
        return (None, []), error
    except Exception as error:  # with --debug only: a check lets it through
        if context.debug:
            import traceback

            traceback.print_exc()
        return (None, []), GuardError(fault(error))
