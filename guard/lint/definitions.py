"""Where a value comes from: the assignments that can reach a use, by the structure of the statements.

No fixed point is computed. Walking back from a use through the blocks around it, a definite assignment ends the walk,
one inside a branch is kept as possible, loops add what their bodies assign later. This is the method of reaching
definitions over a structured program, without gotos.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from guard.lint.facts import FileFacts
from guard.lint.nodes import children, statements
from guard.lint.patterns import dotted

Kind = Literal["value", "parameter", "opaque"]
# A method and an assignment in it.
_Given = tuple[ast.AST, ast.stmt]
_IN_PLACE = {"mul_": ast.Mult, "multiply_": ast.Mult, "div_": ast.Div, "divide_": ast.Div, "true_divide_": ast.Div}
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Definition:
    """One assignment that can reach a use: its value, unless it is a parameter or something that is not followed."""

    kind: Kind
    value: ast.expr | None
    statement: ast.stmt | None


_OPAQUE = Definition("opaque", None, None)


def _blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    found = [block for name in _BLOCKS if (block := getattr(statement, name, None)) and isinstance(block, list)]
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        found.append(part.body)
    return found


def _ends(block: list[ast.stmt]) -> bool:
    """Whether control never runs off the end of a block."""
    last = block[-1] if block else None
    if isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return True
    return isinstance(last, ast.If) and bool(last.orelse) and _ends(last.body) and _ends(last.orelse)


class Definitions:
    """Reaching definitions of one file, answered on demand and remembered."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts
        self._bound: dict[ast.stmt, frozenset[str]] = {}
        self._made: dict[tuple[ast.stmt, str], list[Definition]] = {}
        self._reach: dict[tuple[str, ast.stmt], tuple[Definition, ...]] = {}
        self._given: dict[ast.ClassDef, dict[str, list[_Given]]] = {}

    def of(self, node: ast.expr) -> tuple[Definition, ...]:
        """Definitions that reach a name or an attribute of self; empty for anything else and for globals unknown."""
        key = dotted(node)
        if key is None or ("." in key and not (key.startswith("self.") and key.count(".") == 1)):
            return ()
        statement = self.facts.statement(node)
        if statement is None:
            return ()
        bound = self._comprehension(node, key)
        if bound:
            return (_OPAQUE,)
        memo = (key, statement)
        if memo not in self._reach:
            self._reach[memo] = ()  # a cycle through loops finds nothing the second time
            self._reach[memo] = tuple(self._walk(key, statement))
        return self._reach[memo]

    def _comprehension(self, node: ast.AST, key: str) -> bool:
        kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        for above in self.facts.ancestors(node):
            if isinstance(above, ast.stmt):
                return False
            if isinstance(above, kinds):
                for generator in above.generators:
                    if any(isinstance(n, ast.Name) and n.id == key for n in ast.walk(generator.target)):
                        return True
            if isinstance(above, ast.Lambda) and any(a.arg == key for a in _parameters(above.args)):
                return True
        return False

    def _walk(self, key: str, start: ast.stmt) -> list[Definition]:
        out: list[Definition] = []
        current: ast.AST = start
        while True:
            above = self.facts.parents.get(current)
            if above is None:
                return out
            block = next((b for b in _blocks(above) if current in b), None)
            if block is not None:
                index = block.index(current)  # type: ignore[arg-type]
                if self._backwards(block[:index], key, out):
                    return out
                if isinstance(above, ast.For | ast.AsyncFor | ast.While) and block is above.body:
                    self._backwards(block[index:], key, out)
            if isinstance(above, ast.For | ast.AsyncFor) and _targets(above.target, key):
                out.append(_OPAQUE)
                return out
            if isinstance(above, ast.With | ast.AsyncWith) and (items := list(self._items(above, key))):
                out.extend(items)
                return out
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef):
                if any(a.arg == key for a in _parameters(above.args)):
                    out.append(Definition("parameter", None, above))
                    return out
                if key.startswith("self."):
                    if not out:
                        out.extend(self._of_class(key, above))
                    return out
                outer = self.facts.function(above)
                if outer is not None and not out:
                    # A closure reads what the enclosing function last assigned, wherever that stands.
                    if self._backwards(outer.body, key, out):
                        return out
                    if any(a.arg == key for a in _parameters(outer.args)):
                        out.append(Definition("parameter", None, outer))
                        return out
            current = above

    def _of_class(self, key: str, inside: ast.AST) -> list[Definition]:
        """What other methods of the class assign to an attribute of self."""
        holder = self.facts.class_(inside)
        if holder is None:
            return []
        if holder not in self._given:
            self._given[holder] = _given(holder)
        rows = self._given[holder].get(key, ())
        found = [d for method, statement in rows if method is not inside for d in self._simple(statement, key)]
        return [definition for definition in found if definition.kind == "value"]

    def _backwards(self, block: list[ast.stmt], key: str, out: list[Definition]) -> bool:
        """Collect from the end of a block; whether an assignment is definite."""
        return any(key in self.bound(part) and self._effects(part, key, out) for part in reversed(block))

    def _effects(self, statement: ast.stmt, key: str, out: list[Definition]) -> bool:
        if isinstance(statement, ast.If):
            arms = [statement.body, statement.orelse]
            done = [_ends(arm) or self._backwards(arm, key, out) for arm in arms]
            return all(done)
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            self._backwards(statement.body, key, out)
            if isinstance(statement, ast.For | ast.AsyncFor) and _targets(statement.target, key):
                out.append(_OPAQUE)
            return False
        if isinstance(statement, ast.With | ast.AsyncWith):
            if self._backwards(statement.body, key, out):
                return True
            items = list(self._items(statement, key))
            out.extend(items)
            return bool(items)
        if isinstance(statement, ast.Try | ast.TryStar | ast.Match):
            for block in _blocks(statement):
                self._backwards(block, key, out)
            return False
        found = self._simple(statement, key)
        out.extend(found)
        return bool(found)

    def _items(self, statement: ast.With | ast.AsyncWith, key: str) -> Iterator[Definition]:
        for item in statement.items:
            if item.optional_vars is not None and _targets(item.optional_vars, key):
                yield Definition("value", item.context_expr, statement)

    def _simple(self, statement: ast.stmt, key: str) -> list[Definition]:
        memo = (statement, key)
        if memo not in self._made:
            self._made[memo] = list(self._bindings(statement, key))
        return self._made[memo]

    def _bindings(self, statement: ast.stmt, key: str) -> Iterator[Definition]:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from self._assigned(target, statement.value, statement, key)
        elif isinstance(statement, ast.AnnAssign):
            if statement.value is not None and dotted(statement.target) == key:
                yield Definition("value", statement.value, statement)
        elif isinstance(statement, ast.AugAssign):
            if dotted(statement.target) == key:
                yield self._compound(statement.target, statement.op, statement.value, statement)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == key:
                operator = _IN_PLACE.get(call.func.attr)
                if operator is not None and call.args:
                    yield self._compound(call.func.value, operator(), call.args[0], statement)
                elif call.func.attr in {"clamp_", "clamp_min_", "clip_"}:
                    yield Definition("value", call, statement)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if statement.name == key:
                yield Definition("opaque", None, statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom) and any(
            (item.asname or item.name.partition(".")[0]) == key for item in statement.names
        ):
            yield Definition("opaque", None, statement)

    def _assigned(self, target: ast.expr, value: ast.expr, at: ast.stmt, key: str) -> Iterator[Definition]:
        if dotted(target) == key:
            yield Definition("value", value, at)
        elif isinstance(target, ast.Tuple | ast.List):
            for i, part in enumerate(target.elts):
                if isinstance(part, ast.Starred) or not _targets(part, key):
                    continue
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                    yield from self._assigned(part, value.elts[i], at, key)
                else:
                    piece = ast.Subscript(value, ast.Constant(i), ast.Load())
                    ast.copy_location(piece, value)
                    ast.copy_location(piece.slice, value)
                    self.facts.adopt(piece, at)
                    yield from self._assigned(part, piece, at, key)

    def _compound(self, target: ast.expr, operator: ast.operator, value: ast.expr, at: ast.stmt) -> Definition:
        whole = ast.BinOp(target, operator, value)
        ast.copy_location(whole, at)
        self.facts.adopt(whole, at)
        return Definition("value", whole, at)

    def bound(self, statement: ast.stmt) -> frozenset[str]:
        """Names that a statement, blocks inside it included, may assign."""
        known = self._bound.get(statement)
        if known is None:
            names: set[str] = set()
            stack: list[ast.AST] = [statement]
            while stack:
                part = stack.pop()
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names.add(part.name)
                    continue
                if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
                    text = dotted(part)
                    if text:
                        names.add(text)
                    continue
                if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
                    func = part.value.func
                    if isinstance(func, ast.Attribute) and func.attr.endswith("_"):
                        names.add(dotted(func.value) or "")
                if isinstance(part, ast.alias):
                    names.add(part.asname or part.name.partition(".")[0])
                stack.extend(children(part))
            known = self._bound[statement] = frozenset(names)
        return known


def _given(holder: ast.ClassDef) -> dict[str, list[_Given]]:
    """Assignments in the methods of a class by what they assign to, each with its method."""
    table: dict[str, list[_Given]] = {}
    for method in holder.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in statements(method):
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for key in dict.fromkeys(key for target in targets for key in _keys(target)):
                    table.setdefault(key, []).append((method, statement))
    return table


def _keys(target: ast.expr) -> Iterator[str]:
    """Names and attributes that an assignment target gives a value."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _keys(part)
    elif (key := dotted(target)) is not None:
        yield key


def _targets(target: ast.expr, key: str) -> bool:
    return any(isinstance(n, ast.Name | ast.Attribute) and dotted(n) == key for n in ast.walk(target))


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


def parameter_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """All parameter names of a function, `*args` and `**kwargs` included."""
    return [a.arg for a in _parameters(function.args)]
