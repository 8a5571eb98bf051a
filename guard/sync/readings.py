"""Parsed versions of files, as little of each as a question needs: only the top-level definitions that it names."""

from __future__ import annotations

import hashlib
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence

from guard.documents.decoding import decode
from guard.documents.definitions import EMPTY, MODULE, Definition, SourceFile, parse
from guard.documents.segments import split
from guard.errors import GitError, NotAnalysedError
from guard.git import Repository

_HEAD = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
# Texts and syntax trees kept at once; a walk through history goes back to the same few.
_TEXTS, _TREES, _DEFINITIONS = 400, 150, 4000


def top_name(symbol: str) -> str:
    """The top-level definition that a dotted name stands in."""
    return symbol.split(".", 1)[0]


def read_all(repository: Repository, names: Iterable[str]) -> dict[str, bytes | None]:
    """Many objects in one request; None for one that does not exist.

    Arguments:
        names: SHAs of blobs, or `commit:path`.
    """
    wanted = list(dict.fromkeys(name for name in names if "\n" not in name))
    found: dict[str, bytes | None] = dict.fromkeys(wanted)
    if not wanted:
        return found
    if repository.is_partial:
        places = {name: (commit, path) for name in wanted for commit, _, path in (name.partition(":"),) if path}
        shas = repository.blobs_at(places.values())
        repository.prefetch([*shas.values(), *(name for name in wanted if name not in places)])
    request = "\n".join(wanted).encode("utf-8", "surrogateescape") + b"\n"
    answer = repository.git("cat-file", "--batch", "--buffer", stdin=request)
    place = 0
    for name in wanted:
        end = answer.index(b"\n", place)
        header = answer[place:end].split(b" ")
        place = end + 1
        if len(header) == 3 and header[1] == b"blob":
            size = int(header[2])
            found[name] = answer[place : place + size]
            place += size + 1
        elif len(header) == 3 and header[1] in (b"tree", b"commit", b"tag"):
            place += int(header[2]) + 1
    return found


