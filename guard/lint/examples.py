"""Do the examples of a rule say what the rule does: something is found in each bad one, nothing in a good one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guard.documents.kinds import is_python
from guard.lint.engine import lint_sources
from guard.lint.language import Rule
from guard.lint.ruleset import RuleSet
from guard.lint.source import Source


@dataclass(frozen=True, slots=True)
class ExampleFailure:
    """An example that does not show what it is to show.

    Attributes:
        rule: the rule.
        key: where it stands, as in `bad[0]`.
        problem: what is wrong with it.
    """

    rule: Rule
    key: str
    problem: str


def example_failures(rules: Iterable[Rule]) -> Iterator[ExampleFailure]:
    """Every example that does not hold.

    A rule for certain paths is tried at a path of each of its globs: a bad example must be found at one of them, a good
    one at none.
    """
    for rule in rules:
        alone = RuleSet((rule,), "example")
        paths = list(dict.fromkeys(_paths(rule)))
        for kind, programs in (("bad", rule.bad), ("good", rule.good)):
            for i, program in enumerate(programs):
                problem = _problem(alone, program, paths, wanted=kind == "bad")
                if problem is not None:
                    yield ExampleFailure(rule, f"{kind}[{i}]", problem)


def _problem(alone: RuleSet, program: str, paths: list[str], *, wanted: bool) -> str | None:
    found = False
    for path in paths:
        result = lint_sources([Source(path, program.encode())], alone)
        if result.outcomes:
            return (result.outcomes[0].reason or "not analysed").strip()
        if result.findings and not wanted:
            return f"the rule finds something in line {result.findings[0].line}: {result.findings[0].message}"
        found = found or bool(result.findings)
    return "the rule finds nothing in it" if wanted and not found else None


def _paths(rule: Rule) -> Iterator[str]:
    places = [place for place in (rule.in_, *(clause.in_ for clause in rule.match)) if place is not None]
    if not any(place.path for place in places):
        yield "example.py"
        return
    if rule.in_ is None or not rule.in_.path:
        yield "example.py"
    for place in places:
        for glob in place.path:
            name = glob.replace("**", "example").replace("*", "example").replace("?", "x")
            yield name if is_python(name) else f"{name}.py"
