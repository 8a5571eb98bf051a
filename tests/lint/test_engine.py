"""Runs: hard files, suppression, cache, processes, differential mode."""

from __future__ import annotations

import textwrap

import pytest

from guard.lint import engine
from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.source import LintResult, Source, brought
from guard.model import Severity, Status
from guard.store.facts import MemoryStore
from tests.lint.programs import BUILTIN, lint_tree

BAD = "import torch\n\ndef start(comm):\n    comm.wait_stream(torch.cuda.default_stream())\n"
ADJACENT = "x = (" + "\n".join(["'a'"] * 500) + ")\n"


def test_hard_files_do_not_end_the_run_and_the_others_stand() -> None:
    hard = {
        "lambda.py": b"x = () if 0 else(lambda:())\n" + BAD.encode(),
        "strings.py": ADJACENT.encode() + BAD.encode(),
        "sum1000.py": ("x = " + " + ".join(["a"] * 1000) + "\n").encode() + BAD.encode(),
        "sum5000.py": ("x = " + " + ".join(["a"] * 5000) + "\n").encode() + BAD.encode(),
        "bytes.py": b"x = '\xff'\n" + BAD.encode(),
        "coding.py": b"# coding: klingon\n" + BAD.encode(),
        "nul.py": BAD.encode() + b"\0",
        "feed.py": b"\x0c" + BAD.encode(),
        "cr.py": BAD.replace("\n", "\r").encode(),
        "syntax.py": BAD.encode() + b"def (:\n",
        "deep.py": ("x = " + "(" * 150 + ")" * 150 + "\n").encode() + BAD.encode(),
        "fine.py": BAD.encode(),
    }
    result = lint_tree(dict(hard))
    skipped = {outcome.subject: outcome.reason or "" for outcome in result.outcomes}
    found = {finding.path for finding in result.findings}
    assert {"fine.py", "lambda.py", "feed.py", "cr.py", "strings.py"} <= found
    assert found | set(skipped) == set(hard)
    assert not found & set(skipped)
    assert all(reason.startswith("not analysed: ") for reason in skipped.values())
    assert "nested" in skipped["sum5000.py"]
    assert "utf-8" in skipped["bytes.py"]
    assert "klingon" in skipped["coding.py"]
    assert "NUL" in skipped["nul.py"]
    assert "line 5" in skipped["syntax.py"]


def test_a_crash_inside_is_one_failed_file(monkeypatch: pytest.MonkeyPatch) -> None:
    original = engine.FileFacts

    def facts(path: str, text: str, project: ProjectIndex | None) -> engine.FileFacts:
        if path == "bad.py":
            raise TypeError("boom")
        return original(path, text, project)

    monkeypatch.setattr(engine, "FileFacts", facts)
    result = lint_tree({"bad.py": BAD, "good.py": BAD})
    assert [(o.subject, o.status, o.reason) for o in result.outcomes] == [
        ("bad.py", Status.FAILED, "not analysed: TypeError: boom")
    ]
    assert [f.path for f in result.findings] == ["good.py"]


def test_a_file_that_takes_too_long_is_reported() -> None:
    body = BAD + "\n".join(f"    comm.wait_stream({i})" for i in range(3000))
    result = lint_sources([Source("slow.py", body.encode()), Source("f.py", BAD.encode())], BUILTIN, seconds_per_file=0)
    assert [o.subject for o in result.outcomes] == ["slow.py"]
    assert "took longer than" in (result.outcomes[0].reason or "")
    assert [f.path for f in result.findings] == ["f.py"]


def program(comment: str, above: str = "") -> str:
    return BAD.replace("stream())\n", f"stream()){comment}\n").replace("    comm.", f"{above}    comm.")


