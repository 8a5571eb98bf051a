"""Walk a syntax tree with the block and the guards that each node stands under."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from guard.documents.expressions import dotted
from guard.documents.outline import Flag
from guard.documents.scopes import Scope

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
_SILENT = (ast.Constant, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.type_ignore)


def _node_types(kind: type[ast.AST] = ast.AST) -> Iterator[type[ast.AST]]:
    for inner in kind.__subclasses__():
        yield inner
        yield from _node_types(inner)


# Fields of a node type that can hold something to read.
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _SILENT_FIELDS) for kind in _node_types()
}


class Walk:
    """Visits nodes; a subclass has a method `_<node type>` for each type that it cares for.

    Attributes:
        scope: the scope that is being read.
        block: path of the block inside the scope, empty outside of compound statements.
        flags: guards (see `Flag`) around the node.
        handlers: what reads a node, by its type; a type that is not there says nothing.
    """

    handlers: ClassVar[dict[type, Callable[..., None]]] = {}

    def __init__(self) -> None:
        self.scope = Scope("module", "", None)
        self.block = ""
        self.flags = 0
        self._blocks = 0

    def __init_subclass__(cls) -> None:
        cls.handlers = {}
        for kind, fields in _FIELDS.items():
            otherwise = Walk.children if fields and not issubclass(kind, _SILENT) else None
            handler = getattr(cls, f"_{kind.__name__}", otherwise)
            if handler is not None:
                cls.handlers[kind] = handler

    def visit(self, node: ast.AST) -> None:
        """Read one node, by its own method or child by child."""
        handler = self.handlers.get(node.__class__)
        if handler is not None:
            handler(self, node)

    def children(self, node: ast.AST) -> None:
        """Read the children of a node."""
        handlers = self.handlers
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name)
            for item in value if value.__class__ is list else (value,):
                handler = handlers.get(item.__class__)
                if handler is not None:
                    handler(self, item)

    def each(self, nodes: Iterable[ast.AST]) -> None:
        """Read several nodes in order."""
        handlers = self.handlers
        for node in nodes:
            handler = handlers.get(node.__class__)
            if handler is not None:
                handler(self, node)

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
