"""The tables of the other verbs, compared whole."""

from __future__ import annotations

import dataclasses
import re

from synthetic import mark, sha, small

from guard.model import (
    Containment,
    Cut,
    Finding,
    Invariance,
    Outcome,
    Report,
    Severity,
    Status,
    SyncRow,
)
from guard.report import View, render

VIEW = View(width=110)
RAN = (Outcome("x", Status.RAN),)
FIX, OTHER, BY = sha("a"), sha("b"), sha("by")

CONTAINS = """\
fix         main     dev
#5798       present  reverted    Fix sequence auxiliary loss scale
e9d71f5ee7  present  not-merged  Tidy
  #5798 reverted by 408158643e in dev: router.py:559

0 errors, 0 warnings, 0 notes · 1 check ran
"""

VERIFY = """\
invariance    cut       main     ratio  rel      dev  ratio  rel
seq_aux_loss  mbs4      differs  4      3.0e+00  ok   1      1.0e-07
gdn           tp2 mbs1  skipped  –      –        –    –      –
  skipped gdn tp2 mbs1: the tree has no GDN

error GRD600 seq_aux_loss is 4 times the reference
  router.py:559 GRD600 {mark}

1 error, 0 warnings, 0 notes · 1 check ran
"""

HISTORY = """\
sync        date        ours/theirs  lost  broken  repaired  accepted  open          repaired by
e8e2ace14f  2026-07-28  120/431      15    2       9         2         6             4dc7c9ec43 +4 d
e8e2ace14f  2026-07-01  120/431      0     0       0         0         0     failed  out of memory

0 errors, 0 warnings, 0 notes · 1 check ran · 2 syncs
"""


def contains() -> Report:
    rows = (
        Containment(FIX, 5798, "main", "present", "router.py:559", None, "Fix sequence auxiliary loss scale", True),
        Containment(FIX, 5798, "dev", "reverted", "router.py:559", BY, "Fix sequence auxiliary loss scale", True),
        Containment(OTHER, None, "main", "present", None, None, "Tidy"),
        Containment(OTHER, None, "dev", "not-merged", None, None, "Tidy"),
    )
    return Report("contains", "1", outcomes=RAN, contains=rows)


def verify() -> Report:
    rows = (
        Invariance("seq_aux_loss", "main", Cut(mbs=4), "differs", 4.0, 3.0),
        Invariance("seq_aux_loss", "dev", Cut(mbs=4), "ok", 1.0, 1e-7),
        Invariance("gdn", "main", Cut(tp=2), "skipped", reason="the tree has no GDN"),
    )
    finding = Finding(
        "GRD600",
        "gradient-differs",
        Severity.ERROR,
        "router.py",
        559,
        "seq_aux_loss is 4 times the reference",
        mark("v"),
    )
    return Report("verify", "1", (finding,), RAN, invariance=rows)


def history() -> Report:
    merge = small().merges[0]
    rows = (
        SyncRow(merge, "2026-07-28T10:00:00Z", 12, 3, 2, 9, 6, ((sha("r"), "Repair", 3.5),), accepted=2),
        SyncRow(merge, "2026-07-01T10:00:00Z", 0, 0, 0, 0, 0, (), Status.FAILED, "out of memory"),
    )
    return Report("history", "1", outcomes=RAN, syncs=rows)


def test_text_tables_in_whole() -> None:
    assert render(contains(), "text", VIEW) == CONTAINS
    assert render(verify(), "text", VIEW) == VERIFY.format(mark=mark("v"))
    assert render(history(), "text", VIEW) == HISTORY


def test_markdown_tables() -> None:
    text = render(contains(), "markdown", VIEW)
    assert "| #5798 Fix sequence auxiliary loss scale | 🟩 present | 🟥 reverted by <code>408158643e</code>" in text
    assert "| <code>seq_aux_loss</code> | mbs4 | 🟥 differs, ratio 4, rel 3.0e+00 | 🟩 ok" in render(
        verify(), "markdown", VIEW
    )
    assert "failed: out of memory" in render(history(), "markdown", VIEW)


def test_html_matrix_and_plot() -> None:
    page = render(verify(), "html", VIEW)
    assert '<td class="differs"><b>differs</b> ×4 <small>rel 3.0e+00</small></td>' in page
    plotted = render(history(), "html", VIEW)
    assert "2026-07-28: 9 repaired, 6 open" in plotted
    heights = [
        float(found)
        for found in re.findall(r'class="bar-\w+" x="\d+" y="[\d.]+" width="26" height="([\d.]+)"', plotted)
    ]
    assert sorted(heights) == [0, 0, 72, 108]


def test_colour_marks_the_status_words() -> None:
    text = render(contains(), "text", dataclasses.replace(VIEW, color=True))
    assert "\x1b[1;31mreverted\x1b[0m" in text
    assert "\x1b[32mpresent\x1b[0m" in text
