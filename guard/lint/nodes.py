"""Nodes of a scope sorted so that a pattern only meets nodes it can match: by type, calls and attributes by name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from guard.lint.patterns import Pattern, hole_name

# Fields that hold text, numbers, or objects that all trees share (contexts and operators).
_NO_NODES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "type_ignores", "lineno", "level", "module"}
    | {"simple", "is_async", "conversion", "rest", "kwd_attrs"}
)
_LEAVES = (ast.Name, ast.Constant, ast.alias, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
_INNER = {
    kind: () if issubclass(kind, _LEAVES) else tuple(name for name in kind._fields if name not in _NO_NODES)
    for kind in _KINDS
}
# Fields of statements, handlers and cases that hold statements, handlers and cases.
BLOCKS = {
    kind: tuple(name for name in kind._fields if name in {"body", "handlers", "orelse", "finalbody", "cases"})
    for kind in _KINDS
    if not issubclass(kind, ast.expr)
}


def children(node: ast.AST) -> list[ast.AST]:
    """Nodes right below a node; contexts and operators, which are shared objects, are left out."""
    found: list[ast.AST] = []
    for name in _INNER[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def parents_of(tree: ast.AST, deepest: int) -> dict[ast.AST, ast.AST] | None:
    """Every node below a tree, level by level, with the node right above it; None where it has too many levels."""
    parents: dict[ast.AST, ast.AST] = {}
    level: list[ast.AST] = [tree]
    for _ in range(deepest):
        below: list[ast.AST] = []
        # The loop over `children`, written out: it meets every node of every file that is looked at.
        for node in level:
            for name in _INNER[node.__class__]:
                value = getattr(node, name, None)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            parents[item] = node
                            below.append(item)
                elif isinstance(value, ast.AST):
                    parents[value] = node
                    below.append(value)
        if not below:
            return parents
        level = below
    return None


def statements(scope: ast.AST) -> list[ast.AST]:
    """A statement and all those inside it, level by level, as `ast.walk` meets them; with handlers and cases."""
    found = [scope]
    for node in found:
        for name in BLOCKS[node.__class__]:
            found += getattr(node, name)
    return found


def descend(scope: ast.AST) -> list[ast.AST]:
    """A node and all nodes below it."""
    found = [scope]
    for node in found:
        found += children(node)
    return found


def _detail(head: ast.AST) -> type[ast.AST] | None:
    """What tells candidates of one type apart further: the operator, the kind of what is assigned or returned."""
    if isinstance(head, ast.BinOp | ast.AugAssign):
        return type(head.op)
    if isinstance(head, ast.Assign | ast.Return) and head.value is not None and hole_name(head.value) is None:
        return type(head.value)
    return None


class NodeIndex:
    """An index over the nodes of one scope.

    Args:
        nodes: the nodes.
        imports: local name to qualified name, to see through `import … as`.
    """

    def __init__(self, nodes: Iterable[ast.AST], imports: Mapping[str, str]) -> None:
        self.by_type: defaultdict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in nodes:
            self.by_type[node.__class__].append(node)
        self._imports = imports
        self._detailed: dict[type[ast.AST], dict[type[ast.AST], list[ast.AST]]] = {}
        self._named: dict[type[ast.AST], dict[str, list[ast.AST]]] = {}

    def of(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """Nodes of some types."""
        if len(kinds) == 1:
            return self.by_type.get(kinds[0], [])
        return [node for kind in kinds for node in self.by_type.get(kind, ())]

    def calls(self, name: str) -> list[ast.AST]:
        """Calls whose callee ends in this name, through import aliases."""
        return self._by_name(ast.Call).get(name, [])

    def for_pattern(self, pattern: Pattern) -> Sequence[ast.AST]:
        """Nodes that a pattern can match at all."""
        head = pattern.head
        if pattern.name is not None:
            if isinstance(head, ast.Call):
                return self.calls(pattern.name)
            return [*self._by_name(ast.Attribute).get(pattern.name, ()), *self._by_name(ast.Name).get(pattern.name, ())]
        if isinstance(head, ast.Name | ast.Attribute):
            return [node for kind, nodes in self.by_type.items() if issubclass(kind, ast.expr) for node in nodes]
        detail = _detail(head)
        if detail is None:
            return self.by_type.get(type(head), [])
        if type(head) not in self._detailed:
            table: dict[type[ast.AST], list[ast.AST]] = {}
            for node in self.by_type.get(type(head), ()):
                table.setdefault(_detail(node) or type(node), []).append(node)
            self._detailed[type(head)] = table
        return self._detailed[type(head)].get(detail, [])

    def _by_name(self, kind: type[ast.AST]) -> dict[str, list[ast.AST]]:
        if kind not in self._named:
            table: dict[str, list[ast.AST]] = {}
            for node in self.by_type.get(kind, ()):
                table.setdefault(self.last_name(node), []).append(node)
            self._named[kind] = table
        return self._named[kind]

    def last_name(self, node: ast.AST) -> str:
        """Last name of a callee, attribute or name, the imported one where it was renamed; empty for others."""
        target = node.func if isinstance(node, ast.Call) else node
        if isinstance(target, ast.Attribute):
            return target.attr
        if isinstance(target, ast.Name):
            return self._imports.get(target.id, target.id).rpartition(".")[2]
        return ""
