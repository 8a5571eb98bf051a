"""A file as definitions: the module's own level, and every class and function by its dotted name."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from dataclasses import dataclass, field

from guard.documents.decoding import decode
from guard.documents.gc_paused import gc_paused
from guard.documents.segments import split
from guard.documents.statements import Definer, Pieces, Statement, inner_definitions, statements
from guard.documents.unread import readable
from guard.errors import NotAnalysedError

MODULE = "<module>"
LARGEST_FILE = 4_000_000  # bytes; generated tables beyond this are no code that a person merges
DEEPEST_LINE = 200_000  # characters in one line


@dataclass(eq=False, slots=True)
class Definition:
    """One definition of a file. Its statements are made when they are first asked for.

    Attributes:
        name: dotted name inside the file; `<module>` for the top level.
        number: 0 for the first definition of this name in the file, 1 for the second, …
        kind: `module`, `class` or `function`.
        line, end_line: the lines it covers, decorators included.
        own: the text of its own lines, nested definitions cut out: equal text means equal statements.
    """

    name: str
    number: int
    kind: str
    line: int
    end_line: int
    own: str
    _pieces: Pieces = field(repr=False, default=())
    _statements: tuple[Statement, ...] | None = field(repr=False, default=None)
    _bag: Counter[str] | None = field(repr=False, default=None)

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from the other definitions of the file."""
        return self.name, self.number

    @property
    def last_name(self) -> str:
        """The name without the enclosing ones."""
        return self.name.rsplit(".", 1)[-1]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Its own statements in order, nested definitions left out."""
        if self._statements is None:
            self._statements = statements(self._pieces)
        return self._statements

    @property
    def shape(self) -> list[tuple[str, int]]:
        """Its statements and the blocks that they stand in: equal for equal syntax."""
        return [(statement.text, statement.parent) for statement in self.statements]

    @property
    def bag(self) -> Counter[str]:
        """Its statements by text and count, `self` aside. Not to be changed."""
        if self._bag is None:
            texts = (s.text for s in self.statements if s.text != "parameter self")
            self._bag = Counter(texts)
        return self._bag


@dataclass(frozen=True, eq=False, slots=True)
class SourceFile:
    """One parsed file.

    Attributes:
        definitions: by key, in the order of the file.
        lines: the source lines, without line ends.
        unread: how many lines could not be read and stand as text (see `guard.documents.unread`).
    """

    definitions: dict[tuple[str, int], Definition]
    lines: tuple[str, ...]
    unread: int = 0

    def excerpt(self, line: int, end_line: int) -> str:
        """Source lines as they stand, common indentation removed."""
        import textwrap

        return textwrap.dedent("\n".join(self.lines[line - 1 : end_line]))


EMPTY = SourceFile({}, ())


class ParseMemo(dict[str, ast.Module]):
    """Segments parsed so far, by their text: the four versions of a file share most of them."""


def parse(data: bytes, memo: ParseMemo | None = None, *, lenient: bool = False) -> SourceFile:
    """Split a Python file into its definitions.

    Arguments:
        data: the file's bytes.
        memo: what other versions of the file have in common with it is not parsed again; what is new is added.
        lenient: a few lines that are no Python for this interpreter stand as text.

    Raises:
        NotAnalysedError: no Python, no text, or too large or too deep to read.
    """
    if len(data) > LARGEST_FILE:
        raise NotAnalysedError(f"larger than {LARGEST_FILE:,} bytes")
    text = decode(data).text
    if text.startswith("\f"):
        text = " " + text[1:] if text[1:2] in ("", "\n") else text[1:]
    lines = tuple(text.split("\n"))
    found: dict[tuple[str, int], Definition] = {}
    try:
        # A large tree of small objects: the collector would walk it again and again.
        with gc_paused(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pieces, unread = _pieces(text, memo, lenient=lenient)
        _collect(pieces, "", lines, found)
    except SyntaxError as error:
        raise NotAnalysedError(f"does not parse: {error.msg} (line {error.lineno})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotAnalysedError(f"cannot be read: {type(error).__name__}: {error}") from None
    return SourceFile(found, lines, unread)


def _pieces(text: str, memo: ParseMemo | None, *, lenient: bool) -> tuple[Pieces, int]:
    """The module as parsed pieces, and how many lines of it stand as text.

    It is one piece where nothing can be shared, or where cutting it did not work.
    """
    pieces = []
    try:
        for offset, chunk in split(text) if memo is not None else [(0, text)]:
            tree = memo.get(chunk) if memo is not None else None
            if tree is None:
                tree = ast.parse(chunk)
                if memo is not None:
                    memo[chunk] = tree
            pieces.append((offset, tree))
    except SyntaxError:  # a line of a long string looked like a definition, or this is no Python
        tree, unread = readable(text) if lenient else (ast.parse(text), 0)
        return ((0, tree),), unread
    return tuple(pieces), 0


def _collect(pieces: Pieces, name: str, lines: tuple[str, ...], found: dict[tuple[str, int], Definition]) -> None:
    inner = [(offset, node) for offset, owner in pieces for node in inner_definitions(owner.body)]
    first, last, kind = 1, len(lines), "module"
    if name:
        ((offset, owner),) = pieces
        assert not isinstance(owner, ast.Module)
        first, last = _first_line(owner) + offset, (owner.end_lineno or owner.lineno) + offset
        kind = "class" if isinstance(owner, ast.ClassDef) else "function"
    own: list[str] = []
    position = first
    for offset, definition in inner:
        own += lines[position - 1 : _first_line(definition) + offset - 1]
        position = (definition.end_lineno or definition.lineno) + offset + 1
    own += lines[position - 1 : last]
    number = 0
    while (name or MODULE, number) in found:
        number += 1
    found[name or MODULE, number] = Definition(name or MODULE, number, kind, first, last, "\n".join(own), pieces)
    for offset, definition in inner:
        inside = f"{name}.{definition.name}" if name else definition.name
        _collect(((offset, definition),), inside, lines, found)


def _first_line(definition: Definer) -> int:
    return min([definition.lineno, *(decorator.lineno for decorator in definition.decorator_list)])
