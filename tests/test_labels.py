"""The published labels: each follows its schema, points to one place, and holds nobody's code."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.bench.score import comes_out_right

FOLDER = Path(__file__).parents[1] / "fixtures" / "labels"
ROWS = [json.loads(line) for line in (FOLDER / "labels.jsonl").read_text("utf-8").splitlines()]
SCHEMA = json.loads((FOLDER / "label.schema.json").read_text("utf-8"))


def test_every_label_follows_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert [error.message for row in ROWS for error in validator.iter_errors(row)] == []
    assert len(ROWS) > 500


def test_the_schema_refuses_what_is_no_label() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for change in ({"merge": "HEAD"}, {"before": "x = 1"}, {"truth": "maybe"}, {"line": 0}, {"repo": "no-owner"}):
        assert not validator.is_valid({**ROWS[0], **change})


def finding(**changes: object) -> dict[str, object]:
    told = {"code": "GRD201", "severity": "error", "path": "a.py", "symbol": "C.f", "subject": None, "line": 9}
    return {**told, "message": "lost", "related": [], **changes}


@pytest.mark.parametrize(
    ("truth", "found", "right"),
    [
        ("accident", [finding()], True),
        ("accident", [finding(severity="warning", symbol="C")], True),
        ("accident", [finding(severity="note")], False),
        ("accident", [finding(path="b.py")], False),
        ("accident", [finding(symbol="g", line=40)], False),
        ("accident", [], False),
        ("harmless", [finding()], False),
        ("harmless", [finding(severity="warning")], True),
        ("harmless", [finding(code="GRD301")], True),
        ("harmless", [], True),
    ],
)
def test_a_label_is_scored_by_what_is_told_of_its_place(
    truth: str, found: list[dict[str, object]], right: bool
) -> None:
    row = {"path": "a.py", "symbol": "C.f", "truth": truth, "kind": "lost_change_from_main", "line": 9}
    assert comes_out_right(row, found) is right
