from __future__ import annotations

import dataclasses
import re

import pytest
from synthetic import large, small

from guard.commands.output import UNCUT
from guard.model import Evidence, Outcome, Report, Severity, Status
from guard.report import View, render
from guard.report.excerpt import marked, window
from guard.report.plain import clean, cut, cut_path, display_width, one_line

ONE_SYNC = """\
merge e8e2ace14f "Merge branch 'main' into dev"
  ours 48537f613a ← theirs d16d743032, base 1405df66cb
  changes that survive: ours 90 of 120 (75 %) · theirs 429 of 431 (99 %)
  code that was taken out and is back: theirs' in 1 file
  most was lost in
    megatron/training/training.py              3 % of ours' 31 changes survive
    megatron/core/transformer/moe/router.py   83 % of theirs' 6 changes survive

repaired by e8a7d6f2bc "Bring back what the sync dropped": 1 place
  4c25861f0a "Tidy the argument parser" in optimizer.py

error #5798 "Fix sequence auxiliary loss scale" is reverted in router.py; its test is still there [numeric]
  megatron/core/transformer/moe/router.py:559 TopKRouter._apply_seq_aux_loss GRD201 99f707ef02f096ed
    theirs' change of `valid_token_count` went back to the base's text
    theirs - valid_token_count=local_num_tokens «* bsz»,
    merged + valid_token_count=local_num_tokens,

error #6012 "Wrap the data loader for dynamic context parallel" is lost in training.py and 5 other files
  megatron/training/training.py:2210 train_step GRD202 c57e08af28c85e7f
    ours' call of `wrap_data_iterator` is in merged in no form
      ours - «data_iterator = wrap_data_iterator(data_iterator, config)»
  megatron/training/part0.py:10 build_0 GRD202 5c1037e0a0b56aee
    ours' keyword argument `dynamic_cp` is in merged in no form
      ours - f(a«, dynamic_cp=True»)
    merged + f(a)
    … and 4 more places in 4 files

error GRD301 `get_hybrid_groups` is read, and nothing defines it in merged
  megatron/core/parallel_state.py:1402 initialize GRD301 0b8a1caec23d75d1
    merged + groups = get_hybrid_groups(world)

warning 4c25861f0a "Tidy the argument parser" deleted code that is back in arguments.py
  megatron/training/arguments.py:88 add_arguments GRD205 4da3963b527f9fe9
    `--old-flag`, which theirs deleted, is back
    merged + «group.add('--old-flag')»

3 errors, 6 warnings (1 note hidden, 1 accepted) · 2 checks ran · 42 files · 1 merge · 3.8 s
skipped lint megatron/bad.py: does not parse: line 3
whole evidence: guard explain 99f707ef02f096ed --merge e8e2ace14fce
bring it back:  guard restore 99f707ef02f096ed --merge e8e2ace14fce
"""

CLEAN = """\
0 errors, 0 warnings, 0 notes · 1 check ran · 3 files · no merge was checked
"""

LINES = """\
megatron/core/transformer/moe/router.py:559:13: error GRD201 theirs' change of `valid_token_count` went back to \
the base's text [#5798]
megatron/training/training.py:2210:1: error GRD202 ours' call of `wrap_data_iterator` is in merged in no form [#6012]
megatron/core/parallel_state.py:1402:1: error GRD301 `get_hybrid_groups` is read, and nothing defines it in merged
"""


def test_one_sync_in_whole() -> None:
    assert render(small(), "text", View(width=120)) == ONE_SYNC


def test_a_clean_run_says_what_it_looked_at() -> None:
    report = Report("check", "1", outcomes=(Outcome("lint", Status.RAN),), files=3)
    assert render(report, "text", View()) == CLEAN


def test_the_maintainers_view_fits_one_screen_whatever_was_found() -> None:
    report = dataclasses.replace(large(), contains=(), invariance=(), syncs=())
    lines = render(report, "text", View(width=120)).splitlines()
    assert len(lines) <= 80
    assert all(display_width(line) <= 120 for line in lines)
    assert any("more findings" in line for line in lines)
    assert any(line.startswith("failed broken") for line in lines)


@pytest.mark.parametrize("width", [48, 60, 80, 200])
def test_lines_follow_the_width(width: int) -> None:
    lines = render(dataclasses.replace(large(60), contains=(), invariance=()), "text", View(width=width)).splitlines()
    totals = [line for line in lines if " checks ran" in line or " check ran" in line]
    commands = [line for line in lines if ": " in line and " guard " in line]
    failed = [line for line in lines if line.startswith("failed ")]  # why a check failed is never cut
    too_long = [line for line in lines if display_width(line) > width and line not in totals + commands + failed]
    assert too_long == []


