"""The view for a person: what was judged, which files lost most, then the lost fixes, worst first, on one screen."""

from __future__ import annotations

import textwrap

from guard.model import Finding, Report, Status
from guard.report.about import checks_run
from guard.report.concise import totals
from guard.report.excerpt import excerpt, tree_text, window
from guard.report.groups import Group, group, headline, subject_of
from guard.report.next_steps import explain_command, fix_command, restore_command
from guard.report.paint import OF_SEVERITY, Paint
from guard.report.plain import clean, cut, cut_path, display_width, one_line, plural
from guard.report.resolution import resolution_lines
from guard.report.text_merge import merge_lines, repaired_lines
from guard.report.text_tables import containment_lines, invariance_lines, sync_lines
from guard.report.view import View

TREES = ("base", "ours", "theirs", "merged")
MIN_WIDTH = 40
LEAST_ROOM = 12
"""Lines that findings get however long the tables above them are."""
MESSAGE_LINES = 3
"""Lines of a message below its headline."""
# How much of a group is shown on one screen: places of it, by its rank among the groups.
_PLACES = (3, 2, 2, 1, 1, 1)


def render(report: Report, view: View) -> str:
    """The report in at most `view.max_lines` lines, or all of it for a reviewer."""
    paint = Paint(view.color)
    width = max(view.width, MIN_WIDTH)
    top = [] if view.quiet else _top(report, view, paint, width)
    foot = _foot(report, view, paint, width)
    groups = group(finding for finding in report.findings if view.shows(finding))
    room = None if view.max_lines is None else max(view.max_lines - len(top) - len(foot), LEAST_ROOM)
    body = _body(groups, view, paint, width, room)
    parts = [part for part in (top, body, foot) if part]
    return "\n".join("\n".join(part) for part in parts).lstrip("\n") + "\n"


def _top(report: Report, view: View, paint: Paint, width: int) -> list[str]:
    """What was judged, and the tables of the other verbs."""
    top = [line for merge in report.merges for line in merge_lines(merge, report, paint, width, view)]
    for table in (
        sync_lines(report.syncs, paint, width),
        containment_lines(report.contains, paint, width),
        invariance_lines(report.invariance, paint, width),
        resolution_lines(report.resolution, paint, width, whole=view.max_lines is None),
    ):
        if table:
            top += ["", *table] if top else table
    for merge in report.merges:
        top += repaired_lines(merge, paint, width, view)
    return top


def _body(groups: list[Group], view: View, paint: Paint, width: int, room: int | None) -> list[str]:
    """As many groups as there is room for: the first with places, the next as a line each, then how many follow."""
    lines: list[str] = []
    for index, found in enumerate(groups):
        left = len(groups) - index - 1
        if room is None:
            lines += ["", *_group_lines(found, view, paint, width, None)]
            continue
        # The rest of the groups get a line each as far as that is possible, and the last line says what is left out.
        spare = room - len(lines) - min(left, 12) - (1 if left else 0)
        places = _PLACES[index] if index < len(_PLACES) else 0
        block = _group_lines(found, view, paint, width, places)
        while places and len(block) + 1 > spare:
            places -= 1
            block = _group_lines(found, view, paint, width, places)
        gap = [""] if places or index == 0 or lines[-1].startswith(" ") else []
        if len(lines) + len(gap) + len(block) + (1 if left else 0) > room:
            rest = groups[index:]
            told = f"… and {_left_out(rest)}; -v shows all"
            if display_width(told) > width:
                told = f"… and {sum(len(found.findings) for found in rest):,} more; -v shows all"
            lines.append(paint(told, "dim"))
            break
        lines += gap + block
    return lines


def _left_out(groups: list[Group]) -> str:
    count = sum(len(found.findings) for found in groups)
    fixes = sum(1 for found in groups if found.origin)
    said = f"{count:,} more {'finding' if count == 1 else 'findings'}"
    return f"{said} of {plural(fixes, 'more change', 'more changes')}" if fixes else said


