"""GRD4 and the side lists, through the command line."""

from __future__ import annotations

import datetime

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = {"a.yaml": "x: 1\ny: 1\n", "b.yaml": "x: 1\n", "CODEOWNERS": "* @a\n"}
OURS = {**BASE, "a.yaml": "x: 2\ny: 1\n"}
THEIRS = {**BASE, "a.yaml": "x: 1\ny: 2\n", "b.yaml": "x: 2\n", "CODEOWNERS": "* @b\n"}


def configured(workshop: Workshop, guard: Guard, merged: dict[str, str], settings: str) -> tuple[int, dict[str, dict]]:
    """Exit state, and the findings by code."""
    merge = make_sync(workshop, BASE, OURS, THEIRS, merged)
    (workshop.folder / "guard.toml").write_text(settings)
    answer = guard.check("--merge", merge, "--select", "GRD2,GRD4", folder=workshop.folder)
    found = answer.findings()
    assert len({f["code"] for f in found}) == len(found), found
    return answer.status, {f["code"]: f for f in found}


def test_a_protected_path_must_equal_ours(workshop: Workshop, guard: Guard) -> None:
    merged = {**THEIRS, "a.yaml": "x: 2\ny: 2\n"}
    status, found = configured(workshop, guard, merged, 'protected = ["CODEOWNERS", "c.yaml"]\n')
    assert (status, found["GRD401"]["path"], found["GRD401"]["severity"]) == (1, "CODEOWNERS", "error")
    status, found = configured(workshop, guard, {**merged, "CODEOWNERS": "* @a\n"}, 'protected = ["CODEOWNERS"]\n')
    assert (status, "GRD401" in found) == (0, False)
    assert found["GRD208"]["path"] == "CODEOWNERS", "what theirs lost by the protection is still told"


def test_coupled_files_change_together(workshop: Workshop, guard: Guard) -> None:
    settings = '[[coupled]]\npaths = ["a.yaml", "b.yaml"]\nreason = "one schema"\n'
    merged = {**THEIRS, "a.yaml": "x: 2\ny: 2\n"}
    assert "GRD402" not in configured(workshop, guard, merged, settings)[1]
    _, found = configured(workshop, guard, {**merged, "b.yaml": BASE["b.yaml"]}, settings)
    assert found["GRD402"]["path"] == "b.yaml"
    assert "one schema" in found["GRD402"]["message"]


def test_losses_inside_a_side_list_are_told_and_marked(workshop: Workshop, guard: Guard) -> None:
    settings = '[[take-theirs]]\npaths = ["a.yaml"]\nreason = "upstream owns it"\nexpires = 2999-01-01\n'
    _, found = configured(workshop, guard, THEIRS, settings)
    assert set(found) == {"GRD208", "GRD209"}
    assert found["GRD208"]["severity"] == "warning"
    assert found["GRD208"]["lost_side"] == "ours"
    answer = guard("check", "--merge", "HEAD", "--select", "GRD208", "-o", "json")
    assert answer.report["findings"][0].get("policy") == "take theirs: upstream owns it"


@pytest.mark.parametrize(
    ("expires", "reason", "said"),
    [
        ("2020-01-01", "why", "expired on 2020-01-01"),
        ("2999-01-01", "", "gives no reason"),
        (None, " ", "gives no reason"),
    ],
)
def test_an_entry_needs_a_reason_and_may_expire(
    workshop: Workshop, guard: Guard, expires: str | None, reason: str, said: str
) -> None:
    settings = f'[[keep-ours]]\npaths = ["a.yaml"]\nreason = "{reason}"\n' + (
        f"expires = {expires}\n" if expires else ""
    )
    _, found = configured(workshop, guard, {**THEIRS, "a.yaml": OURS["a.yaml"]}, settings)
    assert said in found["GRD403"]["message"]
    assert found["GRD403"]["path"] == "guard.toml"


def test_the_last_day_of_an_entry_still_counts(workshop: Workshop, guard: Guard) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    settings = f'[[keep-ours]]\npaths = ["a.yaml"]\nreason = "r"\nexpires = {today}\n'
    assert "GRD403" not in configured(workshop, guard, {**THEIRS, "a.yaml": OURS["a.yaml"]}, settings)[1]


def test_a_file_that_was_not_taken_as_the_list_says(workshop: Workshop, guard: Guard) -> None:
    settings = '[[take-theirs]]\npaths = ["a.yaml"]\nreason = "r"\n'
    _, found = configured(workshop, guard, {**THEIRS, "a.yaml": "x: 2\ny: 2\n"}, settings)
    assert (found["GRD404"]["path"], found["GRD404"]["severity"]) == ("a.yaml", "warning")
