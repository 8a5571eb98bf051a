"""What a sync has that no check can look into."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from guard.model import Outcome, Status
from guard.sync.trees import FourTrees

# Files named one by one where many are not looked at.
_NAMED = 50


def not_judged(trees: FourTrees) -> Iterator[Outcome]:
    """Conflicts that stand open, changed files whose content is not looked at, and the line that brings what lacks."""
    for path in trees.sync.unmerged:
        yield Outcome("merge", Status.SKIPPED, "its conflict is not resolved", 0.0, path)
    entries = [(path, tree.get(path)) for path in trees.touched for tree in trees.four()]
    unread = {path: trees.unread[entry.sha] for path, entry in entries if entry and entry.sha in trees.unread}
    for path, reason in itertools.islice(unread.items(), _NAMED):
        yield Outcome("merge", Status.SKIPPED, f"compared by its object name only: {reason}", 0.0, path)
    if len(unread) > _NAMED:
        rest = f"{len(unread) - _NAMED} more files are compared by their object names only"
        yield Outcome("merge", Status.SKIPPED, rest, 0.0, "further files")
    sizes = trees.repository.sizes({entry.sha for _, entry in entries if entry and entry.sha in trees.unread})
    missing = sorted(sha for sha, size in sizes.items() if size is None)
    if missing:
        hint = trees.repository.missing_hint(missing)
        yield Outcome("merge", Status.SKIPPED, f"{len(missing)} objects are not in this clone{hint}", 0.0, "objects")
