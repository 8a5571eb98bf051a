"""The tables of `contains`, `verify` and `history` in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from guard.model import Containment, Invariance, Status, SyncRow
from guard.report.markdown_text import code, plain, row
from guard.report.text_tables import cut_label, number

_SIGN = {
    **dict.fromkeys(("present", "equivalent", "moved", "ok"), "🟩"),
    **dict.fromkeys(("skipped", "not-merged"), "⬜"),
    **dict.fromkeys(("partly", "failed"), "🟨"),
    **dict.fromkeys(("dead", "reverted", "missing", "differs"), "🟥"),
}


def containment_table(rows: Sequence[Containment]) -> list[str]:
    """Fix × branch."""
    if not rows:
        return []
    revs = list(dict.fromkeys(entry.rev for entry in rows))
    found = {(entry.fix, entry.rev): entry for entry in rows}
    lines = [row("Fix", *(code(rev) for rev in revs)), row(*["---"] * (len(revs) + 1))]
    for fix, one in {entry.fix: entry for entry in rows}.items():
        name = f"#{one.pr}" if one.pr is not None else fix[:10]
        cells = [_contained(found.get((fix, rev))) for rev in revs]
        lines.append(row(f"{name} {plain(one.subject)}", *cells))
    return lines


def _contained(entry: Containment | None) -> str:
    if entry is None:
        return "–"
    place = f" {code(entry.place)}" if entry.place and entry.status not in {"present", "not-merged"} else ""
    by = f" by {code(entry.by[:10])}" if entry.by else ""
    return f"{_SIGN.get(entry.status, '')} {entry.status}{by}{place}"


def invariance_table(rows: Sequence[Invariance]) -> list[str]:
    """Invariance × tree, with ratios and the reason where nothing was measured."""
    if not rows:
        return []
    trees = list(dict.fromkeys(entry.tree for entry in rows))
    found = {(entry.case, entry.cut, entry.tree): entry for entry in rows}
    lines = [row("Invariance", "Cut", *(code(tree) for tree in trees)), row(*["---"] * (len(trees) + 2))]
    for case, cut in dict.fromkeys((entry.case, entry.cut) for entry in rows):
        cells = [_measured(found.get((case, cut, tree))) for tree in trees]
        lines.append(row(code(case), cut_label(cut), *cells))
    return lines


def _measured(entry: Invariance | None) -> str:
    if entry is None:
        return "–"
    sign = f"{_SIGN.get(entry.status, '')} {entry.status}"
    if entry.ratio is None:
        return f"{sign}{f': {plain(entry.reason)}' if entry.reason else ''}"
    return f"{sign}, ratio {number(entry.ratio, '.4g')}, rel {number(entry.rel, '.1e')}"


def sync_table(rows: Sequence[SyncRow]) -> list[str]:
    """One row a sync."""
    if not rows:
        return []
    head = ("Sync", "Date", "Changes ours/theirs", "Lost", "Broken", "Repaired", "Accepted", "Open", "Repaired by")
    lines = [row(*head), row(*["---"] * len(head))]
    for entry in rows:
        changes = f"{entry.merge.ours_changes.total:,}/{entry.merge.theirs_changes.total:,}"
        counts = [
            f"{count:,}"
            for count in (entry.lost + entry.revived, entry.breaks, entry.repaired, entry.accepted, entry.open)
        ]
        by = ", ".join(f"{code(sha[:10])} after {days:.0f} d" for sha, _, days in entry.repaired_by[:3])
        said = by if entry.status is Status.RAN else f"{entry.status.value}: {plain(entry.reason or '')}"
        lines.append(row(code(entry.merge.merged[:10]), plain(entry.date[:10]), changes, *counts, said))
    return lines
