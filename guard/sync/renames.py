"""Which files each side renamed since the base, by git's own rename detection."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from guard.git import Repository
from guard.model import Side


@dataclass(frozen=True)
class Renames:
    """The renames of both sides; git is asked when the first one is.

    Attributes:
        base, ours, theirs: SHAs of trees or commits.
    """

    repository: Repository
    base: str
    ours: str
    theirs: str

    def of(self, side: Side) -> dict[str, str]:
        """Old path to new path."""
        return self._ours if side is Side.OURS else self._theirs

    def source(self, path: str) -> str | None:
        """The base's path of a file that a side renamed to `path`."""
        return next((old for side in Side for old, new in self.of(side).items() if new == path), None)

    @functools.cached_property
    def _ours(self) -> dict[str, str]:
        return renames(self.repository, self.base, self.ours)

    @functools.cached_property
    def _theirs(self) -> dict[str, str]:
        return renames(self.repository, self.base, self.theirs)


def renames(repository: Repository, before: str, after: str) -> dict[str, str]:
    """Files that one tree has under another name than an earlier one: old path to new path.

    Arguments:
        before, after: SHAs of trees or commits.
    """
    arguments = ("-r", "-z", "-M50%", "-l2000", "--diff-filter=R", "--name-status", "--end-of-options", before, after)
    parts = repository.git("diff-tree", *arguments).decode("utf-8", "surrogateescape").split("\0")
    return {parts[k + 1]: parts[k + 2] for k in range(0, len(parts) - 2, 3) if parts[k].startswith("R")}
