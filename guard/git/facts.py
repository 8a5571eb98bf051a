"""What is read of a repository, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: mode as git prints it ("100644", "120000", "160000"), and the object's SHA."""

    mode: str
    sha: str

    @property
    def kind(self) -> str:
        """`file`, `symlink` or `submodule`."""
        return {"120000": "symlink", "160000": "submodule"}.get(self.mode, "file")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: SHA, parents, author date (ISO 8601), message and the author's name."""

    sha: str
    parents: tuple[str, ...]
    date: str
    message: str
    author: str = ""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class AutomaticMerge:
    """What git's ort merge gives.

    Attributes:
        tree: SHA of the merged tree; conflicted files hold markers.
        conflicts: conflicted paths.
        stages: what the base (1), ours (2) and theirs (3) have for a conflicted path, by path and number.
    """

    tree: str
    conflicts: frozenset[str]
    stages: Mapping[str, Mapping[int, Entry]] = field(default_factory=dict)
