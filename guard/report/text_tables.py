"""The tables of the other verbs in the text view: fix × branch, invariance × tree, and one row a sync."""

from __future__ import annotations

from collections.abc import Sequence

from guard.model import Containment, Cut, Invariance, Status, SyncRow
from guard.report.paint import Paint
from guard.report.plain import cut, display_width, one_line

_GOOD = {"present", "equivalent", "moved", "ok"}
_OPEN = {"skipped", "not-merged"}
Row = Sequence[str]


def table(head: Row, rows: Sequence[Row], paint: Paint, width: int) -> list[str]:
    """Columns as wide as their widest cell; the last one takes what is left of the line."""
    widths = [max(display_width(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for number, row in enumerate((head, *rows)):
        cells = [cell + " " * (widths[column] - display_width(cell)) for column, cell in enumerate(row)]
        line = cut("  ".join(cells).rstrip(), width)
        if number == 0:
            lines.append(paint(line, "dim"))
            continue
        for word in row:
            style = status_style(word)
            if style and paint.on and f"  {word}" in line:
                line = line.replace(f"  {word}", f"  {paint(word, style)}", 1)
        lines.append(line)
    return lines


def status_style(status: str) -> str | None:
    """The colour of a status word of `contains` and `verify`; None for any other word."""
    if status in _GOOD:
        return "green"
    if status in _OPEN:
        return "yellow"
    return "red bold" if status in {"partly", "dead", "reverted", "missing", "differs", "failed"} else None


def cut_label(how: Cut) -> str:
    """`cp2 mbs4`: the sizes of groups that are not one, and the micro-batch size."""
    groups = (("dp", how.dp), ("cp", how.cp), ("tp", how.tp), ("ep", how.ep), ("etp", how.etp or 1))
    named = (*groups, ("pp", how.pp), ("vpp", how.vpp or 1), ("mbs", how.mbs))
    return " ".join(f"{name}{size}" for name, size in named if size != 1 or name == "mbs")


def number(value: float | None, form: str) -> str:
    """A measured number, or a dash where there is none."""
    return "–" if value is None else format(value, form)


def containment_lines(rows: Sequence[Containment], paint: Paint, width: int) -> list[str]:
    """Fix × branch with the status in each cell; the places below where one is missing, dead or partly there."""
    if not rows:
        return []
    revs = list(dict.fromkeys(row.rev for row in rows))
    fixes = {row.fix: row for row in rows}
    found = {(row.fix, row.rev): row for row in rows}
    body = []
    for fix, one in fixes.items():
        name = f"#{one.pr}" if one.pr is not None else fix[:10]
        cells = [found[fix, rev].status if (fix, rev) in found else "–" for rev in revs]
        body.append([name, *cells, one_line(one.subject)])
    lines = table(["fix", *(one_line(rev) for rev in revs), ""], body, paint, width)
    for row in rows:
        if row.status not in _GOOD and row.status != "not-merged" and (row.place or row.by):
            name = f"#{row.pr}" if row.pr is not None else row.fix[:10]
            by = f" by {row.by[:10]}" if row.by and row.by != row.fix else ""
            lines.append(cut(f"  {name} {row.status}{by} in {one_line(row.rev)}: {one_line(row.place or '')}", width))
    return lines


def invariance_lines(rows: Sequence[Invariance], paint: Paint, width: int) -> list[str]:
    """Case and cut × tree with status and ratio; then why a case was skipped or failed."""
    if not rows:
        return []
    trees = list(dict.fromkeys(row.tree for row in rows))
    found = {(row.case, row.cut, row.tree): row for row in rows}
    body = []
    for case, how in dict.fromkeys((row.case, row.cut) for row in rows):
        cells: list[str] = []
        for tree in trees:
            row = found.get((case, how, tree))
            cells += [row.status, number(row.ratio, ".4g"), number(row.rel, ".1e")] if row else ["–", "–", "–"]
        body.append([one_line(case), cut_label(how), *cells])
    head = ["invariance", "cut"]
    for tree in trees:
        head += [cut(one_line(tree), 16), "ratio", "rel"]
    lines = table(head, body, paint, width)
    for row in rows:
        if row.reason and row.status != "ok":
            lines.append(
                cut(f"  {row.status} {one_line(row.case)} {cut_label(row.cut)}: {one_line(row.reason)}", width)
            )
    return lines


def sync_lines(rows: Sequence[SyncRow], paint: Paint, width: int) -> list[str]:
    """One row a sync, with what it lost and what became of that: lost and broken is repaired, accepted and open."""
    if not rows:
        return []
    body = []
    for row in rows:
        changes = f"{row.merge.ours_changes.total}/{row.merge.theirs_changes.total}"
        fixed = ", ".join(f"{commit[:10]} +{days:.0f} d" for commit, _, days in row.repaired_by[:2])
        said = one_line(row.reason or "") if row.status is not Status.RAN else fixed
        cells = (row.lost + row.revived, row.breaks, row.repaired, row.accepted, row.open)
        status = row.status.value if row.status is not Status.RAN else ""
        body.append([row.merge.merged[:10], row.date[:10], changes, *map(str, cells), status, said])
    head = ["sync", "date", "ours/theirs", "lost", "broken", "repaired", "accepted", "open", "", "repaired by"]
    return table(head, body, paint, width)
