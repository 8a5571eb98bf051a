"""A fixed argument that is passed and does nothing: a newer argument of the same call takes its place in the callee."""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guard.documents.definitions import Definition

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument that a fix set, in a call that now passes more.

    Attributes:
        callee: last name of the function called.
        argument: the keyword that the fix set.
        newer: keywords that the call passes now and did not when it was fixed.
        line: of the call in the version that was asked, counted from the definition's first line (0-based).
    """

    callee: str
    argument: str
    newer: frozenset[str]
    line: int


def arguments_set(before: Definition | None, after: Definition, now: Definition) -> Iterator[Passed]:
    """The keyword arguments that an edit set and that stand as set in `now`, in calls that pass something newer."""
    fixed = _arguments_fixed(before, after)
    if not fixed:
        return
    calls = list(_calls(now))
    for name, told, values in fixed:
        for there, other in calls:
            if there != name:
                continue
            held = _keywords(other)
            newer = frozenset(held) - told
            for keyword, value in values if newer else ():
                if held.get(keyword) == value:
                    yield Passed(name, keyword, newer, other.lineno - 1)


@functools.lru_cache(maxsize=1024)
def _arguments_fixed(
    before: Definition | None, after: Definition
) -> tuple[tuple[str, frozenset[str], tuple[tuple[str, str], ...]], ...]:
    """The calls of an edit with keyword arguments that it set: callee, keywords it passes, keywords set with values."""
    old = {(name, keyword, value) for name, call in _calls(before) for keyword, value in _keywords(call).items()}
    found = []
    for name, call in _calls(after):
        told = _keywords(call)
        fixed = tuple((keyword, value) for keyword, value in told.items() if (name, keyword, value) not in old)
        if fixed:
            found.append((name, frozenset(told), fixed))
    return tuple(found)


def overridden_by(passed: Passed, callee: Definition) -> str | None:
    """The newer argument that makes the fixed one inert in the callee, or None.

    It does where every read of the fixed parameter stands on a path that is taken only while the newer one is None
    (or false): `if newer is None: … fixed …`, `newer or fixed`, `fixed if newer is None else newer`.
    """
    function = _function(callee)
    if function is None:
        return None
    names = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs, *function.args.posonlyargs)}
    if passed.argument not in names:
        return None
    for name in sorted(passed.newer & names):
        reads = list(_reads(function.body, passed.argument, name, False))
        if reads and all(reads):
            return name
    return None


def _reads(nodes: Iterable[ast.AST], wanted: str, newer: str, inert: bool) -> Iterator[bool]:
    """For each read of `wanted`: whether it stands where `newer` is None."""
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == wanted and isinstance(node.ctx, ast.Load):
            yield inert
        elif isinstance(node, ast.If | ast.IfExp):
            absent = _absent(node.test, newer)
            yield from _reads([node.test], wanted, newer, inert)
            body = node.body if isinstance(node.body, list) else [node.body]
            orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
            yield from _reads(body, wanted, newer, inert or absent is True)
            yield from _reads(orelse, wanted, newer, inert or absent is False)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            first = node.values[0]
            hidden = isinstance(first, ast.Name) and first.id == newer
            yield from _reads(node.values[1:], wanted, newer, inert or hidden)
            yield from _reads([first], wanted, newer, inert)
        else:
            yield from _reads(ast.iter_child_nodes(node), wanted, newer, inert)


def _absent(test: ast.expr, name: str) -> bool | None:
    """True where the test holds only while `name` is None or false, False where it holds only while it is not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _absent(test.operand, name)
        return None if inner is None else not inner
    if isinstance(test, ast.Name):
        return False if test.id == name else None
    if (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == name
        and len(test.ops) == 1
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        return True if isinstance(test.ops[0], ast.Is) else False if isinstance(test.ops[0], ast.IsNot) else None
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return next((told for part in test.values if (told := _absent(part, name)) is not None), None)
    return None


def _calls(definition: Definition | None) -> Iterator[tuple[str, ast.Call]]:
    tree = _tree(definition)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            if isinstance(name, str):
                yield name, node


def _keywords(call: ast.Call) -> dict[str, str]:
    return {keyword.arg: ast.dump(keyword.value) for keyword in call.keywords if keyword.arg is not None}


def _function(definition: Definition) -> Function | None:
    tree = _tree(definition)
    first = tree.body[0] if tree is not None and tree.body else None
    return first if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _tree(definition: Definition | None) -> ast.Module | None:
    if definition is None:
        return None
    try:
        return ast.parse(textwrap.dedent(definition.own))
    except (SyntaxError, ValueError, RecursionError):
        return None
