"""The hunks of a merge, joined and open, as tables of the formats that a person reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from guard.model import HunkRecord
from guard.report.markdown_text import code, plain, row
from guard.report.paint import Paint
from guard.report.plain import cut, one_line, plural


def summary(rows: Sequence[HunkRecord]) -> str:
    """`12 of 20 conflict hunks resolved`."""
    resolved = sum(entry.resolved for entry in rows)
    return f"{resolved} of {plural(len(rows), 'conflict hunk')} resolved"


def resolution_lines(rows: Sequence[HunkRecord], paint: Paint, width: int, *, whole: bool) -> list[str]:
    """The count, then the resolved hunks: how many in which way, or each where all are wanted."""
    if not rows:
        return []
    lines = [paint(summary(rows), "bold")]
    resolved = [entry for entry in rows if entry.resolved]
    if whole:
        lines += [
            cut(f"  {one_line(e.path)}:{e.line} {one_line(e.symbol)}: {one_line(e.reason)}", width) for e in resolved
        ]
    else:
        counts = Counter(entry.reason for entry in resolved)
        lines += [cut(f"{count:5} × {one_line(reason)}", width) for reason, count in counts.most_common(6)]
    return lines


def resolution_table(rows: Sequence[HunkRecord]) -> list[str]:
    """One row a hunk in Markdown."""
    if not rows:
        return []
    lines = [row("Hunk", "Definition", "Status", "How, or why not"), row(*["---"] * 4)]
    for entry in rows:
        sign = "🟩 resolved" if entry.resolved else "🟥 open"
        lines.append(row(code(f"{entry.path}:{entry.line}"), code(entry.symbol), sign, plain(entry.reason)))
    return [f"{summary(rows)}.", "", *lines]


def resolution_html(rows: Sequence[HunkRecord]) -> str:
    """One row a hunk in HTML."""
    from html import escape

    from guard.report.html_tables import table as html_table  # a text report needs none of it

    cells = []
    for entry in rows:
        place = escape(one_line(f"{entry.path}:{entry.line}"))
        status = "resolved" if entry.resolved else "open"
        cells.append(
            f"<tr><td><code>{place}</code></td><td><code>{escape(one_line(entry.symbol))}</code></td>"
            f"<td>{status}</td><td>{escape(one_line(entry.reason))}</td></tr>"
        )
    return html_table(["Hunk", "Definition", "Status", "How, or why not"], cells, 25, "hunks")
