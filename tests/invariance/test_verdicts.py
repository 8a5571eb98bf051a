"""From records to facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from guard.invariance.tree import Tree
from guard.invariance.verdict import beside, judge
from guard.model import Severity, Status

START = {"type": "start", "device": "cpu", "torch": "2", "version": "1", "cases": 2}
END = {"type": "end"}


def tree(tmp_path: Path, label: str = "here", prefix: str = "") -> Tree:
    file = tmp_path / "megatron/core/transformer/moe/router.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("class TopKRouter:\n    def _apply_seq_aux_loss(self):\n        pass\n")
    return Tree(label, tmp_path, prefix)


def record(case: str, status: str, mbs: int = 1, **more: Any) -> dict[str, Any]:
    cut = {"dp": 1, "cp": 1, "tp": 1, "ep": 1, "mbs": mbs, "etp": None}
    return {"type": "case", "case": case, "cut": cut, "tolerance": 1e-4, "status": status, **more}


def differing(mbs: int, ratio: float) -> dict[str, Any]:
    return record(
        "seq_aux_mbs", "differs", mbs, ratio=ratio, rel=ratio - 1, equals="MBS", reason=f"ratio {ratio} (= MBS)"
    )


def test_one_finding_for_a_case_with_its_worst_cut_first(tmp_path: Path) -> None:
    verdict = judge(tree(tmp_path), [START, differing(2, 2.0), differing(1, 4.0), END], 1.0)
    (finding,) = verdict.findings
    assert (finding.code, finding.severity, finding.line) == ("GRD601", Severity.ERROR, 2)
    assert finding.symbol == "TopKRouter._apply_seq_aux_loss"
    assert "mbs1: ratio 4.0 (= MBS); also mbs2 2 (= MBS)" in finding.message
    assert finding.numeric
    assert [outcome.status for outcome in verdict.outcomes] == [Status.RAN]


def test_the_fingerprint_does_not_depend_on_where_the_tree_lies(tmp_path: Path) -> None:
    first = judge(tree(tmp_path), [START, differing(1, 4.0), END], 1.0).findings[0]
    second = judge(tree(tmp_path, "other", "third/"), [START, differing(1, 4.0), END], 1.0).findings[0]
    assert first.fingerprint == second.fingerprint
    assert second.path == "third/" + first.path


def test_a_difference_by_definition_is_a_row_and_no_finding(tmp_path: Path) -> None:
    rows = [record("aux_mbs_distinct", "differs", ratio=1.4, rel=0.6, reason="ratio 1.4")]
    verdict = judge(tree(tmp_path), [START, *rows, END], 1.0)
    assert verdict.findings == ()
    assert verdict.rows[0].reason == "by definition: ratio 1.4"


def test_a_contract_is_a_row_and_no_finding(tmp_path: Path) -> None:
    rows = [record("router_two_tuple", "differs", ratio=128.0, rel=127.0, reason="ratio 128")]
    verdict = judge(tree(tmp_path), [START, *rows, END], 1.0)
    assert verdict.findings == ()
    assert verdict.rows[0].reason == "contract: ratio 128"


def test_a_failed_case_is_a_failed_outcome(tmp_path: Path) -> None:
    rows = [record("seq_aux_mbs", "ok", ratio=1.0, rel=0.0), record("aux_mbs_identical", "failed", reason="rank 1: x")]
    verdict = judge(tree(tmp_path), [START, *rows, END], 1.0)
    assert [(outcome.status, outcome.reason) for outcome in verdict.outcomes] == [
        (Status.RAN, None),
        (Status.FAILED, "rank 1: x"),
    ]


def test_only_skipped_cases_are_no_run(tmp_path: Path) -> None:
    rows = [record("seq_aux_mbs", "skipped", reason="needs 2 ranks, 1 given")]
    verdict = judge(tree(tmp_path), [START, *rows, END], 1.0)
    assert {outcome.status for outcome in verdict.outcomes} == {Status.SKIPPED}


def test_a_worker_that_stops_early_is_a_failed_check_whatever_it_said_before(tmp_path: Path) -> None:
    rows = [record("seq_aux_mbs", "ok", ratio=1.0, rel=0.0), {"type": "fatal", "reason": "the worker stopped early: x"}]
    verdict = judge(tree(tmp_path), [START, *rows], 1.0)
    assert Status.FAILED in {outcome.status for outcome in verdict.outcomes}


def test_no_selected_case_is_skipped_with_a_reason(tmp_path: Path) -> None:
    (outcome,) = judge(tree(tmp_path), [START, END], 1.0).outcomes
    assert (outcome.status, outcome.reason) == (Status.SKIPPED, "no case of the suite is selected")


def test_a_second_tree_is_named_beside_the_finding(tmp_path: Path) -> None:
    verdict = judge(tree(tmp_path), [START, differing(1, 4.0), END], 1.0)
    clean = judge(tree(tmp_path, "there"), [START, record("seq_aux_mbs", "ok", ratio=1.0, rel=0.0), END], 1.0)
    (finding,) = beside(verdict.findings, verdict, clean)
    assert finding.message.endswith("; new: there is clean here")
    (finding,) = beside(verdict.findings, verdict, verdict)
    assert finding.message.endswith("; here shows it as well")


def other_case(ratio: float) -> dict[str, Any]:
    return record("aux_mbs_identical", "differs", ratio=ratio, rel=abs(ratio - 1), reason=f"ratio {ratio}")


def test_what_is_new_comes_first_and_what_is_known_only_warns(tmp_path: Path) -> None:
    here = judge(tree(tmp_path), [START, differing(1, 4.0), other_case(2.0), END], 1.0)
    there = judge(tree(tmp_path, "there"), [START, differing(1, 4.0), record("aux_mbs_identical", "ok"), END], 1.0)
    found = beside(here.findings, here, there, only_new=True)
    assert [(finding.subject, finding.severity) for finding in found] == [
        ("aux_mbs_identical", Severity.ERROR),
        ("seq_aux_mbs", Severity.WARNING),
    ]


def test_a_second_defect_behind_a_known_one_is_new(tmp_path: Path) -> None:
    here = judge(tree(tmp_path), [START, other_case(3.0), END], 1.0)
    there = judge(tree(tmp_path, "there"), [START, other_case(2.0), END], 1.0)
    (finding,) = beside(here.findings, here, there, only_new=True)
    assert finding.severity is Severity.ERROR
    assert "new: there differs here too, but by other ratios" in finding.message
    assert finding.fingerprint != there.findings[0].fingerprint


def test_rounding_makes_no_new_finding(tmp_path: Path) -> None:
    first, second = (judge(tree(tmp_path), [START, other_case(ratio), END], 1.0) for ratio in (2.25, 2.2500001))
    assert first.findings[0].fingerprint == second.findings[0].fingerprint
    (finding,) = beside(first.findings, first, second, only_new=True)
    assert finding.severity is Severity.WARNING
