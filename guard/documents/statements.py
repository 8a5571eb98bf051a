"""A definition as a list of statements: what is compared. Docstrings, comments and formatting are not in it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from guard.documents.canonical import Emitter, parameters

type_of_definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Located = ast.stmt | ast.expr | ast.excepthandler | ast.pattern
Definer = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# What one definition is made of, each with the lines that stand before what it was parsed from: a module may be
# parsed in several pieces.
Pieces = tuple[tuple[int, Definer | ast.Module], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, block header, parameter, decorator, base class or imported name.

    Attributes:
        text: canonical tokens joined by blanks, with the kind in front where it is no plain statement; two statements
            are equal when their texts are.
        tokens: the canonical tokens.
        rows: line of each token, 1-based.
        line, end_line: the lines that the statement covers (of a block: its header).
        parent: index of the header of the enclosing block in the definition's list, or -1.
        kind: `statement`, `header`, `parameter`, `decorator`, `base`, `returns` or `import`.
    """

    text: str
    tokens: tuple[str, ...]
    rows: tuple[int, ...]
    line: int
    end_line: int
    parent: int = -1
    kind: str = "statement"


@dataclass
class _Walk:
    """Fills the list of one definition; nested definitions are left out, they have their own lists."""

    found: list[Statement] = field(default_factory=list)
    top_level: bool = False
    offset: int = 0

    def add(self, emitter: Emitter, line: int, end: int, parent: int, kind: str = "statement") -> int:
        prefix = "" if kind in ("statement", "header") else kind + " "
        text = sys.intern(prefix + " ".join(emitter.tokens))
        rows, offset = tuple(emitter.rows), self.offset
        if offset:
            rows = tuple([row and row + offset for row in rows])
        self.found.append(Statement(text, tuple(emitter.tokens), rows, line + offset, end + offset, parent, kind))
        return len(self.found) - 1

    def body(self, nodes: list[ast.stmt], parent: int) -> None:
        for node in nodes:
            self.statement(node, parent)

    def statement(self, node: ast.stmt, parent: int) -> None:
        if isinstance(node, type_of_definition):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a string that nothing reads: documentation
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._imports(node, parent)
        elif isinstance(node, ast.If):
            self._if(node, parent, "if")
        elif isinstance(node, ast.For | ast.AsyncFor):
            out = _words("async for" if isinstance(node, ast.AsyncFor) else "for", node)
            out.node(node.target)
            out.word("in")
            out.node(node.iter)
            self._block(node, parent, out, [("", node.body), ("else", node.orelse)])
        elif isinstance(node, ast.While):
            out = _words("while", node)
            out.node(node.test)
            self._block(node, parent, out, [("", node.body), ("else", node.orelse)])
        elif isinstance(node, ast.With | ast.AsyncWith):
            out = _words("async with" if isinstance(node, ast.AsyncWith) else "with", node)
            out.series(node.items)
            self._block(node, parent, out, [("", node.body)])
        elif isinstance(node, ast.Try | ast.TryStar):
            self._try(node, parent)
        elif isinstance(node, ast.Match):
            self._match(node, parent)
        else:
            out = Emitter()
            out.node(node)
            self.add(out, node.lineno, node.end_lineno or node.lineno, parent)

    def _imports(self, node: ast.Import | ast.ImportFrom, parent: int) -> None:
        kind = "import" if self.top_level and parent < 0 else "statement"
        source = "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")
        for alias in node.names:
            out = Emitter()
            out._row = getattr(alias, "lineno", node.lineno)
            out.word(*(("from", source) if source else ()), "import", alias.name)
            if alias.asname:  # also where it is the same name: that hands it on to others
                out.word("as", alias.asname)
            end = getattr(alias, "end_lineno", None) or out._row
            self.add(out, out._row, end, parent, kind)

    def _if(self, node: ast.If, parent: int, word: str) -> None:
        out = _words(word, node)
        out.node(node.test)
        branches: list[tuple[str, list[ast.stmt]]] = [("", node.body)]
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            header = self._header(node, parent, out, node.body)
            self.body(node.body, header)
            self._if(node.orelse[0], parent, "elif")
            return
        branches.append(("else", node.orelse))
        self._block(node, parent, out, branches)

    def _try(self, node: ast.Try | ast.TryStar, parent: int) -> None:
        header = self._header(node, parent, _words("try", node), node.body)
        self.body(node.body, header)
        for handler in node.handlers:
            out = _words("except", handler)
            out.node(handler.type)
            if handler.name:
                out.word("as", handler.name)
            self.body(handler.body, self._header(handler, parent, out, handler.body))
        for word, body in (("else", node.orelse), ("finally", node.finalbody)):
            if body:
                self.body(body, self._header(body[0], parent, _words(word, body[0]), body))

    def _match(self, node: ast.Match, parent: int) -> None:
        out = _words("match", node)
        out.node(node.subject)
        header = self._header(node, parent, out, node.cases[0].body)
        for case in node.cases:
            out = _words("case", case.pattern)
            out.word(ast.unparse(case.pattern))
            if case.guard is not None:
                out.word("if")
                out.node(case.guard)
            self.body(case.body, self._header(case.pattern, header, out, case.body))

    def _block(self, node: ast.stmt, parent: int, header: Emitter, branches: list[tuple[str, list[ast.stmt]]]) -> None:
        first = True
        for word, body in branches:
            if not body:
                continue
            out = header if first else _words(word, body[0])
            index = self._header(node if first else body[0], parent, out, body)
            self.body(body, index)
            first = False

    def _header(self, node: Located, parent: int, out: Emitter, body: list[ast.stmt]) -> int:
        line = node.lineno
        end = max([line, *(row for row in out.rows if row)])
        return self.add(out, line, min(end, max(line, body[0].lineno)), parent, "header")


