"""`guard explain FINGERPRINT`: the whole evidence on one page."""

from __future__ import annotations

import json

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = "def aux(probs, bsz):\n    count = probs.shape[0]\n    return probs.sum() / count\n"
OURS = {"m.py": BASE + "\n\ndef f(): ...\n", "tests/test_m.py": "def test(): ...\n"}
THEIRS = {"m.py": BASE.replace("shape[0]", "shape[0] * bsz"), "tests/test_m.py": "def test(): assert 1\n"}


def lost(workshop: Workshop, guard: Guard) -> tuple[str, str]:
    merge = make_sync(
        workshop,
        {"m.py": BASE, "tests/test_m.py": "def test(): ...\n"},
        OURS,
        THEIRS,
        {**OURS, "tests/test_m.py": THEIRS["tests/test_m.py"]},
        theirs_message="Fix the count of tokens (#5798)",
    )
    answer = guard.check("--merge", merge, "--select", "GRD2", folder=workshop.folder)
    (found,) = [f for f in answer.findings() if f["path"] == "m.py" and f["severity"] != "note"]
    return merge, found["fingerprint"]


def test_the_page_shows_everything(workshop: Workshop, guard: Guard) -> None:
    merge, fingerprint = lost(workshop, guard)
    answer = guard("explain", fingerprint[:7], "--merge", merge)
    assert answer.status == 0, answer.errors
    page = answer.output
    lines = page.splitlines()
    assert fingerprint in lines[0]
    assert "theirs: " in lines[0]
    assert lines[1].startswith("m.py:2 aux")
    for tree, revision in (("ours", f"{merge}^1"), ("theirs", f"{merge}^2"), ("merged", merge)):
        at = lines.index(f"{tree} {workshop.git('rev-parse', revision)[:10]}")
        assert "count = probs.shape[0]" in lines[at + 1].replace("«", "").replace("»", "")
    assert "«" in page[page.index("theirs ") :], "what differs is marked"
    assert "#5798 [fix] Fix the count of tokens" in page
    assert "tests/test_m.py: stands in merged" in page
    assert f"guard restore {fingerprint} --merge {merge}" in page
    assert f"guard accept {fingerprint} --reason" in page
    assert f"Guard-Accept: {fingerprint}" in page


def test_the_range_of_the_last_report_is_remembered(workshop: Workshop, guard: Guard) -> None:
    merge, fingerprint = lost(workshop, guard)
    workshop.commit("later", {"other": "1\n"})
    answer = guard("explain", fingerprint)
    assert answer.status == 0, answer.errors
    assert f"--merge {merge[:12]}" in answer.output
    assert guard("restore", fingerprint).output.startswith("diff --git a/m.py b/m.py")


def test_other_formats(workshop: Workshop, guard: Guard) -> None:
    merge, fingerprint = lost(workshop, guard)
    answer = guard("explain", fingerprint, "--merge", merge, "--output-format", "json")
    assert [f["fingerprint"] for f in json.loads(answer.output)["findings"]] == [fingerprint]


def test_text_from_the_repository_cannot_steer_the_terminal(workshop: Workshop, guard: Guard) -> None:
    base = {"c.yaml": "a: 1\nb: 1\n", "k": "1\n"}
    ours = {"c.yaml": "a: 1 # \x1b[31m\u202e\nb: 1\nc: x\x9by\n", "k": "1\n"}
    merge = make_sync(workshop, base, ours, {**base, "k": "2\n"}, {**base, "k": "2\n"}, ours_message="\x1b[2J (#1)")
    answer = guard.check("--merge", merge, "--select", "GRD208", folder=workshop.folder)
    for found in answer.findings():
        page = guard("explain", found["fingerprint"], "--merge", merge).output
        assert not {"\x1b", "\u202e", "\x9b"}.intersection(page)
