"""Walk a syntax tree with the block and the guards that each node stands under."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import ClassVar

from guard.source.expressions import dotted
from guard.source.outline import Flag
from guard.source.scopes import Scope

_GUARDS = {
    "ImportError": Flag.GUARD_IMPORT,
    "ModuleNotFoundError": Flag.GUARD_IMPORT,
    "NameError": Flag.GUARD_NAME,
    "AttributeError": Flag.GUARD_ATTRIBUTE | Flag.GUARD_IMPORT,
    "TypeError": Flag.GUARD_CALL,
    "Exception": Flag.GUARD_IMPORT,
    "BaseException": Flag.GUARD_IMPORT,
}
_EXPECTS_FAILURE = {"raises", "assertRaises", "assertRaisesRegex", "suppress"}
_ALL_GUARDS = Flag.GUARD_IMPORT | Flag.GUARD_NAME | Flag.GUARD_ATTRIBUTE | Flag.GUARD_CALL


_SILENT_FIELDS = {"ctx", "op", "ops", "kind", "type_comment", "attr", "id", "name", "names", "is_async", "simple"}


_KNOWN_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Fields of a node type that can hold something to read."""
    known = _KNOWN_FIELDS.get(kind)
    if known is None:
        known = _KNOWN_FIELDS[kind] = tuple(name for name in kind._fields if name not in _SILENT_FIELDS)
    return known


class Walk:
    """Visits nodes; a subclass has a method `_<node type>` for each type that it cares for.

    Attributes:
        scope: the scope that is being read.
        block: path of the block inside the scope, empty outside of compound statements.
        flags: guards (see `Flag`) around the node.
    """

    _handlers: ClassVar[dict[type, Callable[..., None]]] = {}

    def __init__(self) -> None:
        self.scope = Scope("module", "", None)
        self.block = ""
        self.flags = 0
        self._blocks = 0

    def __init_subclass__(cls) -> None:
        cls._handlers = {
            getattr(ast, name[1:]): getattr(cls, name)
            for name in dir(cls)
            if name[1:2].isupper() and hasattr(ast, name[1:])
        }

    def visit(self, node: ast.AST) -> None:
        """Read one node, by its own method or child by child."""
        handler = self._handlers.get(type(node))
        if handler is not None:
            handler(self, node)
        else:
            self.children(node)

    def children(self, node: ast.AST) -> None:
        """Read the children of a node."""
        for name in _fields(type(node)):
            value = getattr(node, name)
            if value.__class__ is list:
                for item in value:
                    if item is not None and item.__class__ is not str:
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def _Constant(self, node: ast.Constant) -> None:  # noqa: N802
        """A literal says nothing here."""

    def each(self, nodes: Iterable[ast.AST]) -> None:
        """Read several nodes in order."""
        for node in nodes:
            self.visit(node)

    # blocks

    def _inside(self, body: Iterable[ast.AST], branch: str, flags: int = 0) -> None:
        saved = self.block, self.flags
        self._blocks += 1
        self.block = f"{self.block}/{branch}{self._blocks}"
        self.flags |= flags | Flag.CONDITIONAL
        self.each(body)
        self.block, self.flags = saved

    def _If(self, node: ast.If) -> None:  # noqa: N802
        self.visit(node.test)
        typing = dotted(node.test).endswith("TYPE_CHECKING")
        self._inside(node.body, "if", Flag.TYPING if typing else 0)
        if node.orelse:
            self._inside(node.orelse, "else")

    def _Try(self, node: ast.Try) -> None:  # noqa: N802
        guards = 0
        for handler in node.handlers:
            caught = handler.type
            names = caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught else []
            for name in names:
                guards |= _GUARDS.get(dotted(name).rpartition(".")[2], 0)
            guards |= 0 if caught else Flag.GUARD_IMPORT
        self._inside(node.body, "try", guards)
        for handler in node.handlers:
            if handler.type:
                self.visit(handler.type)
            if handler.name:
                self.scope.bind(handler.name)
            self._inside(handler.body, "except")
        self._inside(node.orelse, "orelse")
        self._inside(node.finalbody, "finally")

    _TryStar = _Try

    def _With(self, node: ast.With | ast.AsyncWith) -> None:  # noqa: N802
        guards = 0
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars:
                self.visit(item.optional_vars)
            called = item.context_expr
            if isinstance(called, ast.Call) and dotted(called.func).rpartition(".")[2] in _EXPECTS_FAILURE:
                guards = _ALL_GUARDS
        self._inside(node.body, "with", guards)

    _AsyncWith = _With

    def _For(self, node: ast.For | ast.AsyncFor) -> None:  # noqa: N802
        self.visit(node.iter)
        self.visit(node.target)
        self._inside(node.body, "for")
        self._inside(node.orelse, "orelse")

    _AsyncFor = _For

    def _While(self, node: ast.While) -> None:  # noqa: N802
        self.visit(node.test)
        self._inside(node.body, "while")
        self._inside(node.orelse, "orelse")

    def _match_capture(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.scope.bind(node.name)
        self.children(node)

    _MatchAs = _MatchStar = _match_capture

    def _MatchMapping(self, node: ast.MatchMapping) -> None:  # noqa: N802
        if node.rest:
            self.scope.bind(node.rest)
        self.children(node)
