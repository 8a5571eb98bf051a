"""A very long literal is lost: every format stays small and says what it leaves out; restoring has all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.model import Evidence
from guard.report.excerpt import tree_text
from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

LENGTH = 300_000
FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson", "markdown", "html")


def table(digit: str) -> str:
    return f"def table():\n    start()\n    return '{digit * LENGTH}'\n"


@pytest.mark.parametrize("path", ["table.py", "table.txt"])
def test_long_evidence_is_cut_and_restored_whole(workshop: Workshop, guard: Guard, tmp_path: Path, path: str) -> None:
    base, theirs = {path: table("1"), "n.md": "a\n"}, {path: table("2"), "n.md": "a\n"}
    make_sync(workshop, base, {**base, "n.md": "b\n"}, theirs, {**base, "n.md": "b\n"})
    outputs = [f"{name}={tmp_path / name}" for name in FORMATS]
    options = [word for output in outputs for word in ("-o", output)]
    answer = guard("check", "--merge", "HEAD", "--fail-on", "never", *options, folder=workshop.folder)
    assert answer.status == 0, answer.errors
    sizes = {name: (tmp_path / name).stat().st_size for name in FORMATS}
    assert max(sizes.values()) < LENGTH, sizes  # two formats bring their rules or their program along
    assert "more characters" in (tmp_path / "json").read_text()
    found = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never").findings("GRD201", "GRD208")
    patch = guard("restore", "--merge", "HEAD", found[0]["fingerprint"])
    assert patch.status == 0, patch.errors
    assert "2" * LENGTH in patch.output


def test_many_lines_are_counted() -> None:
    evidence = Evidence(base="\n".join(f"line {n}" for n in range(3_000)), ours="short")
    text = tree_text(evidence, "base") or ""
    assert text.splitlines()[-1] == "… 2,900 more lines"
    assert tree_text(evidence, "ours") == "short"
    assert tree_text(evidence, "merged") is None