def _group_lines(found: Group, view: View, paint: Paint, width: int, places: int | None) -> list[str]:
    """A headline, then up to `places` places (None: all) with their evidence."""
    worst = found.worst
    mark = paint(worst.severity.value, OF_SEVERITY[worst.severity])
    numeric = " [numeric]" if any(finding.numeric for finding in found.findings) else ""
    below: list[str] = []
    count = f" ×{len(found.findings)}" if places == 0 and len(found.findings) > 1 else ""
    if found.origin is None:
        place = f"{one_line(worst.path)}:{worst.line}"
        alone = len(found.paths) == 1
        said = f"{place} {headline(found)}" if places == 0 and alone else headline(found)
        room = width - len(worst.severity.value) - len(worst.code) - len(count) - 2
        if places != 0:
            said, below = _wrapped(said, room, width)
        head = f"{mark} {worst.code} {paint(cut(said, room), 'bold')}{count}"
    else:
        label = found.label
        room = width - len(worst.severity.value) - len(label) - len(numeric) - len(count) - 2
        # In a line of its own, a group's subject says more than what became of the tests.
        said = headline(found, room if places != 0 else room - 40)
        said = cut(said if places != 0 else said.removeprefix("is "), room)
        room -= display_width(said) + 3
        subject = subject_of(found.origin)
        # On a line of its own where there is room below and none beside.
        if subject and places != 0 and display_width(subject) > room:
            below = [f'  "{cut(subject, width - 4)}"']
        quoted = f' "{cut(subject, room)}"' if room > 12 and subject and not below else ""
        head = f"{mark} {paint(label, 'bold')}{quoted} {paint(said, 'bold')}{numeric}{count}"
    lines = [head, *below]
    if places == 0:
        return lines
    shown = found.findings if places is None else found.findings[:places]
    for finding in shown:
        lines += _place_lines(finding, found, view, paint, width)
    rest = found.findings[len(shown) :]
    if rest:
        files = len({finding.path for finding in rest})
        lines.append(paint(f"    … and {plural(len(rest), 'more place')} in {plural(files, 'file')}", "dim"))
    return lines


def _wrapped(said: str, room: int, width: int) -> tuple[str, list[str]]:
    """A message as what fits into the headline, and the lines below it: what to do stands at its end."""
    if display_width(said) <= room:
        return said, []
    first, *_ = textwrap.wrap(said, room, break_on_hyphens=False)
    rest = textwrap.wrap(said[len(first) :].strip(), width - 2, break_on_hyphens=False)
    kept = rest[:MESSAGE_LINES]
    if len(rest) > len(kept):
        kept[-1] += " …"
    return first, [f"  {cut(line, width - 2)}" for line in kept]


def _place_lines(finding: Finding, found: Group, view: View, paint: Paint, width: int) -> list[str]:
    """The place with its message in one line, and one or two lines of evidence."""
    symbol = "" if finding.symbol == "<module>" else f" {one_line(finding.symbol)}"
    tail = f" {finding.code} {finding.fingerprint}"
    place = f"{one_line(finding.path)}:{finding.line}"
    place = cut_path(place, width - len(tail) - 4)
    symbol = cut(symbol, max(width - len(tail) - len(place) - 4, 0))
    lines = [f"  {paint(place, 'cyan')}{symbol}{paint(tail, 'dim')}"]
    if found.origin is not None or finding is not found.worst:
        lines.append(f"    {cut(one_line(finding.message), width - 4)}")
    if view.is_audit:
        return lines + _four_trees(finding, paint, width)
    most = 1 if view.max_lines is not None else 4
    for row in excerpt(finding, most):
        merged = row.tree == "merged"
        said = "".join(
            paint.differing(text, gone=not merged) if differs else text
            for text, differs in window(row.pieces or (("(nothing)", False),), width - 14)
        )
        lines.append(f"    {paint(f'{row.tree:>6}', 'dim')} {'+' if merged else '-'} {said}".rstrip())
    return lines


