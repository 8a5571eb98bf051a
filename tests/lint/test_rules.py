"""Each rule finds its bad examples and is silent on its good ones; the shipped pages say what the rules say."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from guard.lint.engine import lint_sources
from guard.lint.language import Rule
from guard.lint.pages import language_document, rule_page, rules_document
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, builtin_rules_directory
from guard.lint.schema import json_schema, load_text
from guard.lint.source import Source
from tests.lint.programs import BUILTIN, ROOT, lint_tree

FIXTURES = ROOT / "fixtures" / "lint"
EXAMPLES = [
    pytest.param(rule, kind, code, id=f"{rule.id}-{kind}-{i}")
    for rule in BUILTIN
    for kind, codes in (("bad", rule.bad), ("good", rule.good))
    for i, code in enumerate(codes)
]


@pytest.mark.parametrize(("rule", "kind", "code"), EXAMPLES)
def test_examples_of_the_rule(rule: Rule, kind: str, code: str) -> None:
    result = lint_sources([Source("example.py", code.encode())], BUILTIN.only([rule.id], ()))
    assert result.outcomes == ()
    assert bool(result.findings) == (kind == "bad")


def test_every_rule_is_complete() -> None:
    assert len(BUILTIN.rules) >= 16
    for rule in BUILTIN:
        assert rule.bad, rule.id
        assert rule.good, rule.id
        assert rule.why.strip(), rule.id


def expected(root: Path, mark: str) -> set[tuple[str, int, str]]:
    return {
        (path.relative_to(root).as_posix(), number, name.strip())
        for path in root.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if mark in line
        for name in line.partition(mark)[2].split(",")
    }


def test_fixtures_show_their_own_findings() -> None:
    sources = [Source(p.relative_to(FIXTURES).as_posix(), p.read_bytes()) for p in sorted(FIXTURES.rglob("*.py"))]
    result = lint_sources(sources, BUILTIN, project=ProjectIndex.of_directory(FIXTURES))
    found = {(finding.path, finding.line, finding.name) for finding in result.findings}
    todo = expected(FIXTURES, "# todo: ")
    assert result.outcomes == ()
    assert found == expected(FIXTURES, "# expect: ")
    assert not todo & found, "a known miss is found now: make it an expectation"


def test_schema_is_shipped_and_every_rule_fits_it() -> None:
    schema = json.loads((ROOT / "schemas" / "rule.schema.json").read_text())
    assert schema == json_schema(Rule), "write it again: guard rules --schema > schemas/rule.schema.json"
    validator = jsonschema.Draft202012Validator(schema)
    for path in builtin_rules_directory().glob("*.yaml"):
        validator.validate(yaml.safe_load(path.read_text()))


def test_page_of_rules_is_up_to_date() -> None:
    page = (ROOT / "docs" / "rules.md").read_text()
    assert page == rules_document(BUILTIN), "write it again: guard rules --document > docs/rules.md"


def test_page_of_the_language_is_up_to_date() -> None:
    page = (ROOT / "docs" / "rule-language.md").read_text()
    assert page == language_document(), "write it again: guard rules --language > docs/rule-language.md"


def test_the_example_of_the_language_page_is_a_rule() -> None:
    example = language_document().partition("```yaml\n")[2].partition("```")[0]
    rule = load_text(Rule, example, "page")
    chosen = RuleSet((rule,), "page")
    assert len(lint_tree({"p.py": rule.bad[0]}, chosen).findings) == 1
    assert lint_tree({"p.py": rule.good[0]}, chosen).findings == ()


def test_a_rule_page_shows_why_and_how_to_suppress() -> None:
    rule = BUILTIN.find("grd102")
    assert rule is not None
    page = rule_page(rule)
    assert page.startswith("GRD102 sequence-aux-loss-batch-factor (error, stable)\n")
    assert "#5798" in page
    assert "# guard: allow[sequence-aux-loss-batch-factor]" in page
