"""Progress on standard error: what is being done, how much of it is done, and how long the rest will take.

On a terminal it is one line that is wiped at the end, and shown only for work that takes over half a second. Elsewhere
(a log of a job) each finished part of counted work is a line of its own, so that a long run is never without a word.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from guard.report.plain import one_line, plural

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

AGAIN = "what was done is remembered: the same command goes on from there"
_PATIENCE_SECONDS = 0.5
_ESTIMATE_SECONDS = 24 * 3600.0  # parts of a run take minutes: an estimate has to look at all of them


class Progress:
    """Tells a person who waits; one that is quiet tells nothing."""

    def __init__(self, quiet: bool = True) -> None:
        self.quiet = quiet
        self.total = 0
        self.finished = 0
        self._unit = ""
        self._step = ""
        self._started = time.monotonic()
        self._counted_since = self._started
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __call__(self, text: str) -> None:
        """Tell what is being done now."""
        self._step = one_line(text)
        self._draw()

    def begin(self, total: int, unit: str) -> None:
        """Count from here on.

        Args:
            total: how many parts there are to do.
            unit: what a part is, in the singular: `merge`.
        """
        self.total, self.finished, self._unit = total, 0, unit
        self._counted_since = time.monotonic()
        self._draw()

    def done(self, said: str = "") -> None:
        """Count one part as done.

        Args:
            said: its result in a line, which stays; empty where the count says enough.
        """
        self.finished += 1
        said = one_line(said)
        if self.quiet or not said:
            self._draw()
        elif sys.stderr.isatty():
            self._draw()
            self._keep(f"[{self.finished}/{self.total}] {said}")
        else:
            left = self._left()
            tail = f" ({_clock(left)} left)" if left is not None and self.finished < self.total else ""
            print(f"[{self.finished}/{self.total}] {said}{tail}", file=sys.stderr, flush=True)

    def step(self, unit: str) -> None:
        """Count one part as done where parts of this unit are what is counted."""
        if unit == self._unit:
            self.done()

    def stopped(self) -> str | None:
        """What to say where the run was stopped in the middle of counted work; None where nothing was counted."""
        if self.quiet or self.total < 2 or not self.finished:
            return None
        return f"stopped after {self.finished} of {plural(self.total, self._unit)}"

    def close(self) -> None:
        """Wipe the line."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _left(self) -> float | None:
        """Seconds that the rest will take, as the parts so far took; None before the first."""
        if not self.finished:
            return None
        return (time.monotonic() - self._counted_since) / self.finished * (self.total - self.finished)

    def _keep(self, line: str) -> None:
        if self._bar is not None:
            self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def _draw(self) -> None:
        if self.quiet or not sys.stderr.isatty():
            return
        if self._bar is None:
            if time.monotonic() - self._started < _PATIENCE_SECONDS:
                return
            self._bar = _bar()
            self._task = self._bar.add_task("", total=None)
            self._bar.start()
        assert self._task is not None
        total = self.total or None
        self._bar.update(self._task, description=self._step, total=total, completed=self.finished, refresh=True)


def count_check(tell: Callable[[str], None]) -> None:
    """Count a check as done, where the one who is told counts checks: a check itself knows of no count."""
    if isinstance(tell, Progress):
        tell.step("check")


def _bar() -> Bar:
    # Late: a run that is short or speaks to no terminal must not pay for it.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    step = TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
    columns = (step, BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    # Without a thread that redraws, and without a hand on the standard streams: a process with threads cannot fork.
    return Progress(
        *columns,
        console=Console(file=sys.stderr),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        speed_estimate_period=_ESTIMATE_SECONDS,
        expand=True,
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


@contextlib.contextmanager
def progress(quiet: bool = False, again: str = "") -> Iterator[Progress]:
    """Progress for the length of a run.

    Args:
        quiet: tell nothing.
        again: what a person who stopped the run in the middle of counted work should know.
    """
    tell = Progress(quiet)
    try:
        yield tell
    except KeyboardInterrupt:
        tell.close()
        said = tell.stopped()
        if said is not None:
            print(f"guard: {said}{f'; {again}' if again else ''}", file=sys.stderr)
        raise
    finally:
        tell.close()
