"""A Python file as a tree of statements that know their text: comments and blank lines go with what follows them."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from guard.documents.canonical import Emitter
from guard.documents.segments import split
from guard.documents.statements import type_of_definition
from guard.merging.hunks import Lines, lines_of

Key = tuple[str, ...]


@dataclass(eq=False)
class Node:
    """One statement (or several that share lines).

    Attributes:
        statements: the syntax, parsed from a piece of the file.
        offset: lines of the file before that piece.
        lines: all lines of the file, with their ends.
        first: index of its first line, comments and blank lines before it included.
        start: index of the line where its code (or its first decorator) begins.
        end: index behind its last line.
    """

    statements: tuple[ast.stmt, ...]
    offset: int
    lines: Lines = field(repr=False)
    first: int = 0
    start: int = 0
    end: int = 0
    documentation: bool = False

    @property
    def only(self) -> ast.stmt | None:
        """Its statement; None where several share lines."""
        return self.statements[0] if len(self.statements) == 1 else None

    @functools.cached_property
    def lead(self) -> str:
        """The comments and blank lines before it."""
        return "".join(self.lines[self.first : self.start])

    @functools.cached_property
    def text(self) -> str:
        """Its own lines as they stand."""
        return "".join(self.lines[self.start : self.end])

    @functools.cached_property
    def code(self) -> str:
        """What it says, whatever its formatting: equal where the syntax trees are equal."""
        return "\n".join(ast.dump(statement) for statement in self.statements)

    def says(self, other: Node) -> bool:
        """Whether two statements say the same."""
        return self.text == other.text or same(list(self.statements), list(other.statements))

    @functools.cached_property
    def tokens(self) -> tuple[str, ...]:
        """Its canonical tokens, inner blocks included."""
        return tokens_of(self.statements)

    @functools.cached_property
    def bag(self) -> Counter[str]:
        """Its tokens by count."""
        return Counter(self.tokens)

    @functools.cached_property
    def key(self) -> Key | None:
        """What makes it the same statement in another version although it changed: its name, target or source."""
        if self.documentation:
            return ("documentation",)
        return _key(self.only) if self.only is not None else None

    @functools.cached_property
    def parts(self) -> tuple[Part, ...]:
        """Its headers and the blocks under them; empty where it has none, or shares their lines."""
        return tuple(_parts(self)) if self.only is not None else ()

    @functools.cached_property
    def comments(self) -> tuple[str, ...]:
        """The comments inside its own lines."""
        return comments_in(self.text)


@dataclass(eq=False)
class Block:
    """Statements in order, and the lines behind the last one (comments, blank lines) up to the end of the block."""

    nodes: tuple[Node, ...]
    lines: Lines = field(repr=False)
    first: int
    end: int

    @property
    def tail(self) -> str:
        """The lines behind the last statement."""
        return "".join(self.lines[self.tail_start : self.end])

    @property
    def tail_start(self) -> int:
        """Index of the first line behind the last statement."""
        return self.nodes[-1].end if self.nodes else self.first


@dataclass(eq=False)
class Part:
    """One header with its block: `def …:`, `if …:`, `else:`, `except …:`.

    Attributes:
        kind: `def`, `class`, `if`, `elif`, `else`, `for`, `while`, `with`, `try`, `except` or `finally`.
        owner: the syntax node that the header belongs to.
        start, end: the lines of the header.
    """

    kind: str
    owner: ast.AST
    offset: int
    lines: Lines = field(repr=False)
    start: int
    end: int
    block: Block

    @property
    def text(self) -> str:
        """The header's lines as they stand."""
        return "".join(self.lines[self.start : self.end])

    @functools.cached_property
    def code(self) -> str:
        """What the header says, the block aside."""
        return self.kind + " " + "\n".join(ast.dump(node) for node in head_of(self.owner, self.kind))


