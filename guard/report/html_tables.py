"""The tables of the HTML page, written whole: they must read without a script, and print."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from guard.model import Containment, Invariance, MergeRecord, Side, SyncRow
from guard.report.groups import Group, headline, origin_label, subject_of
from guard.report.html_plot import sync_plot
from guard.report.plain import clean, one_line, plural
from guard.report.text_merge import worst_files
from guard.report.text_tables import cut_label, number
from guard.report.view import View

_OPEN_ROWS = 15
_LEDGER_ROWS = 25
_LEVELS = 10


def table(head: Sequence[str], rows: Sequence[str], most: int, kind: str) -> str:
    """A sortable table; the rows after `most` are folded by the page's script, and shown without one."""
    if not rows:
        return ""
    cells = "".join(f'<th scope="col"><button type="button">{escape(name)}</button></th>' for name in head)
    more = f'<button type="button" class="more">Show all {len(rows):,} rows</button>' if len(rows) > most else ""
    body = "".join(rows)
    return (
        f'<div class="scroll"><table class="{kind}" data-most="{most}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{more}"
    )


def heat_table(merges: Sequence[MergeRecord]) -> str:
    """File × side: how much of each side's changes survives, coloured and said."""
    cells: dict[tuple[str, Side], tuple[int, int]] = {}
    order: list[str] = []
    for merge in merges:
        for found in worst_files(merge):
            if found.path not in order:
                order.append(found.path)
        for row in merge.survival:
            kept, total = cells.get((row.path, row.side), (0, 0))
            cells[row.path, row.side] = kept + row.kept, total + row.total
    known = set(order)
    rows = []
    for path in order:
        both = "".join(_heat(cells.get((path, side))) for side in Side)
        rows.append(f'<tr><th scope="row"><code>{_text(path)}</code></th>{both}</tr>')
    whole = sum(1 for path, _ in cells if path not in known)
    note = f"<p>Every change survives in {plural(whole, 'further file side')}.</p>" if whole and rows else ""
    return table(["File", "ours", "theirs"], rows, _OPEN_ROWS, "heat") + note if rows else ""


def _heat(cell: tuple[int, int] | None) -> str:
    if cell is None or not cell[1]:
        return '<td data-sort="101">–</td>'
    kept, total = cell
    share = 100 * kept // total
    return f'<td class="h{share * _LEVELS // 100}" data-sort="{share}">{share} % <small>{kept} of {total}</small></td>'


def ledger_table(groups: Sequence[Group], merges: Sequence[MergeRecord], view: View) -> str:
    """One row a commit or pull request: what became of it, and where."""
    rows = []
    for found in groups:
        if found.origin is None:
            continue
        standing = [finding for finding in found.findings if finding.accepted is None]
        kinds = ", ".join(dict.fromkeys(finding.verdict.value for finding in found.findings if finding.verdict))
        fix = "fix" if found.origin.is_fix else ""
        marks = " · ".join(filter(None, (fix, "numeric" if any(one.numeric for one in found.findings) else "")))
        status = found.worst.severity.value if standing else "accepted"
        rows.append(
            _ledger_row(found, kinds or "break", marks, f'<span class="{status}">{status}</span>', len(standing), view)
        )
    for merge in merges:
        for finding in merge.repaired:
            lost = Group(finding.origins[0] if finding.origins else None, (finding,))
            by = f"repaired by {origin_label(finding.repaired_by)}" if finding.repaired_by else "repaired"
            rows.append(_ledger_row(lost, by, "", '<span class="ok">repaired</span>', 0, view))
    return table(["Fix", "Change", "Became", "Kind", "Severity", "Open places", "Files"], rows, _LEDGER_ROWS, "ledger")


def _ledger_row(found: Group, became: str, marks: str, status: str, places: int, view: View) -> str:
    origin = found.origin
    url = None
    if origin is not None:
        url = view.pull_url(origin.pr) if origin.pr is not None else view.commit_url(origin.commit)
    label = f'<a href="{_text(url)}">{_text(found.label)}</a>' if url else _text(found.label)
    subject = _text(subject_of(origin)) if origin else _text(headline(found))
    names = "<br>".join(f"<code>{_text(path)}</code>" for path in found.paths[:3])
    more = f"<br>and {len(found.paths) - 3} more" if len(found.paths) > 3 else ""
    # The link is followed by the page's script: it opens the finding and moves the reader there.
    anchor = f'<a class="go" href="#{found.worst.fingerprint}">{subject}</a>'
    return (
        f'<tr><th scope="row">{label}</th><td>{anchor}</td><td>{_text(became)}</td><td>{marks}</td>'
        f"<td>{status}</td><td>{places}</td><td>{names}{more}</td></tr>"
    )


