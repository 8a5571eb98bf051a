"""The list of cases, without measuring: names, cuts, and that every one is in the expectations of each tree."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from guard.codes import CODES
from guard.invariance.case import Cut, Tier
from guard.invariance.family.registry import all_cases
from guard.invariance.rank.programs import PROGRAMS

FIXTURES = Path(__file__).parents[2] / "fixtures" / "invariance"
CASES = all_cases()
EXPECTED = sorted(FIXTURES.glob("expected-*.yaml"))


def expectations(file: Path) -> dict[str, dict[str, dict[str, str | float]]]:
    return yaml.safe_load(file.read_text())["rows"]


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_complete(case) -> None:
    assert case.program in PROGRAMS
    assert case.code in CODES
    assert case.places
    assert case.claim
    assert len(set(case.cuts)) == len(case.cuts)
    assert set(case.essential_cuts) <= set(case.cuts)
    assert 0 < case.tolerance < 1e-2
    assert case.tolerance_reason


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cuts_divide_the_batch_and_its_groups(case) -> None:
    for cut in case.cuts:
        sequences = 2 if case.program in {"delta_net", "entropy"} else 4
        if case.program in {"norm", "entropy"}:
            continue
        assert (sequences // cut.dp) % cut.mbs == 0, cut
        assert cut.ranks <= 8


@pytest.mark.parametrize("file", EXPECTED, ids=lambda file: file.stem)
def test_every_cut_of_a_case_in_the_table_is_expected(file: Path) -> None:
    expected = {(case, cut) for cases in expectations(file).values() for case, cuts in cases.items() for cut in cuts}
    named = {case for case, _cut in expected}
    assert expected == {(case.name, cut.label()) for case in CASES if case.name in named for cut in case.cuts}


def test_the_suites_cover_the_table() -> None:
    rows = expectations(FIXTURES / "expected-0.16.1.yaml")
    essential = {case.name for case in CASES if case.essential}
    assert len(rows) >= 24
    assert sum(1 for cases in rows.values() if essential & set(cases)) >= 12


def test_a_difference_by_definition_is_expected_nowhere_as_ok() -> None:
    tiers = {case.name: case.tier for case in CASES}
    rows = expectations(FIXTURES / "expected-0.16.1.yaml")
    loose = [
        case
        for cases in rows.values()
        for case, cuts in cases.items()
        if tiers[case] in {Tier.DEFINITION, Tier.CONTRACT} and "ok" in cuts.values()
    ]
    assert loose == []


def test_labels_of_cuts() -> None:
    assert Cut().label() == "mbs1"
    assert Cut(dp=2, cp=2, tp=2, ep=4, mbs=3).label() == "dp2 cp2 tp2 ep4 mbs3"
    assert Cut(tp=2, etp=1).label() == "tp2 etp1 mbs1"
    assert Cut(tp=2, etp=2).label() == "tp2 mbs1"


def test_a_reference_is_one_rank_with_the_same_micro_batches() -> None:
    case = next(case for case in CASES if case.name == "aux_shards")
    assert case.reference_run(Cut(cp=4, mbs=2)).cut == Cut(mbs=2)


def test_an_oracle_can_be_another_program() -> None:
    case = next(case for case in CASES if case.name == "mtp_dense_depth1")
    run = case.reference_run(case.cuts[0])
    assert run.program == "mtp_dense"
    assert "program" not in run.options