def read(text: str, memo: dict[str, ast.Module]) -> Block:
    """Parse a file.

    Arguments:
        text: the program, lines ended by newlines.
        memo: parsed pieces by their text; the versions of a file share most of them.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python that this interpreter can read.
    """
    lines = lines_of(text)
    found: list[tuple[ast.stmt, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for offset, chunk in split(text):
                tree = memo.get(chunk)
                if tree is None:
                    tree = memo[chunk] = ast.parse(chunk)
                found += [(statement, offset) for statement in tree.body]
        except SyntaxError:  # a line of a long string looked like a definition, or this is no Python
            found = [(statement, 0) for statement in ast.parse(text).body]
    return _block(found, lines, 0, len(lines), documented=True)


def _block(
    body: Sequence[tuple[ast.stmt, int]], lines: Lines, first: int, end: int, *, documented: bool = False
) -> Block:
    nodes: list[Node] = []
    position = first
    for number, (statement, offset) in enumerate(body):
        start = _first_line(statement) + offset - 1
        stop = (statement.end_lineno or statement.lineno) + offset
        if nodes and start < nodes[-1].end:
            last = nodes[-1]
            last.statements = (*last.statements, statement)
            last.end = position = max(stop, last.end)
            last.documentation = False
            continue
        documentation = documented and number == 0 and is_string(statement)
        nodes.append(Node((statement,), offset, lines, position, start, stop, documentation))
        position = stop
    return Block(tuple(nodes), lines, first, end)


def is_string(statement: ast.stmt) -> bool:
    """Whether a statement is a string that nothing reads."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _parts(node: Node) -> Iterator[Part]:
    """The headers and blocks of a compound statement, each block reaching to the next header."""
    cuts = list(_bodies(node.only)) if node.only is not None else []
    if not cuts:
        return
    starts = [node.start]
    previous: ast.stmt | None = None
    for kind, owner, body in cuts:
        if previous is not None:
            line = getattr(owner, "lineno", None) if kind in ("except", "elif") else None
            after = (previous.end_lineno or previous.lineno) + node.offset
            found = (line + node.offset - 1) if line is not None else _header_line(node, kind, after)
            starts.append(-1 if found is None else found)
        previous = body[-1]
    for number, (kind, owner, body) in enumerate(cuts):
        start = starts[number]
        end = starts[number + 1] if number + 1 < len(cuts) else node.end
        first = _first_line(body[0]) + node.offset - 1
        last_header = node.offset + _last_line_of_head(owner, kind)
        if start < 0 or end < 0 or first <= start or first < last_header:  # a block on the line of its header
            return
        behind = _behind_colon(node.lines, max(start, last_header - 1), first)
        documented = kind in ("def", "class")
        block = _block([(statement, node.offset) for statement in body], node.lines, behind, end, documented=documented)
        yield Part(kind, owner, node.offset, node.lines, start, behind, block)


def _header_line(node: Node, kind: str, after: int) -> int | None:
    """The line of an `else:` or `finally:` behind a line."""
    for index in range(after, node.end):
        if node.lines[index].lstrip().startswith(kind):
            return index
    return None


def _behind_colon(lines: Lines, at: int, first: int) -> int:
    """The index behind the line that ends a header: comments and blank lines after it belong to the block."""
    for index in range(first - 1, at - 1, -1):
        stripped = lines[index].strip()
        if stripped and not stripped.startswith("#"):
            return index + 1
    return at + 1


def _last_line_of_head(owner: ast.AST, kind: str) -> int:
    """The last line (1-based) that the header is known to reach."""
    lines = [1 if kind in ("else", "finally") else int(getattr(owner, "lineno", 1))]
    lines += [int(getattr(node, "end_lineno", None) or 1) for node in head_of(owner, kind)]
    return max(lines)


def _bodies(statement: ast.stmt | None) -> Iterator[tuple[str, ast.AST, list[ast.stmt]]]:
    """The blocks of a statement: kind and owner of the header, and the body."""
    if isinstance(statement, type_of_definition):
        yield ("class" if isinstance(statement, ast.ClassDef) else "def"), statement, statement.body
    elif isinstance(statement, ast.If):
        yield from _branches(statement, "if")
    elif isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        yield ("while" if isinstance(statement, ast.While) else "for"), statement, statement.body
        if statement.orelse:
            yield "else", statement, statement.orelse
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield "with", statement, statement.body
    elif isinstance(statement, ast.Try):
        yield "try", statement, statement.body
        for handler in statement.handlers:
            yield "except", handler, handler.body
        if statement.orelse:
            yield "else", statement, statement.orelse
        if statement.finalbody:
            yield "finally", statement, statement.finalbody


def _branches(statement: ast.If, kind: str) -> Iterator[tuple[str, ast.AST, list[ast.stmt]]]:
    yield kind, statement, statement.body
    rest = statement.orelse
    # An `elif` is parsed as an `if` that stands where its own keyword stands.
    if len(rest) == 1 and isinstance(rest[0], ast.If) and rest[0].col_offset == statement.col_offset:
        yield from _branches(rest[0], "elif")
    elif rest:
        yield "else", statement, rest


def head_of(owner: ast.AST, kind: str) -> list[ast.AST]:
    """The syntax of a header, the block aside."""
    if isinstance(owner, ast.ClassDef):
        return [*owner.decorator_list, ast.Name(owner.name), *owner.bases, *owner.keywords]
    if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        word = ast.Name(("async " if isinstance(owner, ast.AsyncFunctionDef) else "") + owner.name)
        return [*owner.decorator_list, word, owner.args, *([owner.returns] if owner.returns else [])]
    if kind in ("else", "finally", "try"):
        return []
    if isinstance(owner, ast.If | ast.While):
        return [owner.test]
    if isinstance(owner, ast.For | ast.AsyncFor):
        return [ast.Name(type(owner).__name__), owner.target, owner.iter]
    if isinstance(owner, ast.With | ast.AsyncWith):
        return [ast.Name(type(owner).__name__), *owner.items]
    if isinstance(owner, ast.ExceptHandler):
        return [*([owner.type] if owner.type else []), ast.Name(owner.name or "")]
    return []


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _key(statement: ast.stmt | None) -> Key | None:
    if isinstance(statement, type_of_definition):
        # A property and its setter share their name; what tells them apart is how they are decorated.
        roles = [ast.unparse(d) for d in statement.decorator_list]
        role = next((r for r in roles if r.endswith((".setter", ".getter", ".deleter", ".register", "overload"))), "")
        return ("definition", statement.name, role)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return ("assignment", ast.dump(statement.targets[0]))
    if isinstance(statement, ast.AnnAssign):
        return ("assignment", ast.dump(statement.target))
    if isinstance(statement, ast.ImportFrom):
        return ("from", "." * statement.level + (statement.module or ""))
    if isinstance(statement, ast.Import):
        return ("import", *(f"{alias.name} {alias.asname}" for alias in statement.names))
    if isinstance(statement, ast.Expr):
        return registration(statement)
    parts = list(_bodies(statement))
    if parts:
        kind, owner, _ = parts[0]
        if kind not in ("try",):
            return ("header", kind, *(ast.dump(node) for node in head_of(owner, kind)))
    return None


def registration(statement: ast.stmt | None) -> Key | None:
    """The key of a call that adds something under a name, as `parser.add_argument("--x")`; None for anything else."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    if isinstance(call.func, ast.Attribute) and call.args and isinstance(call.args[0], ast.Constant):
        name = call.args[0].value
        verb = call.func.attr
        if isinstance(name, str) and verb.startswith(("add_", "register", "set_default")):
            return ("registration", ast.dump(call.func), name)
    return None


def tokens_of(nodes: Sequence[ast.AST]) -> tuple[str, ...]:
    """The canonical tokens of syntax, inner blocks included; an imported name is one token, a docstring none."""
    out = Emitter()
    for node in nodes:
        if not isinstance(node, ast.stmt) or not is_string(node):
            _emit(out, node)
    return tuple(out.tokens)


def _emit(out: Emitter, node: ast.AST) -> None:
    if isinstance(node, ast.Import | ast.ImportFrom):
        source = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
        out.word(*(f"{source}import {alias.name} as {alias.asname}" for alias in node.names))
        return
    bodies = list(_bodies(node)) if isinstance(node, ast.stmt) else []
    if not bodies:
        out.node(node)
        return
    for kind, owner, body in bodies:
        out.word(kind)
        for part in head_of(owner, kind):
            out.node(part)
        for statement in body:
            if not is_string(statement):
                _emit(out, statement)


def comments_in(text: str) -> tuple[str, ...]:
    """The comments of a piece of a program, in order."""
    if "#" not in text:
        return ()
    return tuple(found.group() for found in _SCAN.finditer(text) if found.group().startswith("#"))


# Strings are read over, so that a `#` in one is no comment.
_SCAN = re.compile(
    r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''|" + r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'|#[^\n]*",
    re.DOTALL,
)


def same(one: Any, other: Any) -> bool:
    """Whether two syntax trees (or lists or fields of them) are equal; ends at the first difference."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if not isinstance(one, ast.AST):
        return bool(one == other)
    return all(same(getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