def test_suppressions_need_a_reason_and_a_finding() -> None:
    def outcome(text: str) -> list[tuple[str, int]]:
        return [(f.code, f.line) for f in lint_tree({"p.py": text}).findings]

    assert outcome(program("  # guard: allow[current-stream] forward runs on the default stream")) == []
    assert outcome(program("  # guard: allow[GRD119] forward runs on the default stream")) == []
    assert outcome(program("", "    # guard: allow[current-stream] the default one is meant\n")) == []
    assert outcome(program("  # guard: allow[current-stream]")) == [("GRD119", 4), ("GRD902", 4)]
    assert outcome(program("  # guard: allow[integer-counters] why not")) == [("GRD119", 4), ("GRD901", 4)]
    assert outcome("x = 1  # guard: allow[current-stream] nothing here\n") == [("GRD901", 1)]
    assert outcome(program("  # guard: allow[curent-stream] a typing error")) == [("GRD119", 4), ("GRD901", 4)]
    assert outcome("x = 'guard: allow[current-stream] in a string'\n") == []


def test_a_suppression_covers_a_statement_of_several_lines() -> None:
    text = """
    import torch

    def start(comm):
        comm.wait_stream(
            torch.cuda.default_stream()
        )  # guard: allow[current-stream] the default one is meant
    """
    assert lint_tree({"p.py": text}).findings == ()


def test_fingerprints_follow_content_and_not_lines() -> None:
    before = lint_tree({"p.py": BAD})
    after = lint_tree({"p.py": "# a comment\n\n" + BAD + "\n\ndef more(comm):\n" + BAD.splitlines()[-1] + "\n"})
    assert before.findings[0].fingerprint == after.findings[0].fingerprint
    assert [f.symbol for f in brought(before, after).findings] == ["more"]
    twice = lint_tree({"p.py": BAD + BAD.splitlines()[-1] + "\n"})
    assert len({f.fingerprint for f in twice.findings}) == 2
    assert len(brought(before, twice).findings) == 1


def test_kept_results_stand_only_while_what_they_read_stands() -> None:
    callee = "def roll_tensor(tensor, shifts, dims, cp_group=None):\n    return tensor\n"
    user = "from core import roll_tensor\nroll_tensor(x, -1, -1)\n"
    store = MemoryStore()

    def run(files: dict[str, str]) -> LintResult:
        data = {path: text.encode() for path, text in files.items()}
        return lint_sources(
            [Source("user.py", data["user.py"])], BUILTIN, project=ProjectIndex(data, data.get), store=store
        )

    first = run({"user.py": user, "core.py": callee})
    again = run({"user.py": user, "core.py": callee})
    assert [f.code for f in first.findings] == ["GRD101"]
    assert again == first
    assert run({"user.py": user, "core.py": callee.replace(", cp_group=None", "")}).findings == ()
    assert run({"user.py": user}).findings == lint_tree({"user.py": user}).findings


def test_processes_give_what_one_process_gives() -> None:
    files = {f"m{i}.py": BAD if i % 3 == 0 else "x = 1\n" for i in range(engine.MANY + 5)}
    sources = [Source(path, text.encode()) for path, text in files.items()]
    assert lint_sources(sources, BUILTIN, jobs=2) == lint_sources(sources, BUILTIN, jobs=1)
    assert len(lint_sources(sources, BUILTIN, jobs=2).findings) == sum(1 for text in files.values() if text == BAD)


def test_a_finding_says_all_that_the_report_needs() -> None:
    text = textwrap.dedent(
        """
        class Router:
            def seq(self, probs, scores, n, bsz):
                scores = scores.reshape(n, -1)
                loss = switch(scores) / bsz
                return self.attach_and_log_load_balancing_loss(
                    probs, 1.0, loss, "seq", self.group, valid_token_count=n
                )
        """
    )
    (finding,) = lint_tree({"router.py": text}).findings
    assert (finding.code, finding.name, finding.severity) == (
        "GRD102",
        "sequence-aux-loss-batch-factor",
        Severity.ERROR,
    )
    assert (finding.symbol, finding.subject, finding.line) == ("Router.seq", "valid_token_count", 7)
    assert "valid_token_count=n" in finding.message
    assert finding.fixable
    assert finding.numeric
