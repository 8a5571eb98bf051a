"""What can go wrong, as types: what the user can mend, and what leaves the question open."""

from __future__ import annotations

import os
import traceback
from pathlib import Path


class GuardError(Exception):
    """The run cannot answer: exit 2. The message says what happened, to which input, and what to do."""


class ConfigError(GuardError):
    """A configuration, rule or baseline file is wrong; the message starts with `file:line`."""


class GitError(GuardError):
    """git refused a command, a revision is unknown, or this is no repository."""


class ShallowCloneError(GitError):
    """History that the question needs is not here; the message carries the exact fetch line."""


class MissingObjectError(GitError):
    """An object that the history names is not in this clone.

    Attributes:
        sha: its full SHA; empty where git does not say which.
    """

    def __init__(self, sha: str, hint: str = "") -> None:
        super().__init__(f"object {sha or '(git does not say which)'} is not in this clone{hint}")
        self.sha = sha
        self.hint = hint

    def __reduce__(self) -> tuple[type[MissingObjectError], tuple[str, str]]:
        return MissingObjectError, (self.sha, self.hint)  # it crosses processes, and its text is no argument


class NothingCheckedError(GuardError):
    """There was nothing to check, or the input asks for a choice first: exit 3."""


class NotAnalysedError(Exception):
    """One input (a file, a blob) cannot be read or parsed; the run goes on and reports `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def fault(error: BaseException) -> str:
    """An unforeseen error in one line: its type, what it says, and where in guard it came up."""
    said = " ".join(str(error).split())
    places = frames(error)
    return f"{type(error).__name__}: {said}" + (f" (at {places[-1]})" if places else "")


def frames(error: BaseException) -> list[str]:
    """The places in guard that an error passed through, outermost first: `guard/judge/judge.py:12 in judge`."""
    root = str(Path(__file__).parent.parent) + os.sep
    steps = traceback.extract_tb(error.__traceback__)
    here = [step for step in steps if step.filename.startswith(str(Path(__file__).parent) + os.sep)]
    return [f"{step.filename.removeprefix(root)}:{step.lineno} in {step.name}" for step in here]
