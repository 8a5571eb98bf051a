"""The trees of one sync, side by side: base, ours, theirs, merged, and git's automatic merge."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from guard.documents.decoding import stand_in
from guard.errors import MissingObjectError
from guard.git import AutomaticMerge, Entry, Repository
from guard.git.index import write_tree
from guard.sync.renames import Renames
from guard.sync.topology import Sync

TREES = ("base", "ours", "theirs", "merged")
# Bytes of one file that is judged, of all files that differ between the trees, and of what is kept in memory at once.
# A pack of a few megabytes can hold a thousand times as much text.
LARGEST_FILE = 16 * 1024 * 1024
MOST_TOUCHED = 256 * 1024 * 1024
MOST_KEPT = 192 * 1024 * 1024


class BlobCache:
    """Blobs that were read, as many as there is room for."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}
        self._bytes = 0

    def get(self, sha: str) -> bytes | None:
        """The content, if it is still kept."""
        return self._blobs.get(sha)

    def keep(self, sha: str, data: bytes) -> bytes:
        """Keep the content, and give it back."""
        if self._bytes + len(data) > MOST_KEPT:
            self.clear()
        self._blobs[sha] = data
        self._bytes += len(data)
        return data

    def clear(self) -> None:
        """Forget all."""
        self._blobs.clear()
        self._bytes = 0


@dataclass(frozen=True)
class FourTrees:
    """All files of the four trees and of the automatic merge, by path. Blobs are read when asked for.

    Attributes:
        conflicts: paths that the automatic merge could not join by itself.
        unread: blobs whose content is not looked at, by SHA, with the reason: not here, or too large.
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
    unread: Mapping[str, str] = field(default_factory=dict, repr=False)
    _blobs: dict[str, bytes] = field(default_factory=dict, repr=False)
    _kept: BlobCache = field(default_factory=BlobCache, repr=False)

    def blob(self, tree: str, path: str) -> bytes | None:
        """The bytes of a file in one of the trees; None where the tree has no such file.

        Arguments:
            tree: one of `TREES`, or "automatic".
        """
        entry: Entry | None = getattr(self, tree).get(path)
        return None if entry is None or entry.kind == "submodule" else self.read(entry.sha)

    def read(self, sha: str) -> bytes:
        """A blob by SHA, kept while there is room; a stand-in that nothing can parse for one that is not looked at."""
        data = self._blobs.get(sha)
        if data is None:
            data = self._kept.get(sha)
        if data is not None:
            return data
        if sha in self.unread:
            return stand_in(f"{self.unread[sha]} ({sha[:10]})")
        try:
            return self._kept.keep(sha, self.repository.blob(sha))
        except MissingObjectError as error:  # of a partial clone, and the remote did not give it
            return stand_in(str(error))

    def forget(self) -> None:
        """Drop the blobs read so far."""
        self._blobs.clear()
        self._kept.clear()

    @functools.cached_property
    def touched(self) -> tuple[str, ...]:
        """Paths that differ between any two of the four trees, sorted."""
        paths = {*self.base, *self.ours, *self.theirs, *self.merged}
        return tuple(sorted(path for path in paths if len({_sha(tree.get(path)) for tree in self.four()}) > 1))

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
        return Renames(self.repository, self.base, self.ours, self.theirs)

    def changed_by(self, side: str) -> Iterator[str]:
        """Paths where a side ("ours" or "theirs") differs from the base, sorted."""
        tree: dict[str, Entry] = getattr(self, side)
        for path in self.touched:
            if _sha(tree.get(path)) != _sha(self.base.get(path)):
                yield path

    def four(self) -> tuple[dict[str, Entry], ...]:
        """The files of base, ours, theirs and merged."""
        return self.base, self.ours, self.theirs, self.merged


def load(repository: Repository, sync: Sync) -> FourTrees:
    """Read the trees of a sync. The automatic merge is made in the scratch directory.

    Where there are several merge bases (criss-cross), the base is the tree of git's own merge of the bases, as in the
    recursive strategy, and the automatic merge uses git's virtual base.
    """
    base_tree = repository.virtual_base(sync.bases)
    base, ours, theirs, merged = (
        repository.entries(tree) for tree in (base_tree, sync.ours, sync.theirs, sync.checked)
    )
    differing = {
        entry.sha
        for path in {*base, *ours, *theirs, *merged}
        if len({_sha(tree.get(path)) for tree in (base, ours, theirs, merged)}) > 1
        for tree in (base, ours, theirs, merged)
        if (entry := tree.get(path)) and entry.kind != "submodule"
    }
    repository.prefetch(differing)
    others = (entry.sha for tree in (ours, theirs, merged) for entry in tree.values() if entry.kind != "submodule")
    unread = _unread(repository, differing, others)
    automatic = _automatic(repository, sync, (base, ours, theirs))
    entries = repository.entries(automatic.tree)
    return FourTrees(repository, sync, base_tree, base, ours, theirs, merged, entries, automatic.conflicts, unread)


def _unread(repository: Repository, differing: set[str], others: Iterable[str]) -> dict[str, str]:
    """Blobs that are not looked at: what is not here, what is too large, and the largest of what is too much."""
    sizes = repository.sizes((*differing, *others))
    unread = {}
    for sha, size in sizes.items():
        # What no side changed is asked for when something reads it.
        if size is None and (sha in differing or not repository.is_partial):
            unread[sha] = "its content is not in this clone"
        elif size is not None and size > LARGEST_FILE:
            unread[sha] = f"it holds {size} bytes, more than {LARGEST_FILE}"
    read = sorted((size, sha) for sha, size in sizes.items() if size and sha in differing and sha not in unread)
    total = sum(size for size, _ in read)
    while total > MOST_TOUCHED:
        size, sha = read.pop()
        unread[sha] = f"all that the sides changed holds more than {MOST_TOUCHED} bytes, and this is among the largest"
        total -= size
    return unread


def _automatic(repository: Repository, sync: Sync, trees: Sequence[dict[str, Entry]]) -> AutomaticMerge:
    """git's own merge; where it asks for an object that is not here, the merge of all other files."""
    override = sync.bases[0] if sync.explicit and len(sync.bases) == 1 else None
    try:
        return repository.automatic_merge(sync.ours, sync.theirs, override)
    except MissingObjectError:
        pass
    paths = {path for tree in trees for path in tree}
    sizes = repository.sizes(entry.sha for tree in trees for entry in tree.values())
    lacking = {path for path in paths for tree in trees if path in tree and sizes[tree[path].sha] is None}
    lacking -= {path for path in lacking if any(tree[path].kind == "submodule" for tree in trees if path in tree)}
    base, ours, theirs = (
        _tree(repository, {path: entry for path, entry in tree.items() if path not in lacking}) for tree in trees
    )
    merge = repository.automatic_merge(ours, theirs, base)
    joined = dict(repository.entries(merge.tree))
    conflicts = set(merge.conflicts)
    for path in lacking:
        old, one, other = (tree.get(path) for tree in trees)
        entry = one if other in (old, one) else other
        if entry is not None:
            joined[path] = entry
        if old not in (one, other) and one != other:
            conflicts.add(path)
    return AutomaticMerge(_tree(repository, joined), frozenset(conflicts))


def _tree(repository: Repository, files: Mapping[str, Entry]) -> str:
    lines = "".join(f"{entry.mode} {entry.sha}\t{path}\0" for path, entry in files.items())
    return write_tree(repository, lines.encode("utf-8", "surrogateescape"))


def _sha(entry: Entry | None) -> str | None:
    return entry.sha if entry else None