@pytest.mark.parametrize("persona", ["maintainer", "reviewer", "audit"])
def test_no_line_is_cut_where_no_terminal_reads_it(persona: str) -> None:
    report = small()
    long = " ".join(f"word{number}" for number in range(90))
    path = "/".join(f"folder{number}" for number in range(40)) + "/file.py"
    findings = tuple(
        dataclasses.replace(found, path=path, message=f"{found.message} {long}", symbol=f"{found.symbol}.{'x' * 200}")
        for found in report.findings
    )
    text = render(
        dataclasses.replace(report, findings=findings, notices=(long,)), "text", View(width=UNCUT, persona=persona)
    )
    assert "…" not in re.sub(r"… and \d+ more \w+", "", text)
    assert text.count(long) > 3
    assert path in text


def test_nothing_is_dropped_from_the_reviewers_view() -> None:
    report = large(300)
    text = render(report, "text", View(persona="reviewer", width=100))
    for finding in report.findings:
        shown = finding.fingerprint in text
        assert shown == (finding.accepted is None and finding.severity is not Severity.NOTE)


def test_the_audit_shows_notes_and_four_trees() -> None:
    text = render(small(), "text", View(verbose=2, width=120))
    assert "hides whether" in text
    assert "theirs │             valid_token_count=local_num_tokens * bsz,\n" in text
    assert "  base │             valid_token_count=local_num_tokens,\n" in text
    assert "see theirs megatron/core/transformer/moe/router.py:571 the fixed line" in text


def test_concise_is_one_line_a_finding() -> None:
    text = render(small(), "concise", View())
    assert text.startswith(LINES)
    assert text.splitlines()[-2:] == [
        "skipped: lint megatron/bad.py: does not parse: line 3",
        "3 errors, 6 warnings (1 note hidden, 1 accepted)",
    ]


@pytest.mark.parametrize("name", ["text", "concise"])
@pytest.mark.parametrize("verbose", [0, 2])
def test_the_terminal_gets_no_control_character_of_the_repository(name: str, verbose: int) -> None:
    text = render(large(400), name, View(verbose=verbose))
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text) == []
    text.encode()


def test_color_only_adds_styles() -> None:
    plain = render(small(), "text", View(width=120))
    colored = render(small(), "text", View(width=120, color=True))
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain.replace("«", "").replace("»", "")


def test_tokens_that_differ_are_marked() -> None:
    one, two = marked("f(a, b=c * bsz)", "f(a, b=c)")
    assert one == (("f(a, b=c", False), (" * bsz", True), (")", False))
    assert two == (("f(a, b=c", False), (")", False))


def test_a_long_line_is_compared_by_its_ends() -> None:
    one, two = marked("x = [" + "1, " * 500 + "2]", "x = [" + "1, " * 500 + "3]")
    assert [run for run in one if run[1]] == [("2", True)]
    assert [run for run in two if run[1]] == [("3", True)]


def test_the_window_keeps_the_difference_in_sight() -> None:
    pieces = (("a" * 300, False), ("DIFF", True), ("b" * 300, False))
    shown = window(pieces, 60)
    assert ("DIFF", True) in shown
    assert sum(display_width(run) for run, _ in shown) <= 60


def test_plain_text() -> None:
    assert clean("a\x1b[31m\r\nb\udce9\u202e") == "a\\x1b[31m\nb\\xe9\\u202e"
    assert one_line(" a\n\tb ") == "a b"
    assert (display_width("語e\u0301"), cut("語語語", 4), cut_path("a/bc/file.py", 9)) == (3, "語…", "…/file.py")


def test_the_whole_message_of_a_rule_is_shown_and_no_trees_that_it_does_not_know() -> None:
    base = next(f for f in small().findings if not f.origins and f.severity is Severity.ERROR)
    said = "the loss is divided by the token count, which is zero when every token is masked: clamp it to at least one"
    finding = dataclasses.replace(base, message=said, evidence=Evidence())
    report = Report(command="check", version="1", findings=(finding,), outcomes=(Outcome("lint", Status.RAN),))
    for persona in ("maintainer", "reviewer", "audit"):
        shown = render(report, "text", View(width=80, persona=persona))
        assert said in " ".join(shown.split()), persona
        assert "(nothing)" not in shown
        assert max(display_width(line) for line in shown.splitlines()) <= 80
