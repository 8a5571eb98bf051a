"""Which files each side renamed since the base, by git's own rename detection."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from guard.git import Entry, Repository
from guard.git.patch import changed_tree
from guard.model import Side

# Bytes of a file that is compared with others; what is larger is no source that someone renamed and edited.
LARGEST = 4_000_000


@dataclass(frozen=True)
class Renames:
    """The renames of both sides; git is asked when the first one is.

    Attributes:
        base, ours, theirs: the files of these trees.
    """

    repository: Repository
    base: Mapping[str, Entry]
    ours: Mapping[str, Entry]
    theirs: Mapping[str, Entry]

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


def renames(
    repository: Repository, before: Mapping[str, Entry], after: Mapping[str, Entry], suffix: str = ""
) -> dict[str, str]:
    """Files that one tree has under another name than an earlier one: old path to new path.

    git compares the content of every file that went with every file that came, and ends where one of them cannot be
    read. So it is shown trees of just those files, without what is not here or is too large to be source.

    Arguments:
        before, after: the files of two trees.
        suffix: end of the names that are of interest.
    """

    def is_wanted(path: str, entry: Entry) -> bool:
        return entry.kind == "file" and path.endswith(suffix)

    went = {path: entry for path, entry in before.items() if path not in after and is_wanted(path, entry)}
    came = {path: entry for path, entry in after.items() if path not in before and is_wanted(path, entry)}
    if not went or not came:
        return {}
    shas = [entry.sha for entry in (*went.values(), *came.values())]
    repository.prefetch(shas)
    small = {sha for sha, size in repository.sizes(shas).items() if size is not None and size <= LARGEST}
    trees = [
        changed_tree(repository, None, {path: entry for path, entry in files.items() if entry.sha in small})
        for files in (went, came)
    ]
    arguments = ("-r", "-z", "-M50%", "-l2000", "--diff-filter=R", "--name-status", "--end-of-options", *trees)
    parts = repository.git("diff-tree", *arguments).decode("utf-8", "surrogateescape").split("\0")
    return {parts[k + 1]: parts[k + 2] for k in range(0, len(parts) - 2, 3) if parts[k].startswith("R")}
