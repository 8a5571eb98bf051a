"""The trees of one sync, side by side: base, ours, theirs, merged, and git's automatic merge."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from guard.git import Entry, Repository
from guard.sync.renames import Renames
from guard.sync.topology import Sync

TREES = ("base", "ours", "theirs", "merged")


@dataclass(frozen=True)
class FourTrees:
    """All files of the four trees and of the automatic merge, by path. Blobs are read when asked for.

    Attributes:
        conflicts: paths that the automatic merge could not join by itself.
        base_tree: the tree that stands for the bases (git's virtual base where there are several).
    """

    repository: Repository
    sync: Sync
    base_tree: str
    base: dict[str, Entry]
    ours: dict[str, Entry]
    theirs: dict[str, Entry]
    merged: dict[str, Entry]
    automatic: dict[str, Entry]
    conflicts: frozenset[str]
    _blobs: dict[str, bytes] = field(default_factory=dict, repr=False)

    def blob(self, tree: str, path: str) -> bytes | None:
        """The bytes of a file in one of the trees; None where the tree has no such file.

        Arguments:
            tree: one of `TREES`, or "automatic".
        """
        entry: Entry | None = getattr(self, tree).get(path)
        return None if entry is None or entry.kind == "submodule" else self.read(entry.sha)

    def read(self, sha: str) -> bytes:
        """A blob by SHA, read once."""
        data = self._blobs.get(sha)
        if data is None:
            data = self._blobs[sha] = self.repository.blob(sha)
        return data

    def forget(self) -> None:
        """Drop the blobs read so far."""
        self._blobs.clear()

    @functools.cached_property
    def touched(self) -> tuple[str, ...]:
        """Paths that differ between any two of the four trees, sorted."""
        paths = {*self.base, *self.ours, *self.theirs, *self.merged}
        return tuple(sorted(path for path in paths if len({_sha(tree.get(path)) for tree in self._four()}) > 1))

    @functools.cached_property
    def resolved(self) -> tuple[str, ...]:
        """Touched paths whose merged content differs from the automatic merge, or that conflicted: look closely."""
        return tuple(
            path
            for path in self.touched
            if path in self.conflicts or _sha(self.merged.get(path)) != _sha(self.automatic.get(path))
        )

    @functools.cached_property
    def renames(self) -> Renames:
        """The files that each side renamed since the base."""
        return Renames(self.repository, self.base_tree, self.sync.ours, self.sync.theirs)

    def changed_by(self, side: str) -> Iterator[str]:
        """Paths where a side ("ours" or "theirs") differs from the base, sorted."""
        tree: dict[str, Entry] = getattr(self, side)
        for path in self.touched:
            if _sha(tree.get(path)) != _sha(self.base.get(path)):
                yield path

    def _four(self) -> tuple[dict[str, Entry], ...]:
        return self.base, self.ours, self.theirs, self.merged


def load(repository: Repository, sync: Sync) -> FourTrees:
    """Read the trees of a sync. The automatic merge is made in the scratch directory.

    Where there are several merge bases (criss-cross), the base is the tree of git's own merge of the bases, as in the
    recursive strategy, and the automatic merge uses git's virtual base.
    """
    base_tree = repository.virtual_base(sync.bases)
    override = sync.bases[0] if sync.explicit and len(sync.bases) == 1 else None
    automatic = repository.automatic_merge(sync.ours, sync.theirs, override)
    trees = FourTrees(
        repository,
        sync,
        base_tree,
        repository.entries(base_tree),
        repository.entries(sync.ours),
        repository.entries(sync.theirs),
        repository.entries(sync.checked),
        repository.entries(automatic.tree),
        automatic.conflicts,
    )
    repository.prefetch(
        entry.sha
        for path in trees.touched
        for tree in (trees.base, trees.ours, trees.theirs, trees.merged)
        if (entry := tree.get(path)) and entry.kind == "file"
    )
    return trees


def _sha(entry: Entry | None) -> str | None:
    return entry.sha if entry else None
