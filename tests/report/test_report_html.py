"""The page in a real browser: it opens without a word in the console, filters, opens evidence and obeys keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, Browser, browser
from synthetic import large, small

from guard.model import Report, Severity
from guard.report import View, render

VIEW = View(link_base="https://example.org/team/repo")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None, reason="no chromium and chromedriver on this machine"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for name, report in {"small": small(), "large": large(1500), "empty": Report("check", "1")}.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(render(report, "html", VIEW), encoding="utf-8")
    return found


def test_the_page_asks_nothing_of_the_network() -> None:
    text = render(large(300), "html", VIEW)
    assert re.findall(r"<(?:link|img|iframe|object|embed)\b|\bsrc=|@import|url\(", text) == []
    assert text.count("<script") == 2
    assert "default-src 'none'" in text


@needs_chromium
@pytest.mark.parametrize("name", ["small", "large", "empty"])
def test_the_console_stays_silent(page: Browser, files: dict[str, Path], name: str) -> None:
    page.open(files[name])
    page.wait("document.getElementById('shown').textContent")
    assert page.console() == []


@needs_chromium
def test_hostile_text_is_only_text(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["large"])
    assert page.run("return document.querySelectorAll('script').length") == 2
    assert page.run("return document.querySelectorAll('a[href^=\"javascript\"]').length") == 0
    page.run("document.querySelectorAll('.more, #more').forEach((button) => button.click())")
    page.run("document.querySelectorAll('details.item').forEach((item) => { item.open = true; })")
    page.wait("document.querySelectorAll('.trees').length > 50")
    assert page.run("return document.querySelectorAll('script').length") == 2
    assert page.console() == []


@needs_chromium
def test_the_filter(page: Browser, files: dict[str, Path]) -> None:
    report = large(1500)
    standing = report.count(Severity.ERROR) + report.count(Severity.WARNING)
    page.open(files["large"])
    page.wait(f"document.getElementById('shown').textContent.startsWith('{standing} of 1500')")
    page.run("document.getElementById('query').value = 'pkg/f7.py';"
             "document.getElementById('query').dispatchEvent(new Event('input'))")  # fmt: skip
    wanted = sum(
        1
        for found in report.findings
        if found.path == "pkg/f7.py" and not found.accepted and found.severity is not Severity.NOTE
    )
    page.wait(f"document.getElementById('shown').textContent.startsWith('{wanted} of 1500')")
    assert page.run("return document.querySelectorAll('.item').length") == wanted
    page.run("document.querySelector('#severities input[value=warning]').click()")
    errors = sum(
        1
        for found in report.findings
        if found.path == "pkg/f7.py" and not found.accepted and found.severity is Severity.ERROR
    )
    page.wait(f"document.getElementById('shown').textContent.startsWith('{errors} of 1500')")
    page.run("document.querySelector('#filter button[type=reset]').click()")
    page.wait(f"document.getElementById('shown').textContent.startsWith('{standing} of 1500')")


@needs_chromium
def test_four_trees_with_the_changed_tokens_marked(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["small"], "#99f707ef02f096ed")
    page.wait("document.querySelector('details.item[open] .trees')")
    panels = page.run(
        "return [...document.querySelectorAll('details.item[open] .tree')].map((panel) =>"
        " [panel.querySelector('h4').textContent, [...panel.querySelectorAll('mark')].map((one) => one.textContent)])"
    )
    assert panels == [["base", []], ["ours", []], ["theirs (lost side)", [" * bsz"]], ["merged", []]]


@needs_chromium
def test_a_link_opens_a_finding_that_the_filter_hides(page: Browser, files: dict[str, Path]) -> None:
    accepted = next(found for found in large(1500).findings if found.accepted and found.severity is Severity.NOTE)
    page.open(files["large"], f"#{accepted.fingerprint}")
    page.wait(f"document.getElementById('{accepted.fingerprint}')?.open")
    page.wait(f"document.activeElement.parentElement.id === '{accepted.fingerprint}'")


@needs_chromium
def test_keys(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["small"])
    page.wait("document.querySelectorAll('.item').length")
    page.press("/")
    assert page.run("return document.activeElement.id") == "query"
    page.press("b", "s", "z")
    page.wait("document.getElementById('shown').textContent.startsWith('1 of')")
    page.press("Escape")
    page.wait("document.querySelectorAll('.item').length > 5")
    page.press("j", "j", "k", "Enter")
    page.wait("document.querySelectorAll('.item')[0].open")
    assert page.run("return document.querySelectorAll('.item')[0].id") == "99f707ef02f096ed"


@needs_chromium
def test_tables_sort_and_unfold(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["large"])
    shown = "[...document.querySelectorAll('table.heat tbody tr:not(.folded)')]"
    assert page.run(f"return {shown}.length") == 15
    page.run("document.querySelector('table.heat').parentElement.nextElementSibling.click()")
    assert page.run(f"return {shown}.length") == 60
    page.run("document.querySelectorAll('table.heat thead button')[1].click()")
    shares = page.run(f"return {shown}.map((row) => Number(row.cells[1].dataset.sort))")
    assert shares == sorted(shares)


@needs_chromium
def test_light_and_dark(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["small"])
    back = "return getComputedStyle(document.body).backgroundColor"
    first = page.run(back)
    page.run("document.getElementById('theme').click()")
    assert page.run(back) != first
    page.run("document.getElementById('theme').click()")
    assert page.run(back) == first
