"""The head of the text view: one sync, how much of each side survives, and what later commits repaired."""

from __future__ import annotations

from collections.abc import Iterable

from guard.model import ChangeCount, Finding, MergeRecord, Report, Side, Survival, Verdict
from guard.report.groups import group, origin_label, places, subject_of
from guard.report.paint import Paint
from guard.report.plain import cut, cut_path, display_width, one_line, plural
from guard.report.view import View

MOST_FILES = 6
MOST_REPAIRED = 5


def merge_lines(merge: MergeRecord, report: Report, paint: Paint, width: int, view: View) -> list[str]:
    """What was judged, then the files of which least survives."""
    subject = one_line(merge.subject)
    said = f"merge {merge.merged[:10]}"
    if merge.checked != merge.merged:
        said += f", judged at {merge.checked[:10]}"
    room = width - display_width(said) - 3
    head = paint(said, "bold") + (f' "{cut(subject, room - 2)}"' if subject and room > 12 else "")
    bases = " ".join(base[:10] for base in merge.base[:3]) or "none"
    lines = [head, paint(cut(f"  ours {merge.ours[:10]} ← theirs {merge.theirs[:10]}, base {bases}", width), "dim")]
    counts = [_survives(merge.ours_changes, "ours"), _survives(merge.theirs_changes, "theirs")]
    if any(counts):
        where = (
            ", in files that are not as git merged them" if merge.ours_files.total or merge.theirs_files.total else ""
        )
        lines.append(cut("  changes that survive: " + " · ".join(filter(None, counts)) + where, width))
    lines += [cut(f"  {line}", width) for line in file_lines(merge)]
    back = _back(report.findings) if len(report.merges) == 1 else ""
    if back:
        lines.append(cut(f"  code that was taken out and is back: {back}", width))
    rows = worst_files(merge)
    most = len(rows) if view.max_lines is None else max(2, MOST_FILES // max(1, len(report.merges)))
    shown = rows[:most]
    if shown:
        name = min(max(display_width(one_line(row.path)) for row in shown), max(width - 48, 12))
        lines.append("  most was lost in")
        for row in shown:
            path = cut_path(one_line(row.path), name)
            path += " " * (name - display_width(path))
            said = cut(survival_sentence(row), max(width - name - 6, 5))
            lines.append(f"    {path}  {paint(said, 'bold' if row.kept * 2 < row.total else 'dim')}")
        if len(rows) > most:
            lines.append(paint(f"    … and {plural(len(rows) - most, 'more file side')} with losses", "dim"))
    return lines


def file_lines(merge: MergeRecord) -> list[str]:
    """How many files keep all of a side's changes, and what became of the side in those taken whole from the other."""
    sides = (("ours", "theirs", merge.ours_files), ("theirs", "ours", merge.theirs_files))
    kept = [f"{side} {count.whole:,} of {count.total:,}" for side, _, count in sides if count.total]
    lines = [f"files that keep all of them: {' · '.join(kept)}"] if kept else []
    for side, other, count in sides:
        if count.taken:
            line = f"taken whole from {other} though both changed them: {plural(count.taken, 'file')}"
            if count.taken_changes:  # of binary files and the like no changes are counted
                line += f"; {count.taken_kept:,} of {side}' {plural(count.taken_changes, 'change')} survive in them"
            lines.append(line)
    return lines


def repaired_lines(merge: MergeRecord, paint: Paint, width: int, view: View) -> list[str]:
    """What the sync lost and later commits brought back: each commit, and a line for each fix it brought back."""
    by_commit: dict[str, list[Finding]] = {}
    for finding in merge.repaired:
        by_commit.setdefault(finding.repaired_by.commit if finding.repaired_by else "", []).append(finding)
    most = None if view.max_lines is None else max(1, MOST_REPAIRED // max(1, len(by_commit)))
    lines: list[str] = []
    for findings in by_commit.values():
        by = findings[0].repaired_by
        said = f' by {origin_label(by)} "{subject_of(by)}"' if by else " later"
        count = f": {plural(len(findings), 'place')}"
        lines += ["", f"{paint('repaired', 'green')}{cut(said, width - 8 - len(count))}{count}"]
        groups = group(findings)
        for found in groups[:most]:
            said = f"  {found.label}" + (f' "{subject_of(found.origin)}"' if found.origin else "")
            place = f" in {places(found)}"
            lines.append(cut(said, width - display_width(place)) + place)
        if most is not None and len(groups) > most:
            lines.append(paint(f"  … and {plural(len(groups) - most, 'more change')}", "dim"))
    return lines


def worst_files(merge: MergeRecord) -> list[Survival]:
    """Files and sides with losses: where the most changes were lost first, then the smaller surviving share."""
    rows = [row for row in merge.survival if row.kept < row.total]
    # By number and not by share: a file with one change of which none survives says less than one with thirty of
    # which one does.
    return sorted(rows, key=lambda row: (row.kept - row.total, row.kept / max(row.total, 1), row.path, row.side))


def survival_sentence(row: Survival) -> str:
    """`4 % of ours' 31 changes survive`."""
    share = 100 * row.kept // row.total if row.total else 100
    if row.kept and not share:
        share = 1
    return (
        f"{share:3d} % of {row.side.value}' {plural(row.total, 'change')} {'survives' if row.total == 1 else 'survive'}"
    )


def _back(findings: Iterable[Finding]) -> str:
    """`theirs' in 35 files`: of how many files each side's deletions are undone, those told with a loss included."""
    back = [finding for finding in findings if finding.verdict is Verdict.REVIVED and finding.accepted is None]
    files = {side: {finding.path for finding in back if finding.lost_side is side} for side in Side}
    return " · ".join(f"{side.value}' in {plural(len(paths), 'file')}" for side, paths in files.items() if paths)


def _survives(count: ChangeCount, side: str) -> str:
    if not count.total:
        return ""
    share = 100 * (count.total - count.lost) // count.total
    return f"{side} {count.total - count.lost:,} of {count.total:,} ({share} %)"