def statements(pieces: Pieces) -> tuple[Statement, ...]:
    """The statements of one definition, nested definitions left out.

    Arguments:
        pieces: a function, a class, or the pieces of a module.
    """
    walk = _Walk()
    for offset, owner in pieces:
        walk.offset = offset
        walk.top_level = isinstance(owner, ast.Module)
        _head(walk, owner)
        walk.body(owner.body, -1)
    return tuple(walk.found)


def _head(walk: _Walk, owner: Definer | ast.Module) -> None:
    """What stands before the body: decorators, bases, parameters, what is returned."""
    if isinstance(owner, type_of_definition):
        for node in owner.decorator_list:
            out = _words("@", node)
            out.node(node)
            walk.add(out, node.lineno, node.end_lineno or node.lineno, -1, "decorator")
    if isinstance(owner, ast.ClassDef):
        bases: list[ast.expr | ast.keyword] = [*owner.bases, *owner.keywords]
        for base in bases:
            out = Emitter()
            out.node(base)
            walk.add(out, base.lineno, base.end_lineno or base.lineno, -1, "base")
    elif isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef):
        for parameter in parameters(owner.args):
            out = Emitter()
            out._row = owner.lineno
            parameter(out)
            walk.add(out, out.rows[0], out.rows[-1], -1, "parameter")
        if owner.returns is not None:
            out = _words("->", owner.returns)
            out.node(owner.returns)
            walk.add(out, owner.returns.lineno, owner.returns.end_lineno or owner.returns.lineno, -1, "returns")
        if isinstance(owner, ast.AsyncFunctionDef):
            out = _words("async", owner)
            walk.add(out, owner.lineno, owner.lineno, -1, "decorator")


def inner_definitions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Definitions that stand directly in a body, also inside its blocks, in order."""
    for node in body:
        if isinstance(node, type_of_definition):
            yield node
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                yield from inner_definitions(inner)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from inner_definitions(part.body)


def _words(word: str, node: Located) -> Emitter:
    out = Emitter()
    out._row = node.lineno
    out.word(word)
    return out
