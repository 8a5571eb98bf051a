"""The plot of `guard history`: for each sync what was lost and later repaired, and what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from guard.model import SyncRow
from guard.report.plain import one_line

_HEIGHT = 180
_BAR = 26
_GAP = 8
_LEFT = 40


def sync_plot(rows: Sequence[SyncRow]) -> str:
    """Stacked bars as SVG, oldest at the left; each bar says its numbers when pointed at, the table says them all."""
    ordered = sorted(rows, key=lambda row: row.date)
    top = max((row.repaired + row.open for row in ordered), default=0)
    if not top:
        return ""
    width = _LEFT + len(ordered) * (_BAR + _GAP)
    parts = []
    for index, row in enumerate(ordered):
        x = _LEFT + index * (_BAR + _GAP)
        tall_open = row.open * _HEIGHT / top
        tall_repaired = row.repaired * _HEIGHT / top
        name = escape(f"{row.merge.merged[:10]} {row.date[:10]}: {row.repaired} repaired, {row.open} open")
        y = _HEIGHT - tall_open
        day = escape(one_line(row.date[5:10]))
        parts.append(
            f"<g><title>{name}</title>"
            f'<rect class="bar-open" x="{x}" y="{y:.1f}" width="{_BAR}" height="{tall_open:.1f}"/>'
            f'<rect class="bar-repaired" x="{x}" y="{y - tall_repaired:.1f}" width="{_BAR}" '
            f'height="{tall_repaired:.1f}"/>'
            f'<text x="{x + _BAR / 2}" y="{_HEIGHT + 14}" text-anchor="middle">{day}</text>'
            "</g>"
        )
    axis = (
        f'<line x1="{_LEFT - 4}" y1="{_HEIGHT}" x2="{width}" y2="{_HEIGHT}"/>'
        f'<text x="{_LEFT - 8}" y="10" text-anchor="end">{top}</text>'
        f'<text x="{_LEFT - 8}" y="{_HEIGHT}" text-anchor="end">0</text>'
    )
    legend = '<p class="legend"><i class="bar-open"></i> still open <i class="bar-repaired"></i> repaired later</p>'
    return (
        f'<figure class="plot"><svg role="img" aria-label="Losses of each sync, repaired and open" '
        f'viewBox="0 -6 {width} {_HEIGHT + 26}" width="{width}" height="{_HEIGHT + 26}">{axis}{"".join(parts)}</svg>'
        f"{legend}</figure>"
    )