def containment_table(rows: Sequence[Containment]) -> str:
    """Fix × branch."""
    if not rows:
        return ""
    revs = list(dict.fromkeys(entry.rev for entry in rows))
    found = {(entry.fix, entry.rev): entry for entry in rows}
    lines = []
    for fix, one in {entry.fix: entry for entry in rows}.items():
        name = f"#{one.pr}" if one.pr is not None else fix[:10]
        cells = "".join(_contained(found.get((fix, rev))) for rev in revs)
        lines.append(f'<tr><th scope="row">{_text(name)} {_text(one_line(one.subject))}</th>{cells}</tr>')
    return table(["Fix", *(clean(rev) for rev in revs)], lines, 60, "matrix")


def _contained(entry: Containment | None) -> str:
    if entry is None:
        return "<td>–</td>"
    place = f"<br><code>{_text(entry.place)}</code>" if entry.place else ""
    by = f" by <code>{_text(entry.by[:10])}</code>" if entry.by else ""
    return f'<td class="{_text(entry.status)}"><b>{_text(entry.status)}</b>{by}{place}</td>'


def invariance_table(rows: Sequence[Invariance]) -> str:
    """Invariance and cut × tree, with ratio and relative difference."""
    if not rows:
        return ""
    trees = list(dict.fromkeys(entry.tree for entry in rows))
    found = {(entry.case, entry.cut, entry.tree): entry for entry in rows}
    lines = []
    for case, cut in dict.fromkeys((entry.case, entry.cut) for entry in rows):
        cells = "".join(_measured(found.get((case, cut, tree))) for tree in trees)
        lines.append(f'<tr><th scope="row"><code>{_text(case)}</code></th><td>{_text(cut_label(cut))}</td>{cells}</tr>')
    return table(["Invariance", "Cut", *(clean(tree) for tree in trees)], lines, 80, "matrix")


def _measured(entry: Invariance | None) -> str:
    if entry is None:
        return "<td>–</td>"
    measured = ""
    if entry.ratio is not None:
        measured = f" ×{number(entry.ratio, '.4g')} <small>rel {number(entry.rel, '.1e')}</small>"
    why = f"<br><small>{_text(one_line(entry.reason))}</small>" if entry.reason else ""
    return f'<td class="{_text(entry.status)}"><b>{_text(entry.status)}</b>{measured}{why}</td>'


def sync_tables(rows: Sequence[SyncRow]) -> str:
    """The plot of all syncs, and one row each."""
    if not rows:
        return ""
    lines = []
    for entry in rows:
        by = "<br>".join(f"<code>{_text(sha[:10])}</code> after {days:.0f} d" for sha, _, days in entry.repaired_by[:3])
        reason = f"{entry.status.value}: {_text(one_line(entry.reason))}" if entry.reason else by
        lost = f"{entry.lost + entry.revived:,}"
        lost += f" <small>({entry.revived:,} of it deleted code that is back)</small>" if entry.revived else ""
        counts = (entry.breaks, entry.repaired, entry.accepted, entry.open)
        cells = f"<td>{lost}</td>" + "".join(f"<td>{count:,}</td>" for count in counts)
        sides = f"{entry.merge.ours_changes.total} / {entry.merge.theirs_changes.total}"
        name = f"<code>{_text(entry.merge.merged[:10])}</code> {_text(one_line(entry.merge.subject))}"
        lines.append(
            f'<tr><th scope="row">{name}</th>'
            f"<td>{_text(entry.date[:10])}</td><td>{sides}</td>{cells}<td>{reason}</td></tr>"
        )
    head = ["Sync", "Date", "Changes ours / theirs", "Lost", "Broken", "Repaired", "Accepted", "Open", "Repaired by"]
    return sync_plot(rows) + table(head, lines, 60, "matrix")


def _text(text: str) -> str:
    return escape(clean(text))
