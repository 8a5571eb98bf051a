"""One form for all spellings of a piece of syntax: the tokens that are left when formatting, quotes and redundant
brackets are gone. Emitted from the syntax tree, so two pieces have equal tokens when their trees are equal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

_BINARY: dict[type, tuple[str, int]] = {
    ast.Or: ("or", 4), ast.And: ("and", 5),
    ast.BitOr: ("|", 8), ast.BitXor: ("^", 9), ast.BitAnd: ("&", 10), ast.LShift: ("<<", 11), ast.RShift: (">>", 11),
    ast.Add: ("+", 12), ast.Sub: ("-", 12), ast.Mult: ("*", 13), ast.MatMult: ("@", 13), ast.Div: ("/", 13),
    ast.FloorDiv: ("//", 13), ast.Mod: ("%", 13), ast.Pow: ("**", 15),
}  # fmt: skip
_UNARY: dict[type, tuple[str, int]] = {
    ast.Not: ("not", 6), ast.UAdd: ("+", 14), ast.USub: ("-", 14), ast.Invert: ("~", 14),
}  # fmt: skip
_COMPARE: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_ATOM = 20


class Emitter:
    """Collects the tokens of syntax nodes, and the line that each token came from."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.rows: list[int] = []
        self._row = 0

    def word(self, *words: str) -> None:
        """Add tokens at the current line."""
        self.tokens += words
        self.rows += (self._row,) * len(words)

    def node(self, node: ast.AST | None, above: int = 0) -> None:
        """Add one node, in brackets where it binds no tighter than what stands around it.

        Arguments:
            above: how tightly the surrounding operator binds; 0 for none.
        """
        if node is None:
            return
        row = getattr(node, "lineno", None)
        if row is not None:
            self._row = row
        emit = _EMIT.get(type(node))
        if emit is None:
            self._plain(node)
        else:
            emit(self, node, above)

    def series(self, nodes: Sequence[ast.AST | None], opening: str = "", closing: str = "") -> None:
        """Add nodes with commas between them; a trailing comma never stands."""
        if opening:
            self.word(opening)
        for number, node in enumerate(nodes):
            if number:
                self.word(",")
            self.node(node)
        if closing:
            self.word(closing)

    def _plain(self, node: ast.AST) -> None:
        self.word(type(node).__name__.lower())
        for _, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                self.node(value)
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.node(item)
                    elif item is not None:
                        self.word(str(item))
            elif value is not None:
                self.word(str(value))

    def infix(self, level: int, above: int, parts: Callable[[], None]) -> None:
        """Add what `parts` adds, in brackets where `level` binds no tighter than `above`."""
        if level <= above:
            self.word("(")
            parts()
            self.word(")")
        else:
            parts()


def _name(out: Emitter, node: ast.Name, _: int) -> None:
    out.word(node.id)


def _constant(out: Emitter, node: ast.Constant, _: int) -> None:
    out.word("..." if node.value is ... else repr(node.value))


def _attribute(out: Emitter, node: ast.Attribute, _: int) -> None:
    out.node(node.value, _ATOM - 1)
    out.word(".", node.attr)


def _call(out: Emitter, node: ast.Call, _: int) -> None:
    out.node(node.func, _ATOM - 1)
    out.series([*node.args, *node.keywords], "(", ")")


def _keyword(out: Emitter, node: ast.keyword, _: int) -> None:
    if node.arg is None:
        out.word("**")
    else:
        out.word(node.arg, "=")
    out.node(node.value)


def _subscript(out: Emitter, node: ast.Subscript, _: int) -> None:
    out.node(node.value, _ATOM - 1)
    inner = node.slice
    if isinstance(inner, ast.Tuple) and inner.elts:
        out.series(inner.elts, "[", "]")
    else:
        out.word("[")
        out.node(inner)
        out.word("]")


def _slice(out: Emitter, node: ast.Slice, _: int) -> None:
    out.node(node.lower)
    out.word(":")
    out.node(node.upper)
    if node.step is not None:
        out.word(":")
        out.node(node.step)


