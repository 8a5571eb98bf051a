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


def effect(statements: Iterable[ast.AST]) -> Effect:
    """What statements set, read and do; the inside of functions is read only."""
    sets: set[str] = set()
    reads: set[str] = set()
    acts = leaves = False
    for statement in statements:
        for node in ast.walk(statement):
            leaves = leaves or (isinstance(node, _LEAVES) and not isinstance(statement, type_of_definition))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                acts = acts or not isinstance(statement, type_of_definition)
                if isinstance(node.value.func, ast.Attribute):
                    sets.add(_dotted(node.value.func.value))
            if isinstance(node, ast.Assert | ast.Delete):
                acts = True
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                name = _dotted(node)
                if isinstance(node.ctx, ast.Load):
                    reads.add(name)
                else:
                    sets.add(name)
            elif isinstance(node, type_of_definition):
                sets.add(node.name)
            elif isinstance(node, ast.alias):
                sets.add((node.asname or node.name).split(".")[0])
            elif isinstance(node, ast.AugAssign):
                reads.add(_dotted(node.target))
            elif isinstance(node, ast.ExceptHandler) and node.name:
                sets.add(node.name)
    return Effect(frozenset(sets - {""}), frozenset(reads - {""}), acts, leaves)


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
    effects = [effect(statement for node in nodes for statement in node.statements) for nodes in (one, other)]
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
