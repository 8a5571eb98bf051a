"""The page in a real browser: it opens without a word in the console, filters, opens evidence and obeys keys."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, Browser, browser
from synthetic import large, small

from guard.commands.web import web_address_of
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


FIX = "99f707ef02f096ed"
HAS = f"document.getElementById('{FIX}')"


@needs_chromium
def test_a_decision_is_kept_shown_and_exported(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["small"], f"#{FIX}")
    page.wait(f"{HAS}?.open && {HAS}.querySelector('select.decide')")
    page.run(
        f"const c = {HAS}.querySelector('select.decide'); c.value = 'accepted'; c.dispatchEvent(new Event('change'));"
        f"const w = {HAS}.querySelector('input.why'); w.value = \"it's meant\"; w.dispatchEvent(new Event('input'));"
    )
    assert page.run(f"return {HAS}.querySelector('.state').textContent") == "accepted"
    page.run("document.querySelectorAll('.item > summary')[1].focus()")
    page.press("m")
    page.open(files["small"])
    page.wait(f"{HAS}?.dataset.state === 'accepted'")
    assert page.run("return document.querySelectorAll('.item')[1].dataset.state") == "mine"
    page.run("document.getElementById('export').click()")
    lines = page.run("return document.getElementById('lines').value").splitlines()
    accepted = [shlex.split(line) for line in lines if not line.startswith("#")]
    assert accepted == [["guard", "accept", FIX, "--reason", "it's meant"]]
    assert [line for line in lines if line.startswith("# mine: ")] == [line for line in lines if line.startswith("#")]
    page.run("document.querySelector('#states input[value=accepted]').click()")
    page.wait(f"!{HAS}")
    page.run("localStorage.clear()")
    assert page.console() == []


@needs_chromium
def test_filter_and_place_stand_in_the_address(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["large"])
    page.wait("document.getElementById('shown').textContent")
    page.run("document.getElementById('by').value = 'file'; document.getElementById('query').value = 'pkg/f7.py';"
             "document.querySelector('#severities input[value=note]').click();")  # fmt: skip
    page.wait("location.hash.includes('by=file')")
    page.run("document.querySelector('.item').open = true")
    address = page.wait("location.hash.includes('at=') && location.hash")
    shown = page.run("return document.getElementById('shown').textContent")
    mark = page.run("return document.querySelector('.item').id")
    page.open(files["large"], address)
    page.wait(f"document.getElementById('{mark}')?.open")
    assert page.run("return document.getElementById('shown').textContent") == shown
    assert page.run("return document.getElementById('by').value") == "file"
    assert page.run(
        "return [...document.querySelectorAll('.group > h3')].map((head) => head.firstChild.textContent)"
    ) == ["pkg/f7.py"]


@needs_chromium
def test_a_finding_names_author_side_request_commands_and_patch(page: Browser, tmp_path: Path) -> None:
    report = small()
    findings = tuple(
        dataclasses.replace(
            found,
            patch="diff --git a/x b/x\n-old\n+new\n",
            origins=(dataclasses.replace(found.origins[0], author="Ada L.", date="2026-07-01T10:00:00Z"),),
        )
        if found.fingerprint == FIX
        else found
        for found in report.findings
    )
    file = tmp_path / "page.html"
    file.write_text(render(dataclasses.replace(report, findings=findings), "html", VIEW), encoding="utf-8")
    page.open(file, f"#{FIX}")
    page.wait(f"{HAS}?.querySelector('.commands')")
    said = page.run(f"return {HAS}.querySelector('.origin').textContent")
    assert said.endswith(" by Ada L., 2026-07-01 · change of theirs")
    assert page.run(f"return {HAS}.querySelector('.origin a').href") == "https://example.org/team/repo/pull/5798"
    commands = page.run(f"return [...{HAS}.querySelectorAll('.commands code')].map((code) => code.textContent)")
    merge = report.merges[0].merged[:12]
    assert commands[:2] == [f"guard explain {FIX} --merge {merge}", f"guard restore {FIX} --merge {merge}"]
    assert page.run(f"return {HAS}.querySelector('.patch pre').textContent") == "diff --git a/x b/x\n-old\n+new\n"
    assert page.run(f"return {HAS}.querySelector('.patch').open") is False
    # Everything in it is reached with the tab key alone: the copies, the patch, the decision.
    page.run(f"{HAS}.querySelector(':scope > summary').focus()")
    reached = []
    for _ in range(16):
        page.press("Tab")
        reached.append(page.run("return document.activeElement.className || document.activeElement.tagName"))
    assert {"copy", "decide", "SUMMARY", "PRE"} <= set(reached)
    assert page.console() == []


@needs_chromium
def test_paper_shows_the_evidence_of_every_match_in_four_columns(page: Browser, files: dict[str, Path]) -> None:
    page.open(files["large"])
    page.wait("document.querySelectorAll('.item').length")
    matching = int(page.run("return document.getElementById('shown').textContent").split(" ")[0])
    page.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": "print"}})
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("return document.querySelectorAll('details.item[open] > .inside').length") == matching
    columns = page.run(
        "return getComputedStyle(document.querySelector('.trees')).gridTemplateColumns.split(' ').length"
    )
    assert columns == 4
    assert page.run("return getComputedStyle(document.getElementById('filter')).display") == "none"
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert page.run("return document.querySelectorAll('details.item[open]').length") == 0
    page.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": ""}})
    assert page.console() == []


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/NVIDIA/Megatron-LM.git", "https://github.com/NVIDIA/Megatron-LM"),
        ("https://ada:s3cret@github.com/a/b", "https://github.com/a/b"),
        ("git@github.com:a/b.git", "https://github.com/a/b"),
        ("ssh://git@example.org:2222/a/b.git", "https://example.org/a/b"),
        ("https://example.org:8443/a/b/", "https://example.org:8443/a/b"),
        ("git@gitlab.example.org:group/sub/b.git", "https://gitlab.example.org/group/sub/b/-"),
        ("/srv/git/b.git", None),
        ("../b", None),
        ("file:///srv/b.git", None),
        ("C:/work/b", None),
        ("javascript://example.org/%0aalert(1)", None),
        ("", None),
    ],
)
def test_the_web_address_of_a_remote(remote: str, address: str | None) -> None:
    assert web_address_of(remote) == address


def test_requests_are_linked_as_their_host_has_them() -> None:
    assert View(link_base="https://github.com/a/b").pull_url(7) == "https://github.com/a/b/pull/7"
    assert View(link_base="https://gitlab.com/a/b/-").pull_url(7) == "https://gitlab.com/a/b/-/merge_requests/7"