def _binary(out: Emitter, node: ast.BinOp, above: int) -> None:
    sign, level = _BINARY[type(node.op)]
    right = isinstance(node.op, ast.Pow)

    def parts() -> None:
        out.node(node.left, level if right else level - 1)
        out.word(sign)
        out.node(node.right, level - 1 if right else level)

    out.infix(level, above, parts)


def _boolean(out: Emitter, node: ast.BoolOp, above: int) -> None:
    sign, level = _BINARY[type(node.op)]

    def parts() -> None:
        for number, value in enumerate(node.values):
            if number:
                out.word(sign)
            out.node(value, level)

    out.infix(level, above, parts)


def _unary(out: Emitter, node: ast.UnaryOp, above: int) -> None:
    sign, level = _UNARY[type(node.op)]

    def parts() -> None:
        out.word(sign)
        out.node(node.operand, level - 1)

    out.infix(level, above, parts)


def _compare(out: Emitter, node: ast.Compare, above: int) -> None:
    def parts() -> None:
        out.node(node.left, 7)
        for operator, right in zip(node.ops, node.comparators, strict=True):
            out.word(_COMPARE[type(operator)])
            out.node(right, 7)

    out.infix(7, above, parts)


def _choice(out: Emitter, node: ast.IfExp, above: int) -> None:
    def parts() -> None:
        out.node(node.body, 3)
        out.word("if")
        out.node(node.test, 3)
        out.word("else")
        out.node(node.orelse, 2)

    out.infix(3, above, parts)


def _lambda(out: Emitter, node: ast.Lambda, above: int) -> None:
    def parts() -> None:
        out.word("lambda")
        for number, parameter in enumerate(parameters(node.args)):
            if number:
                out.word(",")
            parameter(out)
        out.word(":")
        out.node(node.body, 1)

    out.infix(2, above, parts)


def _tuple(out: Emitter, node: ast.Tuple, _: int) -> None:
    out.series(node.elts, "(", ",)" if len(node.elts) == 1 else ")")


def _bracketed(opening: str, closing: str) -> Callable[[Emitter, Any, int], None]:
    return lambda out, node, _: out.series(node.elts, opening, closing)


def _dict(out: Emitter, node: ast.Dict, _: int) -> None:
    out.word("{")
    for number, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
        if number:
            out.word(",")
        if key is None:
            out.word("**")
        else:
            out.node(key)
            out.word(":")
        out.node(value)
    out.word("}")


def _starred(out: Emitter, node: ast.Starred, _: int) -> None:
    out.word("*")
    out.node(node.value, 7)


def _joined(out: Emitter, node: ast.JoinedStr, _: int) -> None:
    texts = [str(value.value) for value in node.values if isinstance(value, ast.Constant)]
    if len(texts) == len(node.values):
        out.word(repr("".join(texts)))  # no placeholder: a plain text
        return
    out.word('f"')
    for value in node.values:
        out.node(value)
    out.word('"')


def _formatted(out: Emitter, node: ast.FormattedValue, _: int) -> None:
    out.word("{")
    out.node(node.value)
    if node.conversion != -1:
        out.word("!" + chr(node.conversion))
    if node.format_spec is not None:
        out.word(":")
        out.node(node.format_spec)
    out.word("}")


def _comprehension(opening: str, closing: str) -> Callable[[Emitter, ast.AST, int], None]:
    def emit(out: Emitter, node: ast.AST, _: int) -> None:
        out.word(opening)
        if isinstance(node, ast.DictComp):
            out.node(node.key)
            out.word(":")
            out.node(node.value)
        else:
            out.node(node.elt)  # type: ignore[attr-defined]
        for clause in node.generators:  # type: ignore[attr-defined]
            out.word("async for" if clause.is_async else "for")
            out.node(clause.target)
            out.word("in")
            out.node(clause.iter, 3)
            for test in clause.ifs:
                out.word("if")
                out.node(test, 3)
        out.word(closing)

    return emit


def _prefixed(*words: str) -> Callable[[Emitter, ast.AST, int], None]:
    def emit(out: Emitter, node: ast.AST, above: int) -> None:
        def parts() -> None:
            out.word(*words)
            out.node(node.value, 0)  # type: ignore[attr-defined]

        out.infix(2, above, parts)

    return emit


