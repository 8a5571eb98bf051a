"""The `guard` command: registers the verbs lazily, turns our errors into exit states."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

import click

from guard import __version__
from guard.errors import GuardError, NothingCheckedError, fault, frames

# One verb a module; a verb is imported when it is run or when its help is asked for, so that a hook starts fast.
VERBS: dict[str, str] = {
    "check": "Lint what changed and judge every sync in the range.",
    "verify": "Run the gradient invariances against a tree.",
    "contains": "Tell which branch has which fix, by content and effect.",
    "learn": "Write a pin from a fix commit.",
    "merge": "Make a merge, resolve conflicts by syntax, and name what stays open.",
    "resolve": "Resolve by syntax the conflicts that are open here.",
    "forecast": "List what a merge would leave open, the riskiest first.",
    "merge-driver": "Join the versions of one file, for git to call (see init --merge-driver).",
    "restore": "Print or apply the patch that brings a lost change back.",
    "explain": "Explain one rule, or show the whole evidence of one finding.",
    "rules": "List the rules; try the examples of one's own.",
    "accept": "Remember an accepted finding.",
    "comment": "Keep one comment with the report on a pull or merge request.",
    "config": "Show the settings in force and where each comes from.",
    "cache": "Show or empty the folder of what guard remembers.",
    "history": "Audit all past syncs in a range.",
    "init": "Write config, hook and workflow.",
    "demo": "Show the tool on a small repository it makes itself.",
}

EXIT_ERROR = 2
EXIT_NOTHING_CHECKED = 3
_PLACES = 12  # of the way through guard that a fault took, the innermost ones
_FRAMES = 6000
_DIGITS = 40_000
_PATIENCE_SECONDS = 1.0  # for a process that was told to end


class _ReaderGoneError(Exception):
    """Whoever read standard output has seen enough."""


class VerbGroup(click.Group):
    """A group whose commands are modules of `guard.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of the documentation."""
        return list(VERBS)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb. Click would answer a closed pipe with exit state 1, which is ours for findings."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in VERBS:
            return None
        module = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"guard.commands.{module}"), module)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="guard")
def guard() -> None:
    """Find what a merge silently undid or broke, and keep loss code numerically honest.

    Exit: 0 clean; 1 findings at or above --fail-on; 2 could not run; 3 nothing was checked.
    """


def _end_tidily() -> None:
    """Let a termination request unwind the run, so that no process and no temporary folder is left.

    A forked process ends at once and in silence: the one that started it tells what happened.
    """
    owner = os.getpid()

    def end(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != owner:
            os._exit(128 + number)
        if "multiprocessing" in sys.modules:
            _end_children()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)


def _end_children() -> None:
    """End the forked processes: this one would wait for them, and a signal is lost on one that was only just forked."""
    import multiprocessing

    children = multiprocessing.active_children()
    for process in children:
        process.terminate()
    for process in children:
        process.join(_PATIENCE_SECONDS)
        if process.is_alive():
            process.kill()


def _nowhere() -> TextIO:
    """A stream in place of one that the caller has closed."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _drop_output() -> None:
    """What could not be written would fail once more in the flush at exit, and change the exit state."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    from guard.commands.say import complain

    complain(text)


def _report_fault(error: Exception) -> None:
    """One block to paste into a report: what happened, the versions, the command, and the way through guard."""
    import platform
    import shlex
    import shutil

    lines = [
        "error: this is a fault of guard. Please report it with these lines:",
        f"    {fault(error)}",
        f"    guard {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"    git: {shutil.which('git') or 'not on the PATH'}{_git_version()}",
        f"    command: {shlex.join(['guard', *sys.argv[1:]])}",
        *(f"    at {place}" for place in frames(error)[-_PLACES:]),
    ]
    _complain("\n".join(lines))


def _git_version() -> str:
    try:
        from guard.git.command import require_version

        return f" {'.'.join(map(str, require_version()))}"
    except Exception as error:  # nothing may hide the fault that is being told of
        return f" ({type(error).__name__})"


def _make_room() -> None:
    """Let generated sources be read: chains of calls, sums and literals longer than anybody writes them.

    Each level of an expression takes a few of Python's own frames, and none of C's stack.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    sys.set_int_max_str_digits(_DIGITS)


def main() -> None:
    """Run the command line and exit."""
    _make_room()
    # Paths and source text are shown as they are, whatever the locale; what cannot be encoded is escaped.
    sys.stdout, sys.stderr = (stream or _nowhere() for stream in (sys.stdout, sys.stderr))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    _end_tidily()
    try:
        status = guard.main(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_ERROR)
    except NothingCheckedError as error:
        _complain(str(error))
        sys.exit(EXIT_NOTHING_CHECKED)
    except GuardError as error:
        _complain(f"error: {error}")
        sys.exit(EXIT_ERROR)
    except _ReaderGoneError:
        _drop_output()
        sys.exit(EXIT_ERROR)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        _drop_output()
        _complain(f"error: {error}")
        sys.exit(EXIT_ERROR)
    except Exception as error:
        # A fault of ours must not look like findings: Python's own exit state is 1.
        _report_fault(error)
        sys.exit(EXIT_ERROR)
    sys.exit(status if isinstance(status, int) else 0)
