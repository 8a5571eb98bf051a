"""Safe edits of findings, through LibCST: everything that is not edited stays byte for byte as it was."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError
from guard.lint.calls import Calls
from guard.lint.engine import SECONDS_PER_FILE, deadline
from guard.lint.facts import FileFacts
from guard.lint.language import ArgumentFix, Fix, Rule
from guard.lint.matching import Hit, Matcher, text_of
from guard.lint.project import ProjectIndex
from guard.lint.rewriting import Replacement, rewrite
from guard.lint.ruleset import RuleSet
from guard.lint.source import Source
from guard.lint.suppress import allows
from guard.lint.verifying import difference, unknown_name

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

    An edit is made only if the file, parsed again, differs exactly as the edit says, compiles, keeps its comments, and
    the finding is gone.

    Raises:
        NotAnalysedError: the file cannot be read, or LibCST cannot carry it through an unmodified round trip.
    """
    fixable = tuple(rule for rule in rules if rule.fix is not None)
    text = decode(source.data).text
    facts = FileFacts(source.path, text, project)
    matcher = Matcher(facts, deadline(SECONDS_PER_FILE))
    quiet = [allow for allow in allows(text) if not allow.malformed] if "guard:" in text else []
    wanted: list[_Wanted] = []
    refused: list[tuple[str, int, str]] = []
    before: Counter[str] = Counter()
    for rule in fixable:
        for hit in matcher.hits(rule):
            before[rule.name] += 1
            line = getattr(hit.at, "lineno", 1)
            if any(allow.holds(line, line) for allow in quiet):
                continue
            if not hit.sure:
                refused.append((rule.name, line, "the callee or its arguments are not certain"))
                continue
            made = _replacement(rule.fix, hit, matcher, text) if rule.fix is not None else ""
            if isinstance(made, str):
                refused.append((rule.name, line, made.removeprefix("!")))
            elif any(made.key == other.edit.key for other in wanted):
                refused.append((rule.name, line, "another fix edits the same place; run again"))
            else:
                wanted.append(_Wanted(rule.name, line, made))
    trial = _Trial(source, fixable, project, before)
    kept, failures = trial.keep(wanted)
    refused += failures
    if not kept:
        return FixResult(source.path, None, (), tuple(refused))
    fixed = tuple((one.rule, one.line) for one in kept)
    return FixResult(source.path, trial.edited(kept), fixed, tuple(refused))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An edit, and the finding that asks for it."""

    rule: str
    line: int
    edit: Replacement


class _Trial:
    """Makes edits of one file and says whether they are safe."""

    def __init__(
        self, source: Source, rules: tuple[Rule, ...], project: ProjectIndex | None, before: Counter[str]
    ) -> None:
        self.source = source
        self.rules = rules
        self.project = project
        self.before = before

    def edited(self, wanted: list[_Wanted]) -> bytes:
        """The bytes of the file with these edits."""
        return rewrite(self.source.data, {one.edit.key: one.edit for one in wanted})

    def keep(self, wanted: list[_Wanted]) -> tuple[list[_Wanted], list[tuple[str, int, str]]]:
        """The edits that are safe together, and rule, line and reason of the others.

        Raises:
            NotAnalysedError: none of the edits can be made in the file at all.
        """
        if not wanted:
            return [], []
        if self._wrong(wanted) is None:
            return wanted, []
        kept: list[_Wanted] = []
        failed: list[tuple[str, int, str]] = []
        unread: list[NotAnalysedError] = []
        for one in wanted:
            wrong = self._wrong([*kept, one])
            if wrong is None:
                kept.append(one)
                continue
            failed.append((one.rule, one.line, wrong if isinstance(wrong, str) else wrong.reason))
            if isinstance(wrong, NotAnalysedError):
                unread.append(wrong)
        if len(unread) == len(wanted):
            raise unread[0]
        return kept, failed

    def _wrong(self, wanted: list[_Wanted]) -> str | NotAnalysedError | None:
        try:
            data = self.edited(wanted)
        except NotAnalysedError as refused:
            return refused
        problem = difference(self.source.data, data, {one.edit.key: one.edit for one in wanted})
        if problem is not None:
            return problem
        facts = FileFacts(self.source.path, decode(data).text, self.project)
        matcher = Matcher(facts, deadline(SECONDS_PER_FILE))
        mended = Counter(one.rule for one in wanted)
        for rule in self.rules:
            if sum(1 for _ in matcher.hits(rule)) > self.before[rule.name] - mended[rule.name]:
                return "the edit would not mend the finding, or would bring another"
        return None


def _replacement(fix: Fix, hit: Hit, matcher: Matcher, text: str) -> Replacement | str:
    """The edit of one hit, or why there is none."""
    calls = matcher.calls
    target = hit.bindings.get(fix.of) if fix.of is not None else hit.node
    if target is None or not hasattr(target, "end_lineno") or target not in calls.facts.parents:
        return "the place to edit is not in the file"
    if fix.argument is not None:
        if not isinstance(target, ast.Call):
            return "the place to edit is no call"
        made = _argument(fix.argument, target, hit, calls, text)
    else:
        filled = _fill(fix.replace or "", hit, text, {})
        made = filled if filled.startswith("!") else Replacement.of(target, text, filled)
    if isinstance(made, str):
        return made
    try:
        unknown = unknown_name(made.code, target, calls.facts, matcher.surroundings)
    except SyntaxError:
        return "what it would become is no Python"
    return made if unknown is None else f"{unknown} is not known at the place"


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
