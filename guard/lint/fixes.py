"""Safe edits of findings, through LibCST: everything that is not edited stays byte for byte as it was."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError
from guard.lint.calls import Calls
from guard.lint.engine import SECONDS_PER_FILE, deadline
from guard.lint.facts import FileFacts
from guard.lint.language import ArgumentFix, Fix
from guard.lint.matching import Hit, Matcher, text_of
from guard.lint.project import ProjectIndex
from guard.lint.rewriting import Edits, Replacement, rewrite
from guard.lint.ruleset import RuleSet
from guard.lint.source import Source
from guard.lint.suppress import allows

_HOLE = re.compile(r"\$([A-Za-z_]\w*)")
# Operators that bind at least as tightly as a product need no brackets inside one.
_TIGHT = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.Tuple, ast.List, ast.Dict)


@dataclass(frozen=True, slots=True)
class FixResult:
    """What fixing one file gave.

    Attributes:
        path: the file.
        data: its new bytes, None where nothing was changed.
        fixed: rule and line of each place that was edited.
        refused: rule, line and reason of each place that has a fix which was not made.
    """

    path: str
    data: bytes | None
    fixed: tuple[tuple[str, int], ...]
    refused: tuple[tuple[str, int, str], ...]


def fix_source(source: Source, rules: RuleSet, project: ProjectIndex | None = None) -> FixResult:
    """Apply the safe fixes of all findings of one file; suppressed places are left alone.

    Raises:
        NotAnalysedError: the file cannot be read, or LibCST cannot carry it through an unmodified round trip.
    """
    text = decode(source.data).text
    facts = FileFacts(source.path, text, project)
    matcher = Matcher(facts, deadline(SECONDS_PER_FILE))
    quiet = {allow.covers for allow in allows(text)} if "guard:" in text else set()
    edits: Edits = {}
    fixed: list[tuple[str, int]] = []
    refused: list[tuple[str, int, str]] = []
    for rule in rules:
        if rule.fix is None:
            continue
        for hit in matcher.hits(rule):
            line = getattr(hit.at, "lineno", 1)
            if line in quiet:
                continue
            if not hit.sure:
                refused.append((rule.name, line, "the callee or its arguments are not certain"))
                continue
            made = _replacement(rule.fix, hit, matcher.calls, text)
            if isinstance(made, str):
                refused.append((rule.name, line, made.removeprefix("!")))
            elif made.key in edits:
                refused.append((rule.name, line, "another fix edits the same place; run again"))
            else:
                edits[made.key] = made
                fixed.append((rule.name, line))
    if not edits:
        return FixResult(source.path, None, (), tuple(refused))
    data = rewrite(source.data, edits)
    _check(data, source.path)
    return FixResult(source.path, data, tuple(fixed), tuple(refused))


def _check(data: bytes, path: str) -> None:
    try:
        ast.parse(decode(data).text)
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise NotAnalysedError(f"the fix of {path} would not parse: {problem}") from None


def _replacement(fix: Fix, hit: Hit, calls: Calls, text: str) -> Replacement | str:
    """The edit of one hit, or why there is none."""
    target = hit.bindings.get(fix.of) if fix.of is not None else hit.node
    if target is None or not hasattr(target, "end_lineno") or target not in calls.facts.parents:
        return "the place to edit is not in the file"
    if fix.argument is not None:
        if not isinstance(target, ast.Call):
            return "the place to edit is no call"
        return _argument(fix.argument, target, hit, calls, text)
    filled = _fill(fix.replace or "", hit, text, {})
    return filled if filled.startswith("!") else Replacement.of(target, text, filled)


def _argument(fix: ArgumentFix, call: ast.Call, hit: Hit, calls: Calls, text: str) -> Replacement | str:
    given = calls.arguments(call, hit.clause.parameters)
    name = next((n for n in fix.name if given.passed(n) is not None), None)
    value = given.passed(name) if name is not None else None
    if value is None:
        filled = _fill(fix.value, hit, text, {})
        return filled if filled.startswith("!") else Replacement.added(call, text, fix.name[0], filled)
    now = ast.get_source_segment(text, value) or text_of(value)
    filled = _fill(fix.value, hit, text, {"VALUE": now if isinstance(value, _TIGHT) else f"({now})"})
    return filled if filled.startswith("!") else Replacement.of(value, text, filled)


def _fill(template: str, hit: Hit, text: str, extra: dict[str, str]) -> str:
    """A template with the source text of its holes; a text that starts with `!` says why it cannot be filled."""
    lacking: list[str] = []

    def segment(found: re.Match[str]) -> str:
        name = found.group(1)
        if name in extra:
            return extra[name]
        node = hit.bindings.get(name)
        if node is None:
            lacking.append(name)
            return ""
        if isinstance(node, ast.Constant) and not hasattr(node, "lineno"):
            return str(node.value)
        source = ast.get_source_segment(text, node) or text_of(node)
        whole = found.group(0) == template.strip() or isinstance(node, _TIGHT)
        return source if whole else f"({source})"

    filled = _HOLE.sub(segment, template).strip()
    return f"!nothing stands for ${lacking[0]} here" if lacking else filled
