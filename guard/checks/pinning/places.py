"""Where a pinned definition stands in a tree: at its place, or where a rename of file, class or function took it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from guard.documents.definitions import MODULE, Definition, SourceFile, parse
from guard.errors import NotAnalysedError

Read = Callable[[str], bytes | None]
ALIKE = 0.5  # of a definition's statements, by count: from here on another name holds the same one
_TELLING_LINE = 8  # characters; a shorter line stands in too many files to look into
_FEWEST = 3  # statements that two definitions must share for that; parameters count


class PinPlaces:
    """Finds pinned definitions among the Python files of a tree.

    Arguments:
        paths: the files.
        read: the bytes of a path.
    """

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._paths = sorted(paths)
        self._known = frozenset(self._paths)
        self._read = read

    def of(self, path: str, symbol: str, forms: Sequence[Definition]) -> list[tuple[str, Definition]]:
        """Where a definition stands: path and definition, several where nothing tells which; empty for nowhere.

        Looked for by name in its file, in files of that name, in all files; then under another name, by its statements.

        Arguments:
            symbol: dotted name; `<module>` for the top level.
            forms: the definition as the pin knows it, after the fix and before.

        Raises:
            NotAnalysedError: its own file is there and is no Python.
        """
        name = path.rsplit("/", 1)[-1]
        own = [path] if path in self._known else [other for other in self._paths if other.rsplit("/", 1)[-1] == name]
        found = [
            (other, file.definitions[symbol, 0]) for other, file in self._parsed(own) if (symbol, 0) in file.definitions
        ]
        if found or symbol == MODULE:
            return found
        return self._named(symbol, forms) or self._alike(own, forms)

    def _named(self, symbol: str, forms: Sequence[Definition]) -> list[tuple[str, Definition]]:
        """Definitions of the same last name in any file: the same dotted one, else those that hold its statements."""
        last = symbol.rsplit(".", 1)[-1]
        defines = re.compile(
            rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+" + re.escape(last.encode()) + rb"\b", re.MULTILINE
        )
        holding = [path for path in self._paths if defines.search(self._read(path) or b"")]
        named = [
            (path, definition)
            for path, file in self._readable(holding)
            for definition in file.definitions.values()
            if definition.last_name == last
        ]
        alike = [place for place in named if _alike(place[1], forms)]
        return alike or [place for place in named if place[1].name == symbol and "." in symbol]

    def _alike(self, own: Sequence[str], forms: Sequence[Definition]) -> list[tuple[str, Definition]]:
        """The definition that holds the statements under another name, in the own file or in those with its lines."""
        lines = {max((line.strip() for line in form.own.split("\n")[1:]), key=len, default="") for form in forms}
        telling = [line.encode("utf-8", "surrogatepass") for line in lines if len(line) > _TELLING_LINE]
        holding = (
            path for path in self._paths if any(line in data for line in telling for data in [self._read(path) or b""])
        )
        for paths in (own, list(holding) if telling else []):
            scored = [
                (max(_share(definition, form) for form in forms), path, definition)
                for path, file in self._readable(paths)
                for definition in file.definitions.values()
                if definition.name != MODULE and _alike(definition, forms)
            ]
            if scored:
                _, path, definition = max(scored, key=lambda item: item[0])
                return [(path, definition)]
        return []

    def _parsed(self, paths: Iterable[str]) -> Iterator[tuple[str, SourceFile]]:
        for path in paths:
            data = self._read(path)
            if data is not None:
                yield path, parse(data)

    def _readable(self, paths: Iterable[str]) -> Iterator[tuple[str, SourceFile]]:
        for path in paths:
            try:
                yield from self._parsed([path])
            except NotAnalysedError:
                continue


def _alike(definition: Definition, forms: Sequence[Definition]) -> bool:
    return any(_share(definition, form) >= ALIKE for form in forms)


def _share(definition: Definition, form: Definition) -> float:
    """How much of a known form's statements a definition holds; 0 where that is too little to tell anything."""
    if definition.kind != form.kind:
        return 0.0
    common = (definition.bag & form.bag).total()
    return common / max(form.bag.total(), 1) if common >= _FEWEST else 0.0