def _walrus(out: Emitter, node: ast.NamedExpr, _: int) -> None:
    out.word("(")
    out.node(node.target)
    out.word(":=")
    out.node(node.value)
    out.word(")")


def parameters(node: ast.arguments) -> list[Callable[[Emitter], None]]:
    """The parameters of a signature in order, each as a function that emits it."""

    def one(argument: ast.arg, default: ast.expr | None, mark: str = "") -> Callable[[Emitter], None]:
        def emit(out: Emitter) -> None:
            out._row = argument.lineno
            out.word(*([mark] if mark else []), argument.arg)
            if argument.annotation is not None:
                out.word(":")
                out.node(argument.annotation)
            if default is not None:
                out.word("=")
                out.node(default)

        return emit

    positional = [*node.posonlyargs, *node.args]
    defaults = [None] * (len(positional) - len(node.defaults)) + list(node.defaults)
    found = []
    for number, (argument, default) in enumerate(zip(positional, defaults, strict=True), 1):
        found.append(one(argument, default))
        if number == len(node.posonlyargs):
            found.append(lambda out: out.word("/"))
    if node.vararg is not None:
        found.append(one(node.vararg, None, "*"))
    elif node.kwonlyargs:
        found.append(lambda out: out.word("*"))
    found += [one(argument, default) for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True)]
    if node.kwarg is not None:
        found.append(one(node.kwarg, None, "**"))
    return found


def _assign(out: Emitter, node: ast.Assign, _: int) -> None:
    for target in node.targets:
        out.node(target)
        out.word("=")
    out.node(node.value)


def _annotated(out: Emitter, node: ast.AnnAssign, _: int) -> None:
    out.node(node.target)
    out.word(":")
    out.node(node.annotation)
    if node.value is not None:
        out.word("=")
        out.node(node.value)


def _augmented(out: Emitter, node: ast.AugAssign, _: int) -> None:
    out.node(node.target)
    out.word(_BINARY[type(node.op)][0] + "=")
    out.node(node.value)


def _expression(out: Emitter, node: ast.Expr, _: int) -> None:
    out.node(node.value)


def _return(out: Emitter, node: ast.Return, _: int) -> None:
    out.word("return")
    out.node(node.value)


def _raise(out: Emitter, node: ast.Raise, _: int) -> None:
    out.word("raise")
    out.node(node.exc)
    if node.cause is not None:
        out.word("from")
        out.node(node.cause)


def _assert(out: Emitter, node: ast.Assert, _: int) -> None:
    out.word("assert")
    out.node(node.test)
    if node.msg is not None:
        out.word(",")
        out.node(node.msg)


def _delete(out: Emitter, node: ast.Delete, _: int) -> None:
    out.word("del")
    out.series(node.targets)


def _item(out: Emitter, node: ast.withitem, _: int) -> None:
    out.node(node.context_expr)
    if node.optional_vars is not None:
        out.word("as")
        out.node(node.optional_vars)


_EMIT: dict[type, Callable[[Emitter, Any, int], None]] = {
    ast.Name: _name, ast.Constant: _constant, ast.Attribute: _attribute, ast.Call: _call, ast.keyword: _keyword,
    ast.Subscript: _subscript, ast.Slice: _slice, ast.BinOp: _binary, ast.BoolOp: _boolean, ast.UnaryOp: _unary,
    ast.Compare: _compare, ast.IfExp: _choice, ast.Lambda: _lambda, ast.Tuple: _tuple, ast.List: _bracketed("[", "]"),
    ast.Set: _bracketed("{", "}"), ast.Dict: _dict, ast.Starred: _starred, ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted, ast.ListComp: _comprehension("[", "]"), ast.SetComp: _comprehension("{", "}"),
    ast.GeneratorExp: _comprehension("(", ")"), ast.DictComp: _comprehension("{", "}"),
    ast.Await: _prefixed("await"), ast.YieldFrom: _prefixed("yield", "from"), ast.Yield: _prefixed("yield"),
    ast.NamedExpr: _walrus, ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented,
    ast.Expr: _expression, ast.Return: _return, ast.Raise: _raise, ast.Assert: _assert, ast.Delete: _delete,
    ast.withitem: _item,
}  # fmt: skip
