from __future__ import annotations

import dataclasses
import re

import pytest
from markdown_it import MarkdownIt
from synthetic import HOSTILE, large, small

from guard.model import Outcome, Report, Status
from guard.report import View, render
from guard.report.markdown_text import code, fenced, plain, prose

OPEN = """\
<!-- guard report -->
### guard: #5798 is reverted in router.py; its test is still there · 3 more

Merge `e8e2ace14f`: theirs `d16d743032` into ours `48537f613a` · 90 of 120 changes of ours survive · \
429 of 431 changes of theirs survive · 1 loss repaired by later commits  \n\
**3 errors, 6 warnings (1 note hidden, 1 accepted)**

|  | What | What became of it | Where |
| --- | --- | --- | --- |
| 🟥 | #5798 Fix sequence auxiliary loss scale | is reverted in router.py; its test is still there *(numeric)* | \
<code>router.py:559</code> |
| 🟥 | #6012 Wrap the data loader for dynamic context parallel | is lost in training.py and 5 other files | \
<code>training.py:2210</code> +5 |
| 🟥 | GRD301 undefined-name | <code>get_hybrid_groups</code> is read, and nothing defines it in merged | \
<code>parallel_state.py:1402</code> |
| 🟨 | 4c25861f0a Tidy the argument parser | deleted code that is back in arguments.py | <code>arguments.py:88</code> |
"""


def html(text: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)


def test_what_a_comment_shows_without_a_click() -> None:
    text = render(small(), "markdown", View())
    assert text.startswith(OPEN)
    assert text[len(OPEN) :].startswith("\n<details>")


@pytest.mark.parametrize(("persona", "limit"), [("maintainer", 60_000), ("audit", 900_000)])
def test_the_size_stays_below_what_github_takes(persona: str, limit: int) -> None:
    text = render(large(3000), "markdown", View(persona=persona))
    assert len(text.encode()) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert "left out for size" in text


def test_an_open_comment_fits_one_screen() -> None:
    report = dataclasses.replace(large(), contains=(), invariance=(), syncs=())
    opened = render(report, "markdown", View()).split("<details>")[0]
    assert len(opened.splitlines()) <= 25
    assert "not checked:** broken failed" in opened


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_becomes_no_markup(hostile: str) -> None:
    page = html(f"| a |\n| --- |\n| {plain(hostile)} |\n| {code(hostile)} |\n\n{plain(hostile)}\n\n{prose(hostile)}\n")
    tags = set(re.findall(r"</?(\w+)", page))
    assert tags <= {"table", "thead", "tbody", "tr", "th", "td", "code", "p"}
    assert page.count("<tr>") == 3
    assert page.count("<td>") == 2


def test_the_whole_comment_has_only_its_own_tags() -> None:
    page = html(render(large(600), "markdown", View()))
    assert set(re.findall(r"<(\w+)", page)) <= {
        *("h3", "p", "strong", "em", "br", "table", "thead", "tbody", "tr", "th", "td", "code", "pre"),
        *("details", "summary", "blockquote", "ul", "li"),
    }


def test_nobody_is_mentioned_and_no_foreign_address_linked() -> None:
    said = plain("ask @team at https://evil.example or www.evil.example, see #12 and #x, a_b _c_")
    assert said == (
        "ask &#64;team at https&#58;//evil.example or www&#46;evil.example, see #12 and &#35;x, a_b &#95;c&#95;"
    )


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert fenced("a\n````\nb", "diff") == "`````diff\na\n````\nb\n`````"


def test_links_go_to_the_repository() -> None:
    text = render(small(), "markdown", View(link_base="https://example.org/t/r"))
    assert "[#5798](https://example.org/t/r/pull/5798) Fix sequence" in text
    assert "[`e8e2ace14f`](https://example.org/t/r/commit/e8e2ace14f" in text


@pytest.mark.parametrize(
    ("outcomes", "title"),
    [
        ((Outcome("lint", Status.RAN),), "### guard: nothing found"),
        ((), "### guard: nothing was checked"),
        ((Outcome("lint", Status.FAILED, "x"),), "### guard: a check failed"),
    ],
)
def test_titles_without_findings(outcomes: tuple[Outcome, ...], title: str) -> None:
    assert render(Report("check", "1", outcomes=outcomes), "markdown", View()).splitlines()[1] == title