def _four_trees(finding: Finding, paint: Paint, width: int) -> list[str]:
    lines = []
    # A finding of a rule knows one tree only, and its place says it.
    compared = any(tree_text(finding.evidence, tree) is not None for tree in TREES)
    for tree in TREES if compared else ():
        text = tree_text(finding.evidence, tree)
        if text is None:
            lines.append(paint(f"    {tree:>6} │ (nothing)", "dim"))
            continue
        for number, line in enumerate(clean(text).splitlines() or [""]):
            name = tree if number == 0 else ""
            lines.append(f"    {paint(f'{name:>6}', 'dim')} │ {cut(line.expandtabs(4), width - 13)}".rstrip())
    for place in finding.related:
        said = one_line(f"{place.tree} {place.path}:{place.line} {place.message}")
        lines.append(f"    {paint('   see', 'dim')} {cut(said, width - 11)}")
    return lines


def _foot(report: Report, view: View, paint: Paint, width: int) -> list[str]:
    """The counts, what was not checked, the notices, the timings, and how to see more."""
    tables = report.merges or report.syncs or report.contains or report.invariance
    lines = [""] if report.findings or tables else []
    lines.append(paint(totals(report, view), "bold") + _scope(report))
    troubled = [outcome for outcome in report.outcomes if outcome.status is not Status.RAN]
    troubled.sort(key=lambda outcome: outcome.status is not Status.FAILED)
    most = 6 if view.max_lines is not None else len(troubled)
    for outcome in troubled[:most]:
        style = "red bold" if outcome.status is Status.FAILED else "yellow"
        subject = f" {one_line(outcome.subject)}" if outcome.subject else ""
        said = f"{outcome.check}{subject}: {one_line(outcome.reason or 'no reason given')}"
        # What failed is told whole: what to do about it often stands at the end.
        said = said if outcome.status is Status.FAILED else cut(said, width - 8)
        lines.append(f"{paint(outcome.status.value, style)} {said}")
    if len(troubled) > most:
        lines.append(paint(f"… and {len(troubled) - most} more not checked; -v shows all", "dim"))
    if view.quiet:
        return lines
    lines += [cut(one_line(notice), width) for notice in report.notices[: 6 if view.max_lines is not None else None]]
    if view.timings:
        lines += [f"{outcome.seconds:8.2f} s  {outcome.check}" for outcome in report.outcomes if not outcome.subject]
    return lines + [paint(line, "dim") for line in _next_steps(report, view)]


def _next_steps(report: Report, view: View) -> list[str]:
    """The commands that go on from the worst finding shown: its evidence, its patch, its acceptance."""
    shown = [finding for found in group(report.findings) for finding in found.findings if view.shows(finding)]
    if not shown or report.command not in {"check", "history"}:
        return []
    lines = [f"whole evidence: {explain_command(report, shown[0])}"]
    command = next(filter(None, (restore_command(report, finding) for finding in shown)), None)
    lines += [f"bring it back:  {command}"] if command else []
    command = next(filter(None, map(fix_command, shown)), None)
    lines += [f"safe edits:     {command}"] if command else []
    return lines


def _scope(report: Report) -> str:
    """What was looked at, so that silence can be told from blindness."""
    parts = [plural(len(checks_run(report)), "check") + " ran"]
    if report.files:
        parts.append(plural(report.files, "file"))
    if report.merges:
        parts.append(plural(len(report.merges), "merge"))
    elif report.syncs:
        parts.append(plural(len(report.syncs), "sync"))
    elif report.command == "check":
        parts.append("no merge was checked")
    if report.seconds:
        parts.append(f"{report.seconds:.1f} s")
    return " · " + " · ".join(parts)
