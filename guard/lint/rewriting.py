"""Edits of single expressions and statements in a file's concrete syntax (LibCST, imported only when needed)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from guard.errors import NotAnalysedError

if TYPE_CHECKING:
    import libcst

Key = tuple[int, int, int, int]
Edits = dict[Key, "Replacement"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One edit: the node at a place becomes other code, or a call gets another keyword argument.

    Attributes:
        key: first line, column, last line, column; lines from 1, columns in characters from 0.
        code: the new source.
        statement: whether the place is a statement.
        keyword: the argument that is added, None for a replacement.
    """

    key: Key
    code: str
    statement: bool = False
    keyword: str | None = None

    @classmethod
    def of(cls, node: ast.AST, text: str, code: str) -> Replacement:
        """Replace a node."""
        return cls(place(node, text), code, isinstance(node, ast.stmt))

    @classmethod
    def added(cls, call: ast.Call, text: str, keyword: str, code: str) -> Replacement:
        """Add a keyword argument to a call."""
        return cls(place(call, text), code, False, keyword)


def place(node: Any, text: str) -> Key:
    """Where a node stands, with columns in characters (`ast` counts bytes)."""
    lines = text.split("\n")

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode(errors="replace"))

    first, last = node.lineno, node.end_lineno
    return first, column(first, node.col_offset), last, column(last, node.end_col_offset)


def rewrite(data: bytes, edits: Edits) -> bytes:
    """Apply edits.

    Raises:
        NotAnalysedError: LibCST cannot parse the file, does not give it back unchanged, or does not find a place.
    """
    import libcst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        module = libcst.parse_module(data)
        if module.bytes != data:
            raise NotAnalysedError("an unmodified round trip of the file differs; nothing is fixed in it")
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
        changes: dict[libcst.CSTNode, libcst.CSTNode] = {}
        open_edits = dict(edits)
        for node, span in positions.items():
            key = (span.start.line, span.start.column, span.end.line, span.end.column)
            edit = open_edits.get(key)
            made = _changed(node, edit, module) if edit is not None else None
            if made is not None:
                changes[node] = made
                del open_edits[key]
        if open_edits:
            raise NotAnalysedError("a place to fix was not found in the concrete syntax; nothing is fixed in the file")
        fixed = module.visit(_replacer(changes))
    except NotAnalysedError:
        raise
    except (Exception, RecursionError) as problem:
        # LibCST raises TypeError, RecursionError and its own errors on valid programs; the file is left as it is.
        raise NotAnalysedError(f"LibCST cannot read the file: {type(problem).__name__}: {problem}") from None
    return fixed.bytes


def _changed(node: libcst.CSTNode, edit: Replacement, module: libcst.Module) -> libcst.CSTNode | None:
    """The node after the edit, None where it is not of the kind that the edit means."""
    import libcst

    if edit.statement:
        if not isinstance(node, libcst.BaseSmallStatement):
            return None
        parsed = libcst.parse_statement(edit.code, config=module.config_for_parsing)
        if not isinstance(parsed, libcst.SimpleStatementLine) or len(parsed.body) != 1:
            return None
        return parsed.body[0]
    if not isinstance(node, libcst.BaseExpression):
        return None
    value = libcst.parse_expression(edit.code, config=module.config_for_parsing)
    if edit.keyword is None:
        return value.with_changes(lpar=[*node.lpar, *value.lpar], rpar=[*value.rpar, *node.rpar])
    if not isinstance(node, libcst.Call):
        return None
    return node.with_changes(args=_with_keyword(node, edit.keyword, value))


def _with_keyword(call: libcst.Call, name: str, value: libcst.BaseExpression) -> list[libcst.Arg]:
    """Arguments with one more, laid out as the last one is."""
    import libcst

    tight = libcst.AssignEqual(libcst.SimpleWhitespace(""), libcst.SimpleWhitespace(""))
    comma = libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))
    args = list(call.args)
    added = libcst.Arg(value, keyword=libcst.Name(name), equal=tight)
    if not args:
        return [added]
    last = args[-1]
    if isinstance(last.comma, libcst.Comma):
        # The trailing comma closes the list; the one before it tells how arguments are set apart.
        between = args[-2].comma if len(args) > 1 and isinstance(args[-2].comma, libcst.Comma) else comma
        return [*args[:-1], last.with_changes(comma=between), added.with_changes(comma=last.comma)]
    return [*args[:-1], last.with_changes(comma=comma), added]


def _replacer(changes: dict[libcst.CSTNode, libcst.CSTNode]) -> libcst.CSTTransformer:
    import libcst

    class Replacer(libcst.CSTTransformer):
        def on_leave(self, original_node: Any, updated_node: Any) -> Any:
            return changes.get(original_node, updated_node)

    return Replacer()
