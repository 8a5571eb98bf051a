"""Statements of merged that stand and cannot act: behind a `return`, under `if False`, set again or undone below."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guard.documents.definitions import Definition
from guard.documents.statements import Statement
from guard.judge.correspondence import Statements
from guard.judge.normal_form import normal_tree
from guard.judge.placement import enclosing, names_in, overlap, set_by

_LEAVES = frozenset({"return", "raise", "continue", "break"})
_NEVER = frozenset({("False",), ("0",), ("None",), ("not", "True")})
_ALWAYS = frozenset({("True",), ("1",), ("not", "False")})
_INVERSE: dict[type, type] = {ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Add: ast.Sub, ast.Sub: ast.Add}


@dataclass(frozen=True, slots=True)
class Idle:
    """A statement that cannot act, by its index, and why."""

    index: int
    reason: str


def idle_statements(before: Definition | None, after: Definition, now: Definition) -> Iterator[Idle]:
    """Statements that an edit put in, that stand in `now` and cannot act there, while they can in `after`."""
    old = {statement.text for statement in before.statements} if before else set()
    made = {
        s.text: j for j, s in enumerate(after.statements) if s.text not in old and s.kind in ("statement", "header")
    }
    if not made:
        return
    flat = now.kind != "function"
    for k, statement in enumerate(now.statements):
        j = made.get(statement.text)
        if j is None:
            continue
        reason = _why(now.statements, k, flat)
        if reason and not _why(after.statements, j, flat):
            yield Idle(k, reason)


def _why(form: Statements, k: int, flat: bool) -> str:
    return unreachable(form, k) or (set_again(form, k, flat) or undone(form, k) if form[k].kind == "statement" else "")


def unreachable(form: Statements, k: int) -> str:
    """Why no run gets to a statement, or nothing."""
    index = k
    while index >= 0:
        parent = form[index].parent
        for n in range(parent + 1, index):
            if form[n].parent == parent and form[n].kind == "statement" and form[n].tokens[0] in _LEAVES:
                return f"`{_shown(form[n])}` stands before it"
        if parent >= 0 and _never(form, parent):
            return f"it stands under `{form[parent].text}`"
        index = parent
    return ""


def set_again(form: Statements, k: int, flat: bool) -> str:
    """The statement that sets again what statement `k` sets, before anything reads it; or nothing.

    Arguments:
        flat: the statements of a module or a class: whatever is called in between may read the name.
    """
    target = _plain_target(form[k])
    if not target:
        return ""
    shared = flat or "." in target or any(word in ("global", "nonlocal") for s in form for word in s.tokens[:1])
    for statement in form[k + 1 :]:
        here = statement.parent == form[k].parent
        value = statement.tokens[statement.tokens.index("=") + 1 :] if _plain_target(statement) == target else None
        if statement.text == form[k].text:
            return ""  # the very same once more
        if value is not None and here and not overlap({target}, names_in(value)):
            return f"`{_shown(statement)}` sets `{target}` again before anything reads it"
        if value is None and overlap({target}, names_in(statement.tokens)):
            return ""
        if value is not None and not here and overlap({target}, names_in(value)):
            return ""
        if shared and "(" in statement.tokens:
            return ""
        if not _inside(form, statement, form[k].parent):
            return ""  # the block ends: what comes then may run without the statement, or run it again
    return ""


def undone(form: Statements, k: int) -> str:
    """The statement that takes back what statement `k` does to a number, before anything reads it; or nothing."""
    did = rebinding(form[k])
    if did is None:
        return ""
    target, operator, operand = did
    for statement in form[k + 1 :]:
        if statement.parent != form[k].parent:
            return ""
        back = rebinding(statement)
        if back is not None and back == (target, _INVERSE.get(operator), operand):
            return f"`{_shown(statement)}` takes it back"
        if overlap(set_by(form[k].tokens) or {target}, names_in(statement.tokens)):
            return ""
    return ""


def rebinding(statement: Statement) -> tuple[str, type, str] | None:
    """`x = x op y` in any spelling: the target, the operator and the operand; None for anything else."""
    if statement.kind != "statement":
        return None
    tree = normal_tree(statement.kind, statement.tokens)
    node = tree.body[0] if tree is not None and tree.body else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.BinOp):
        return None
    target, value = ast.unparse(node.targets[0]), node.value
    if ast.unparse(value.left) == target:
        return target, type(value.op), ast.unparse(value.right)
    if isinstance(value.op, ast.Mult | ast.Add) and ast.unparse(value.right) == target:
        return target, type(value.op), ast.unparse(value.left)
    return None


def _plain_target(statement: Statement) -> str:
    """The one name or attribute that a plain assignment sets; empty for anything else."""
    words = statement.tokens
    if statement.kind != "statement" or "=" not in words or words.count("=") != 1:
        return ""
    target = words[: words.index("=")]
    names = names_in(target)
    return "".join(target) if len(names) == 1 and "".join(target) in names else ""


def _never(form: Statements, header: int) -> bool:
    """Whether a block never runs."""
    words = form[header].tokens
    if words[0] in ("if", "elif", "while"):
        return words[1:] in _NEVER
    if words[0] != "else":
        return False
    before = [n for n in range(header) if form[n].parent == form[header].parent and form[n].kind == "header"]
    return bool(before) and form[before[-1]].tokens[0] == "if" and form[before[-1]].tokens[1:] in _ALWAYS


def _inside(form: Statements, statement: Statement, parent: int) -> bool:
    """Whether a statement stands in a block or in one inside it."""
    return parent < 0 or statement.parent == parent or parent in enclosing(form, statement.parent)


def _shown(statement: Statement) -> str:
    from guard.judge.outcomes import told

    return told(statement)


def paths_meet(form: Sequence[Statement], one: int, other: int) -> bool:
    """Whether a run that gets to the later of two statements has passed the earlier one: no branch parts them."""
    first, second = sorted((one, other))
    around = {-1, second, *enclosing(tuple(form), second)}
    return form[first].parent in around