class Readings:
    """Reads versions of Python files by blob or by commit and path, and remembers what it parsed."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._data: dict[str, bytes | None] = {}
        self._digests: dict[str, str] = {}
        self._chunks: dict[str, list[tuple[int, str, str]] | None] = {}
        self._parsed: dict[tuple[str, str], SourceFile] = {}
        self._definitions: dict[tuple[str, str, int], Definition | None] = {}

    def data(self, name: str) -> bytes | None:
        """The bytes of a version; None where there is none.

        Arguments:
            name: SHA of a blob, or `commit:path`.
        """
        if name not in self._data:
            self._make_room(1)
            try:
                self._data[name] = self._repository.blob(name)
            except GitError:
                self._data[name] = None
        return self._data[name]

    def prefetch(self, names: Iterable[str]) -> None:
        """Read versions that will be asked about in one request."""
        wanted = [name for name in dict.fromkeys(names) if name not in self._data]
        if len(wanted) > 1:
            self._make_room(len(wanted))
            self._data.update(read_all(self._repository, wanted[:_TEXTS]))

    def _make_room(self, count: int) -> None:
        if len(self._data) + count > _TEXTS:
            self._data.clear()
            self._chunks.clear()

    def digest(self, name: str) -> str:
        """One name for equal content, however it was asked for."""
        if ":" not in name:
            return name
        if name not in self._digests:
            data = self.data(name)
            kind = f"blob {len(data)}\0".encode() if data is not None else b""
            self._digests[name] = hashlib.sha1(kind + (data or b""), usedforsecurity=False).hexdigest()
        return self._digests[name]

    def chunks(self, name: str) -> list[tuple[int, str, str]]:
        """The top-level pieces of a version: (0-based line, name or `<module>`, text); empty where it is unreadable."""
        digest = self.digest(name)
        if digest not in self._chunks:
            self._chunks[digest] = self._cut(name)
        return self._chunks[digest] or []

    def part(self, name: str, wanted: Iterable[str]) -> SourceFile:
        """The definitions of a version that stand in the wanted top-level names, at the lines they have there.

        Arguments:
            wanted: top-level names; `<module>` for the statements between them.
        """
        names = frozenset(wanted)
        # A class may stand under a top-level `if` or `try`: its piece has no name of its own.
        inside = re.compile(
            rf"^[ \t]+(?:async[ \t]+def|def|class)[ \t]+(?:{'|'.join(map(re.escape, names))})\b", re.MULTILINE
        )

        def keep(title: str, text: str) -> bool:
            return title in names or (title == MODULE and inside.search(text) is not None)

        return self._assemble(name, keep, names)

    def definition(self, name: str, key: tuple[str, int]) -> Definition | None:
        """One definition of a version; None where it has none of this name.

        Of a method only its own lines are parsed, under the head of its class: classes are large, and a walk through
        history asks for one method in many versions of them.

        Arguments:
            key: dotted name, and which of several definitions of that name.
        """
        known = (self.digest(name), *key)
        if known not in self._definitions:
            if len(self._definitions) > _DEFINITIONS:
                self._definitions.clear()
            self._definitions[known] = self._find(name, key)
        return self._definitions[known]

    def _find(self, name: str, key: tuple[str, int]) -> Definition | None:
        symbol, number = key
        top, _, method = symbol.partition(".")
        if method and "." not in method and number == 0:
            pieces = [(start, text) for start, title, text in self.chunks(name) if title == top]
            found = narrowed(pieces[0][1], method) if len(pieces) == 1 else None
            file = _parse("\n" * (pieces[0][0] + found[0]) + found[1]) if found is not None else None
            if file is not None:
                return next((d for d in file.definitions.values() if d.last_name == method), None)
        return self.part(name, (top,)).definitions.get(key)

    def without(self, name: str, known: frozenset[str]) -> SourceFile:
        """The definitions of a version that stand in pieces whose text is not among the known ones."""
        return self._assemble(name, lambda _title, text: text not in known, None)

    def whole(self, name: str) -> SourceFile:
        """All definitions of a version."""
        return self._assemble(name, lambda _title, _text: True, frozenset("*"))

    def _assemble(self, name: str, keep: Callable[[str, str], bool], names: frozenset[str] | None) -> SourceFile:
        key = (self.digest(name), "\0".join(sorted(names))) if names is not None else None
        if key is not None and key in self._parsed:
            return self._parsed[key]
        lines: list[str] = []
        for start, title, text in self.chunks(name):
            if keep(title, text):
                lines += [""] * (start - len(lines))
                lines += text.rstrip("\n").split("\n")
        file = _parse("\n".join(lines) + "\n") if lines else EMPTY
        if file is None:  # a line of a multi-line string looked like a definition: read the file whole
            file = _parse_bytes(self.data(name))
        if key is not None:
            if len(self._parsed) > _TREES:
                self._parsed.clear()
            self._parsed[key] = file
        return file

    def _cut(self, name: str) -> list[tuple[int, str, str]] | None:
        data = self.data(name)
        if data is None:
            return None
        try:
            text = decode(data).text
        except NotAnalysedError:
            return None
        return [(start, _title(chunk), chunk) for start, chunk in split(text)]


def narrowed(text: str, method: str) -> tuple[int, str] | None:
    """The lines of one method, its decorators included, out of the text of its class: (0-based line, text).

    Returns:
        None where the class has no method of that name, several, or lines that do not tell where it ends.
    """
    head = re.compile(rf"^([ \t]+)(?:async[ \t]+)?def[ \t]+{re.escape(method)}\b", re.MULTILINE)
    matches = list(head.finditer(text))
    if len(matches) != 1:
        return None
    indent = matches[0].group(1)
    lines = text.split("\n")
    first = text.count("\n", 0, matches[0].start())
    last = first + 1
    while last < len(lines) and (
        not lines[last].strip() or lines[last].startswith((indent + " ", indent + "\t", indent + ")", indent + "#"))
    ):
        last += 1
    first = _first_decorator(lines, first, indent)
    return first, textwrap.dedent("\n".join(lines[first:last])).rstrip("\n") + "\n"


def _first_decorator(lines: Sequence[str], first: int, indent: str) -> int:
    """The 0-based line on which the decorators above a `def` begin, those of several lines included."""
    above = first
    while above > 0:
        line = lines[above - 1]
        inside = line.startswith((indent + " ", indent + "\t", indent + ")", indent + "]", indent + "}", indent + "#"))
        if line.startswith(indent + "@"):
            first = above - 1
        elif line.strip() and not inside:
            break
        above -= 1
    return first


def _title(chunk: str) -> str:
    if chunk[:1] in ("d", "c", "a", "@") and (found := _HEAD.search(chunk)):
        return found.group(1)
    return MODULE


def _parse(text: str) -> SourceFile | None:
    try:
        return parse(text.encode("utf-8", "surrogatepass"))
    except NotAnalysedError:
        return None


def _parse_bytes(data: bytes | None) -> SourceFile:
    try:
        return parse(data) if data is not None else EMPTY
    except NotAnalysedError:
        return EMPTY
