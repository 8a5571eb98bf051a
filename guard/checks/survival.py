"""How much of each side survives a sync, counted as a person would: its changes, and its files."""

from __future__ import annotations

from collections.abc import Iterable

from guard.model import ChangeCount, FileCount, Finding, Side, Survival
from guard.sync.trees import FourTrees


def changes_of(survival: Iterable[Survival], side: Side) -> ChangeCount:
    """A side's changes to files of every kind that are not as git merged them, and how many of them are in effect."""
    rows = [row for row in survival if row.side is side]
    total, kept = sum(row.total for row in rows), sum(row.kept for row in rows)
    return ChangeCount(total, kept, total - kept)


def files_of(trees: FourTrees, survival: Iterable[Survival], findings: Iterable[Finding], side: Side) -> FileCount:
    """A side's files: those it changed, those that keep all its changes, and those taken whole from the other side.

    Arguments:
        survival: of changes, by file.
        findings: what the checks of this sync say; a loss of a file as a whole (its mode, the file itself) has no
            row in `survival`.
    """
    changed = set(trees.changed_by(side.value))
    rows = [row for row in survival if row.side is side]
    harmed = {row.path for row in rows if row.kept < row.total}
    harmed |= {f.path for f in findings if f.lost_side is side and f.verdict is not None and f.verdict.is_loss}
    own, other, merged = (getattr(trees, name) for name in (side.value, side.other.value, "merged"))
    taken = {
        path
        for path in changed.intersection(trees.changed_by(side.other.value))
        if merged.get(path) == other.get(path) != own.get(path)
    }
    inside = [row for row in rows if row.path in taken]
    return FileCount(
        total=len(changed),
        whole=len(changed - harmed),
        taken=len(taken),
        taken_changes=sum(row.total for row in inside),
        taken_kept=sum(row.kept for row in inside),
    )
