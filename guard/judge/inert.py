"""Changes whose text is in merged and that do nothing there: overridden arguments, functions that nothing calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from guard.documents.definitions import Definition, SourceFile
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.definition_index import DefinitionIndex
from guard.judge.forms import FileForms
from guard.judge.numeric import is_numeric, is_test
from guard.judge.outcomes import told
from guard.judge.overriding import Passed, arguments_set, overridden_by
from guard.judge.without_effect import idle_statements
from guard.model import Evidence, Side, Verdict


@dataclass(frozen=True, slots=True)
class Inert:
    """What makes a change inert.

    Attributes:
        subject: the argument or function that does nothing.
        by: the argument that takes its place, or empty where nothing reads it.
        line: in merged.
        reason: in words.
        words: the tokens of the whole statement, where that does nothing.
    """

    subject: str
    by: str
    line: int
    reason: str
    words: tuple[str, ...] = ()


def inert_changes(
    forms: FileForms, side: Side, before: Definition | None, after: Definition, elsewhere: DefinitionIndex
) -> Iterator[JudgedChange]:
    """Changes of a side to one definition that merged has and that do nothing there."""
    now = forms.merged.definitions.get(after.key)
    if now is None or now.own == (before.own if before else ""):
        return
    found = []
    if now.own != after.own:
        found = [*overridden(before, after, now, forms.merged, forms.path, elsewhere), *idle(before, after, now)]
    nothing_calls = unread(after, forms.of(side), now, forms.merged)
    for inert in [*found, *([nothing_calls] if nothing_calls else [])]:
        at = Place(forms.path, now.name, inert.line, inert.line)
        line = forms.merged.excerpt(inert.line, inert.line)
        lines = after.own.split("\n")
        held = line.strip() if inert.words else ""
        held = held or next((text.strip() for text in lines if f"{inert.subject}=" in text.replace(" ", "")), "")
        evidence = Evidence(None, merged=line, **{side.value: held or None})
        words = inert.words or (inert.subject, *(word for word in (inert.by,) if word))
        kept = (held,) if held else ()
        subject = inert.subject
        piece = LostEdit(Verdict.DEAD, (), (), words, kept, (), inert.line, inert.line, evidence, subject=subject)
        numeric = not is_test(forms.path) and (
            is_numeric(words) or (not inert.words and _touches_number(before, after))
        )
        where = Place(forms.path, after.name, after.line, after.end_line)
        kind, pieces = "statements", (piece,)
        yield JudgedChange(at, where, side, Verdict.DEAD, kind, 1, pieces, numeric, subject, reason=inert.reason)


def overridden(
    before: Definition | None,
    after: Definition,
    now: Definition,
    merged: SourceFile,
    path: str,
    elsewhere: DefinitionIndex,
) -> Iterator[Inert]:
    """Arguments that the side set and merged passes, in calls where a newer argument takes their place.

    Arguments:
        merged, path: the file of merged that holds `now`, where the callee is looked for first.
    """
    if not _worth_asking(before, after, now):
        return
    for passed in arguments_set(before, after, now):
        for callee in _callees(passed, merged, path, elsewhere):
            newer = overridden_by(passed, callee)
            if newer is not None:
                line = min(now.line + passed.line, now.end_line)
                reason = f"`{newer}`, which the call passes now, takes its place in {callee.name}"
                yield Inert(passed.argument, newer, _line_of(merged, line, now.end_line, passed.argument), reason)
                break


def idle(before: Definition | None, after: Definition, now: Definition) -> Iterator[Inert]:
    """Statements of an edit that stand in merged and cannot act there."""
    for found in idle_statements(before, after, now):
        statement = now.statements[found.index]
        yield Inert(told(statement), "", statement.line, found.reason, statement.tokens)


def unread(after: Definition, side: SourceFile, now: Definition, merged: SourceFile) -> Inert | None:
    """A nested function that the side changed, that its owner called there, and that nothing in its owner calls now."""
    owner = after.name.rpartition(".")[0]
    if after.kind != "function" or not owner or side.definitions.get((owner, 0)) is None:
        return None
    there, here = side.definitions[owner, 0], merged.definitions.get((owner, 0))
    if there.kind != "function" or here is None:
        return None
    if _mentions(there, after.last_name, side) and not _mentions(here, after.last_name, merged):
        return Inert(after.last_name, "", now.line, f"nothing in {owner} calls it any more")
    return None


def _worth_asking(before: Definition | None, after: Definition, now: Definition) -> bool:
    """Whether the side made a call with keywords that merged has, but not in the very same statement."""
    known = {s.text for form in (before, now) if form is not None for s in form.statements}
    heads = {s.tokens[: s.tokens.index("(")] for s in now.statements if "(" in s.tokens}
    calls = (s for s in after.statements if "(" in s.tokens and s.text not in known)
    return any("=" in s.tokens[s.tokens.index("(") :] and s.tokens[: s.tokens.index("(")] in heads for s in calls)


def _callees(passed: Passed, merged: SourceFile, path: str, elsewhere: DefinitionIndex) -> Iterator[Definition]:
    found = [d for d in merged.definitions.values() if d.last_name == passed.callee and d.kind == "function"]
    if found:
        yield from found
        return
    for standing in elsewhere.standing(passed.callee, path):
        if standing.merged.kind == "function":
            yield standing.merged


def _line_of(file: SourceFile, first: int, last: int, argument: str) -> int:
    """The line from `first` on that passes the keyword."""
    word = re.compile(rf"\b{re.escape(argument)}\s*=")
    return next((line for line in range(first, last + 1) if word.search(file.lines[line - 1])), first)


def _mentions(owner: Definition, name: str, file: SourceFile) -> bool:
    """Whether a function, or one nested in it beside the named one, reads a name."""
    inner = owner.name + "."
    for definition in file.definitions.values():
        near = definition.name == owner.name or definition.name.startswith(inner)
        if near and definition.last_name != name and any(name in s.tokens for s in definition.statements):
            return True
    return False


def _touches_number(before: Definition | None, after: Definition) -> bool:
    """Whether an edit of a definition bears on a number anywhere."""
    old = {statement.text for statement in before.statements} if before else set()
    return any(is_numeric(statement.tokens) for statement in after.statements if statement.text not in old)
