"""Try a clause: it must find the pre-fix form at its place and be silent about the fix's own tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guard.checks.pinning.shapes import Candidate, Clause, candidates
from guard.checks.pinning.sources import EditSource, Unit
from guard.checks.pinning.writing import render
from guard.documents.definitions import MODULE
from guard.errors import ConfigError
from guard.lint.engine import lint_sources
from guard.lint.language import Rule
from guard.lint.ruleset import RuleSet
from guard.lint.schema import load_text
from guard.lint.source import LintResult, Source
from guard.model import Severity

MOST_CLAUSES = 8
# Clauses tried for one statement before it is given up.
MOST_TRIES = 40


def clauses_for(source: EditSource, before: bytes, after: bytes) -> list[tuple[Candidate, Clause]]:
    """The clauses that hold for the edited statements of one definition, heaviest statement first.

    Arguments:
        before, after: the file in the parent and in the fix.

    Returns:
        The shape with the clause as it is to be written, its place included.
    """
    found: list[tuple[Candidate, Clause]] = []
    covered: set[int] = set()
    for unit in source.units:
        if len(found) >= MOST_CLAUSES:
            break
        hit = first_holding(source, unit, before, after)
        if hit is None:
            continue
        candidate, clause, lines = hit
        if not lines <= covered or not covered:
            covered |= lines
            found.append((candidate, clause))
    return found


def first_holding(
    source: EditSource, unit: Unit, before: bytes, after: bytes
) -> tuple[Candidate, Clause, frozenset[int]] | None:
    """The first clause for an edited statement that holds, with the lines of the parent that it finds."""
    place = place_of(source)
    path = source.edit.path
    for number, candidate in enumerate(candidates(source, unit)):
        if number >= MOST_TRIES:
            return None
        clause = with_place(candidate.clause, place)
        rule = trial_rule(clause)
        if rule is None or found_by(rule, path, after).findings:
            continue
        lines = frozenset(
            finding.line
            for finding in found_by(rule, path, before).findings
            if finding.severity is Severity.ERROR and source.old_lines[0] <= finding.line <= source.old_lines[1]
        )
        if lines:
            return candidate, clause, lines
    return None


def place_of(source: EditSource) -> dict[str, Sequence[str]]:
    """The place of a definition: its file, and the function and class around the edit."""
    parts = [] if source.edit.symbol == MODULE else source.edit.symbol.split(".")
    place: dict[str, Sequence[str]] = {"path": [source.edit.path]}
    definition = source.edit.after or source.edit.before
    if parts and definition is not None:
        if definition.kind == "function":
            place["function"] = [parts[-1]]
            parts = parts[:-1]
        owners = [part for part in parts if part[:1].isupper()]
        if owners:
            place["class"] = [owners[-1]]
    return place


def with_place(clause: Clause, place: Mapping[str, Sequence[str]]) -> Clause:
    """The clause at its place; the place stands after what is matched."""
    head = {key: value for key, value in clause.items() if key in ("call", "pattern")}
    return {**head, "in": dict(place), **{key: value for key, value in clause.items() if key not in head}}


def trial_rule(clause: Clause) -> Rule | None:
    """A rule with one clause, read back from its YAML as a user's would be; None where it does not load."""
    document = {
        "id": "GRD501", "name": "trial", "severity": "error", "status": "stable", "summary": "trial", "why": "trial",
        "message": "trial", "match": [clause], "bad": ["pass"], "good": ["pass"],
    }  # fmt: skip
    try:
        return load_text(Rule, render(document), "trial")
    except ConfigError:
        return None


def found_by(rule: Rule, path: str, data: bytes) -> LintResult:
    """What a rule finds in one file, which stands alone."""
    return lint_sources([Source(path, data)], RuleSet((rule,), ""))
