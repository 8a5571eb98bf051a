"""What can go wrong, as types: what the user can mend, and what leaves the question open."""

from __future__ import annotations


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
