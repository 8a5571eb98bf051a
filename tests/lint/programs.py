"""Small helpers of the lint tests: rules from text, trees from dictionaries."""

from __future__ import annotations

import textwrap
from pathlib import Path

from guard.lint.engine import lint_sources
from guard.lint.language import Rule
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, load_rules
from guard.lint.schema import load_text
from guard.lint.source import LintResult, Source
from guard.model import Finding

BUILTIN = load_rules()

HEAD = """
id: GRD199
name: test-rule
severity: error
status: stable
summary: A test.
why: A test.
message: "{message}"
bad: []
good: []
match:
"""


def rules(clauses: str, message: str = "found") -> RuleSet:
    """One rule with these clauses (a YAML list)."""
    body = HEAD.format(message=message) + textwrap.indent(textwrap.dedent(clauses), "  ")
    return RuleSet((load_text(Rule, body, "test.yaml"),), digest=body)


def lint_tree(files: dict[str, str | bytes], chosen: RuleSet = BUILTIN, only: tuple[str, ...] = ()) -> LintResult:
    """Lint a tree given as path to text."""
    data = {path: body if isinstance(body, bytes) else textwrap.dedent(body).encode() for path, body in files.items()}
    project = ProjectIndex(data, data.get)
    sources = [Source(path, body) for path, body in data.items() if not only or path in only]
    return lint_sources(sources, chosen, project=project)


def lint_text(text: str, chosen: RuleSet = BUILTIN) -> tuple[Finding, ...]:
    """Findings of one program on its own."""
    return lint_tree({"program.py": text}, chosen).findings


def lines(text: str, chosen: RuleSet) -> list[int]:
    """Lines of the findings; a leading newline of the text does not count."""
    return [finding.line for finding in lint_text(textwrap.dedent(text).lstrip("\n"), chosen)]


ROOT = Path(__file__).resolve().parents[2]
