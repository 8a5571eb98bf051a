"""`guard rules` and `guard explain`, through the command line's own objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.commands.explain import explain
from guard.commands.rules import rules
from guard.errors import GuardError
from guard.lint.language import Rule
from guard.lint.schema import json_schema


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(command: object, *arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)  # type: ignore[arg-type]
    if result.exception is not None:
        raise result.exception
    return result.output


def test_rules_as_json_and_text() -> None:
    rows = {row["code"]: row for row in json.loads(run(rules, "-o", "json"))}
    assert rows["GRD102"]["name"] == "sequence-aux-loss-batch-factor"
    assert rows["GRD102"]["origin"] == [5798]
    assert "GRD901" in rows
    assert "GRD102 sequence-aux-loss-batch-factor" in run(rules)


def test_schema_is_that_of_the_loader() -> None:
    assert json.loads(run(rules, "--schema")) == json_schema(Rule)


@pytest.mark.parametrize("key", ["GRD102", "grd102", "sequence-aux-loss-batch-factor"])
def test_explain_a_rule_by_code_or_name(key: str) -> None:
    text = run(explain, key)
    assert text.startswith("GRD102 sequence-aux-loss-batch-factor")
    assert "valid_token_count=local" in text


def test_explain_a_code_that_is_no_rule() -> None:
    assert run(explain, "unused-suppression").startswith("GRD901 unused-suppression")


def test_what_is_no_rule_is_an_error() -> None:
    with pytest.raises(GuardError, match="no rule, code or fingerprint"):
        run(explain, "no-such-rule")


def test_a_pin_of_the_repository_is_listed(tmp_path: Path) -> None:
    pins = tmp_path / "rules" / "pins"
    pins.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    (pins / "grd590.yaml").write_text(
        "id: GRD590\nname: my-pin\nseverity: error\nstatus: stable\nsummary: S.\nwhy: W.\nmessage: M.\n"
        "bad: []\ngood: []\nmatch:\n  - call: f\n    require:\n      - passes: group\n"
    )
    assert "GRD590 my-pin" in run(rules)
