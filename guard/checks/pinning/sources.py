"""The statements of an edit as syntax trees: the pre-fix and post-fix forms that a pin speaks of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from guard.documents.decoding import decode
from guard.documents.definitions import MODULE
from guard.documents.statements import Statement
from guard.errors import NotAnalysedError
from guard.provenance.fixes import FixEdit

Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Unit:
    """One edited statement.

    Attributes:
        old, new: its form before and after; None where there is none.
        weight: how much it counts among the edits of the fix.
        moved_over: for a statement that only moved: the statement that it now stands before (or, with `behind`, after).
    """

    old: ast.stmt | None
    new: ast.stmt | None
    weight: float
    moved_over: ast.stmt | None = None
    behind: bool = False


@dataclass(frozen=True, slots=True)
class EditSource:
    """One definition before and after a fix, as syntax trees.

    Attributes:
        old, new: the definition; None where the file has none.
        units: the edited statements, heaviest first.
        old_lines: first and last line of the definition before.
    """

    edit: FixEdit
    old: Owner | None
    new: Owner | None
    units: tuple[Unit, ...]
    old_lines: tuple[int, int]


def edit_source(edit: FixEdit, before: bytes | None, after: bytes | None) -> EditSource:
    """The syntax trees of an edit.

    Arguments:
        before, after: the whole file in the parent and in the fix.
    """
    old, new = _owner(before, edit.symbol), _owner(after, edit.symbol)
    old_at, new_at = _by_line(old), _by_line(new)
    known = edit.before.statements if edit.before else ()
    made = edit.after.statements if edit.after else ()
    units = []
    for (i, j), weight in edit.weights.items():
        one = _node(known[i], old_at) if i >= 0 else None
        other = _node(made[j], new_at) if j >= 0 else None
        if one is not None or other is not None:
            units.append(Unit(one, other, weight))
    units = _paired(units)
    units += _moves(units)
    units.sort(key=lambda unit: -unit.weight)
    lines = (edit.before.line, edit.before.end_line) if edit.before else (1, 1)
    return EditSource(edit, old, new, tuple(units), lines)


def inner_statements(owner: ast.AST) -> Iterator[ast.stmt]:
    """All statements of a definition in order, nested definitions left out."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.stmt):
            if isinstance(node, _DEFINITIONS):
                continue
            yield node
            yield from inner_statements(node)
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            yield from inner_statements(node)


def text_of(node: ast.AST) -> str:
    """The source of a node, as Python writes it."""
    return ast.unparse(node)


def _paired(units: list[Unit]) -> list[Unit]:
    """The units, with a statement taken out and one put in for the same target taken as one that changed."""
    left = [unit for unit in units if unit.new is None]
    paired = []
    for unit in units:
        target = target_of(unit.new) if unit.old is None and unit.new is not None else None
        match = next((o for o in left if target and o.old is not None and target_of(o.old) == target), None)
        if match is None or (
            unit.new is not None and match.old is not None and text_of(unit.new) == text_of(match.old)
        ):
            paired.append(unit)
            continue
        left.remove(match)
        paired.append(Unit(match.old, unit.new, unit.weight))
    gone = {id(unit) for unit in units if unit.new is None} - {id(unit) for unit in left}
    return [unit for unit in paired if id(unit) not in gone]


def target_of(node: ast.stmt) -> str | None:
    """What stands before the value of an assignment or return; None for other statements."""
    if isinstance(node, ast.Assign):
        return "".join(f"{text_of(target)} = " for target in node.targets)
    if isinstance(node, ast.AugAssign):
        return text_of(node).partition("=")[0] + "= "
    if isinstance(node, ast.AnnAssign):
        return f"{text_of(node.target)}: $_ = "
    return "return " if isinstance(node, ast.Return) else None


def _moves(units: list[Unit]) -> Iterator[Unit]:
    """Statements that were taken out at one place and put in at another."""
    gone = {text_of(unit.old): unit for unit in units if unit.old is not None and unit.new is None}
    for unit in units:
        if unit.new is not None and unit.old is None and text_of(unit.new) in gone:
            old = gone[text_of(unit.new)].old
            assert old is not None
            yield Unit(old, unit.new, unit.weight + 1.0, unit.new, False)


def _owner(data: bytes | None, symbol: str) -> Owner | None:
    if data is None:
        return None
    try:
        owner: Owner = ast.parse(decode(data).text)
    except (NotAnalysedError, SyntaxError, ValueError, RecursionError):
        return None
    if symbol == MODULE:
        return owner
    for name in symbol.split("."):
        found = next((n for n in _definitions(owner) if n.name == name), None)
        if found is None:
            return None
        owner = found
    return owner


def _definitions(owner: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, _DEFINITIONS):
            yield node
        elif isinstance(node, ast.stmt | ast.ExceptHandler):
            yield from _definitions(node)


def _by_line(owner: Owner | None) -> dict[int, ast.stmt]:
    found: dict[int, ast.stmt] = {}
    for node in inner_statements(owner) if owner is not None else ():
        found.setdefault(node.lineno, node)
    return found


def _node(statement: Statement, known: dict[int, ast.stmt]) -> ast.stmt | None:
    if statement.kind not in ("statement", "header"):
        return None
    node = known.get(statement.line)
    compound = isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try)
    return node if compound is (statement.kind == "header") else None
