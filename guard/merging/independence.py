"""Whether two edits bear on each other: by the names that they set and read, and by what they do besides."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guard.documents.statements import type_of_definition
from guard.judge.numeric import is_numeric
from guard.merging.syntax import Node, registration, tokens_of

_LEAVES = (
    ast.Return,
    ast.Raise,
    ast.Break,
    ast.Continue,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What statements do.

    Attributes:
        sets, reads: dotted names.
        acts: whether they call something for what it does, so that their order may matter.
        leaves: whether they leave the block, or wait.
    """

    sets: frozenset[str]
    reads: frozenset[str]
    acts: bool
    leaves: bool

    def touches(self, other: Effect) -> bool:
        """Whether one sets what the other sets or reads."""
        return bool(_meet(self.sets, other.sets) or _meet(self.sets, other.reads) or _meet(other.sets, self.reads))


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether a name of one set is, or is part of, a name of the other."""
    if some & others:
        return True
    return any(one.startswith(other + ".") or other.startswith(one + ".") for one in some for other in others)


def effect(statements: Iterable[ast.AST], *, in_order: bool = False) -> Effect:
    """What statements set, read and do.

    Arguments:
        in_order: their order to what they are compared with is known, so that a method called on an object is not taken
            for one that changes all of it.
    """
    found = _Effects(in_order)
    for statement in statements:
        found.inside = isinstance(statement, type_of_definition)
        found.visit(statement)
    return Effect(frozenset(found.sets - {""}), frozenset(found.reads - {""}), found.acts, found.leaves)


class _Effects(ast.NodeVisitor):
    """Collects names as the longest dotted chains that are read or set."""

    def __init__(self, in_order: bool) -> None:
        self.sets: set[str] = set()
        self.reads: set[str] = set()
        self.acts = self.leaves = self.inside = False
        self.in_order = in_order

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _LEAVES):
            self.leaves = self.leaves or not self.inside
        elif isinstance(node, ast.Assert | ast.Delete):
            self.acts = True
        elif isinstance(node, type_of_definition):
            self.sets.add(node.name)
        elif isinstance(node, ast.alias):
            self.sets.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.AugAssign):
            self.reads.add(_dotted(node.target))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self.sets.add(node.name)
        super().generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for what it does: it may change what it is called on."""
        if isinstance(node.value, ast.Call):
            self.acts = self.acts or not self.inside
            if isinstance(node.value.func, ast.Attribute) and not self.in_order:
                self.sets.add(_dotted(node.value.func.value))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """A name by itself."""
        self._chain(node, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """A chain of attributes; what it hangs on is read, if that is no name."""
        self._chain(node, node.ctx)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """An item counts as the whole; the index is read."""
        self._chain(node, node.ctx)
        self.visit(node.slice)

    def _chain(self, node: ast.Name | ast.Attribute | ast.Subscript, context: ast.expr_context) -> None:
        name = _dotted(node)
        if name:
            (self.reads if isinstance(context, ast.Load) else self.sets).add(name)
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute | ast.Subscript):
            if isinstance(inner, ast.Subscript) and inner is not node:
                self.visit(inner.slice)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            self.visit(inner)


def _dotted(node: ast.AST) -> str:
    """`self.x` of `self.x[0]`; empty where it hangs on no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    if isinstance(node, ast.Subscript | ast.Starred):
        return _dotted(node.value)
    return ""


def is_loose(node: Node, scope: str) -> bool:
    """Whether a statement stands for itself: a definition, an import, a field, a registration."""
    statement = node.only
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, type_of_definition):
        return scope != "def"
    return registration(statement) is not None


def apart(one: Sequence[Node], other: Sequence[Node], scope: str, *, in_order: bool) -> str | None:
    """Whether statements that one side put in, took out or changed leave those of the other side alone.

    Arguments:
        scope: `module`, `class` or `def`: where both stand.
        in_order: whether the order of the two is known, as of edits in different statements; else they are put in at
            one place.

    Returns:
        None where they do, else why not.
    """
    if not one or not other:
        return None
    keys = [
        {node.key for node in nodes if node.key and node.key[0] not in ("from", "header")} for nodes in (one, other)
    ]
    if not in_order and keys[0] & keys[1]:
        return "both sides put in the same name"
    if _clash(one, other):
        return "both sides bind the same name"
    if all(is_loose(node, scope) for node in one) and all(is_loose(node, scope) for node in other):
        return None
    if any(_is_field_without_value(node) for node in (*one, *other)) and scope == "class" and not in_order:
        return "both sides put in fields, and one has no default"
    effects = [
        effect((part for node in nodes for part in node.statements), in_order=in_order) for nodes in (one, other)
    ]
    if effects[0].touches(effects[1]):
        return "what one side changed bears on what the other changed"
    if not in_order and (effects[0].leaves or effects[1].leaves):
        return "both sides put something in at one place, and one of them leaves the block"
    if not in_order and effects[0].acts and effects[1].acts:
        return "both sides put in calls at one place, and their order may matter"
    if scope == "def" and all(is_numeric(_tokens(nodes)) for nodes in (one, other)):
        return "both sides changed numeric code"
    return None


def _clash(one: Sequence[Node], other: Sequence[Node]) -> bool:
    """Whether both bind one name to different things; a property and its setter share theirs rightly."""
    first, second = _bound(one), _bound(other)
    return any(second[name] != thing for name, thing in first.items() if name in second)


def _bound(nodes: Sequence[Node]) -> dict[str, str]:
    """What imports and definitions bind, by name."""
    found = {}
    for node in nodes:
        statement = node.only
        if isinstance(statement, type_of_definition) and node.key is not None and not node.key[2]:
            found[statement.name] = node.code
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            module = f"{statement.level} {statement.module}" if isinstance(statement, ast.ImportFrom) else ""
            for alias in statement.names:
                if isinstance(statement, ast.Import) and alias.asname is None:
                    found[alias.name.split(".")[0]] = "package"
                else:
                    found[alias.asname or alias.name] = f"{module} {alias.name}"
    return found


def _is_field_without_value(node: Node) -> bool:
    return isinstance(node.only, ast.AnnAssign) and node.only.value is None


def _tokens(nodes: Sequence[Node]) -> list[str]:
    return [token for node in nodes for token in tokens_of(node.statements)]
