"""What each side does once and merged does twice: both wrote it, at different places or in different words."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from guard.documents.definitions import Definition
from guard.documents.statements import Statement
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.correspondence import Statements
from guard.judge.forms import FileForms
from guard.judge.normal_form import normal_tree
from guard.judge.numeric import is_numeric, is_test
from guard.judge.outcomes import told
from guard.judge.placement import acts
from guard.judge.without_effect import paths_meet, rebinding
from guard.model import Evidence, Side, Verdict

Operation = tuple[str, str, str]
SAYS_SOMETHING = 3  # tokens of a call; a shorter one (`f()`) may well be meant twice


@dataclass(frozen=True, slots=True)
class Twice:
    """Two statements of merged, by index, of which each side has one."""

    first: int
    second: int


def done_twice(base: Statements, ours: Statements, theirs: Statements, merged: Statements) -> Iterator[Twice]:
    """Calls and operations on a name that each side added once to a definition and that merged runs twice."""
    added = [{s.text for s in form} - {s.text for s in base} for form in (ours, theirs)]
    if not all(added):
        return
    forms = [_operations(form, None) for form in (base, ours, theirs)]
    now = _operations(merged, added[0] | added[1])
    for operation, places in now.items():
        before, first, second = (len(form.get(operation, ())) for form in forms)
        if len(places) < 2 or before or not first == second == 1:
            continue
        one, other = places[0], places[1]
        if paths_meet(merged, one, other) and _runs_on(merged, one, other, operation):
            yield Twice(one, other)


def _operations(form: Statements, among: set[str] | None) -> dict[Operation, list[int]]:
    """The statements that do something again if they run again, by what they do.

    Arguments:
        among: texts of the statements to look at; all by default.
    """
    found: dict[Operation, list[int]] = defaultdict(list)
    for index, statement in enumerate(form):
        if among is not None and statement.text not in among:
            continue
        for operation in _of(statement):
            found[operation].append(index)
    return found


def _of(statement: Statement) -> set[Operation]:
    if statement.kind != "statement":
        return set()
    changed = rebinding(statement)
    if changed is not None:
        target, operator, operand = changed
        return {(target, operator.__name__, operand)}
    if acts(statement) and len(statement.tokens) > SAYS_SOMETHING and "=" not in statement.tokens[:2]:
        return {("", "", statement.text)}
    tree = normal_tree(statement.kind, statement.tokens)
    return {
        (ast.unparse(one), type(node.op).__name__, ast.unparse(other))
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
        for one, other in (
            (node.left, node.right),
            *(((node.right, node.left),) if isinstance(node.op, ast.Mult) else ()),
        )
        if isinstance(one, ast.Name | ast.Attribute)
    }


def _runs_on(merged: Statements, one: int, other: int, operation: Operation) -> bool:
    """Whether the second does it to what the first one did it to: a call, or a name set to the result in between."""
    target = operation[0]
    if not target:
        return True
    changed = rebinding(merged[one])
    if changed is None or changed[0] != target:
        return False
    between = merged[one + 1 : other]
    return not any(s.tokens[:1] == (target,) and s.tokens[1:2] == ("=",) and rebinding(s) is None for s in between)


def twice_in(forms: FileForms) -> Iterator[JudgedChange]:
    """What the definitions of a file do twice, told for ours."""
    base, ours, theirs = forms.base.definitions, forms.ours.definitions, forms.theirs.definitions
    for key, now in forms.merged.definitions.items():
        mine, other = ours.get(key), theirs.get(key)
        if mine is None or other is None or now.own in (mine.own, other.own) or now.kind == "class":
            continue
        before = base[key].statements if key in base else ()
        for found in done_twice(before, mine.statements, other.statements, now.statements):
            yield _change(forms, now, now.statements[found.first], now.statements[found.second])


def _change(forms: FileForms, now: Definition, first: Statement, second: Statement) -> JudgedChange:
    place = Place(forms.path, now.name, second.line, second.end_line)
    text = forms.merged.excerpt(first.line, first.end_line), forms.merged.excerpt(second.line, second.end_line)
    lines = tuple(line.strip() for part in text for line in part.split("\n"))
    evidence = Evidence(merged="\n".join(dict.fromkeys(text)))
    pieces = (
        LostEdit(
            Verdict.TWICE,
            (),
            (told(first), told(second)),
            second.tokens,
            lines,
            (),
            second.line,
            second.end_line,
            evidence,
        ),
    )
    numeric = not is_test(forms.path) and (is_numeric(second.tokens) or is_numeric(first.tokens))
    subject = next((token for token in second.tokens if token.isidentifier()), None)
    return JudgedChange(place, place, Side.OURS, Verdict.TWICE, "statements", 1, pieces, numeric, subject)
