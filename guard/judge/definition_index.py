"""Where else in merged a definition may stand: other files, by name and by content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from guard.documents.definitions import EMPTY, Definition, ParseMemo, SourceFile, parse
from guard.errors import NotAnalysedError

_DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
Reader = Callable[[str, str], bytes | None]

LONG_LINE = 30  # characters; a shorter line stands in many files
MOST_ASKED = 16  # long lines of a definition that are looked for in other files

# Least shared part of the statements for two definitions to be one that moved: the more of the name differs, the more.
SAME_DOTTED_NAME, SAME_NAME, OTHER_NAME = 0.25, 0.45, 0.65


@dataclass(frozen=True, slots=True)
class Location:
    """A definition of merged that holds what another place held.

    Attributes:
        path: file of merged.
        merged, base, ours, theirs: the definition there in each tree; None where a tree has none at that place.
        file: the parsed file of merged.
    """

    path: str
    file: SourceFile
    merged: Definition
    base: Definition | None
    ours: Definition | None
    theirs: Definition | None


class DefinitionIndex:
    """The definitions of merged by name, in the files that may have received something."""

    def __init__(self, paths: Iterable[str] = (), read: Reader | None = None) -> None:
        """Index the files.

        Arguments:
            paths: Python files of merged to look in.
            read: (tree, path) gives a file's bytes; trees are `base`, `ours`, `theirs`, `merged`.
        """
        self._read = read
        self._paths = tuple(paths)
        self._lines: dict[str, tuple[str, ...]] | None = None
        self._files: dict[tuple[str, str], SourceFile] = {}
        self._memos: dict[str, ParseMemo] = defaultdict(ParseMemo)
        self._paths_of: dict[str, list[str]] = defaultdict(list)
        for path in self._paths:
            data = read("merged", path) if read else None
            for name in set(_DEFINED.findall(data or b"")):
                self._paths_of[name.decode("utf-8", "replace")].append(path)

    def file(self, tree: str, path: str) -> SourceFile:
        """A parsed file; empty where the tree has none, or none that parses."""
        known = self._files.get((tree, path))
        if known is None:
            data = self._read(tree, path) if self._read else None
            try:
                known = parse(data, self._memos[path], lenient=True) if data is not None else EMPTY
            except NotAnalysedError:
                known = EMPTY
            self._files[tree, path] = known
        return known

    def standing(self, name: str, but: str, *, alone: bool = False) -> Iterator[Location]:
        """Definitions of merged that have this last name, outside one file.

        Arguments:
            name: the last name.
            but: path of the file that is left out.
            alone: leave out what the other trees have at the place.
        """
        paths = self._paths_of.get(name, ())
        if len(paths) > 40:  # a name that stands everywhere tells nothing
            return
        for path in paths:
            if path == but:
                continue
            file = self.file("merged", path)
            for definition in file.definitions.values():
                if definition.last_name == name:
                    yield (
                        Location(path, file, definition, None, None, None) if alone else self.at(path, file, definition)
                    )

    def holding(self, lines: Iterable[str], but: str) -> Iterator[Location]:
        """Definitions of the file of merged that has most of these source lines, if one has half of them.

        Arguments:
            lines: stripped source lines; only long ones count.
            but: path of the file that is left out.
        """
        long = sorted({line for line in lines if len(line) >= LONG_LINE}, key=len)[-MOST_ASKED:]
        votes = Counter(path for line in long for path in self._holders().get(line, ()) if path != but)
        best = max(votes.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if long and best[1] * 2 >= len(long):
            file = self.file("merged", best[0])
            for definition in file.definitions.values():
                yield self.at(best[0], file, definition)

    def _holders(self) -> dict[str, tuple[str, ...]]:
        """Files of merged by the long lines they hold."""
        if self._lines is None:
            found: dict[str, tuple[str, ...]] = {}
            for path in self._paths:
                data = (self._read("merged", path) if self._read else None) or b""
                for line in {line.strip() for line in data.decode("utf-8", "replace").split("\n")}:
                    if len(line) >= LONG_LINE:
                        found[line] = (*found.get(line, ()), path)
            self._lines = found
        return self._lines

    def at(self, path: str, file: SourceFile, definition: Definition) -> Location:
        """The same place in every tree."""
        base, ours, theirs = (
            self.file(tree, path).definitions.get(definition.key) for tree in ("base", "ours", "theirs")
        )
        return Location(path, file, definition, base, ours, theirs)


def shared(one: Definition, other: Definition) -> float:
    """How much of two definitions' statements is the same, 0 to 1, by count."""
    first, second = one.bag, other.bag
    total = first.total() + second.total()
    if not total:
        return 0.0
    small, large = (first, second) if len(first) <= len(second) else (second, first)
    return 2 * sum(min(count, large[text]) for text, count in small.items() if text in large) / total


def moved_to(
    gone: Definition, here: Iterable[Location], others: Iterable[Location], *, fresh_only: bool = False
) -> Location | None:
    """The definition of merged that holds what `gone` held, if one does.

    Arguments:
        gone: a definition that merged does not have under its name in its file.
        here: definitions of merged in the same file.
        others: definitions of merged in other files that have its last name.
        fresh_only: only those that the base does not have at that place.
    """
    best: tuple[float, Location] | None = None
    small = sum(1 for s in gone.statements if s.kind != "parameter") < 3
    for candidate in (*here, *others):
        if fresh_only and candidate.base is not None:
            continue
        definition = candidate.merged
        if definition.kind != gone.kind:
            continue
        same_name = definition.last_name == gone.last_name
        least = SAME_DOTTED_NAME if definition.name == gone.name else SAME_NAME if same_name else OTHER_NAME
        if small and definition.name != gone.name:
            least = 0.8 if same_name else 1.1
        score = shared(gone, definition)
        if score >= least and (best is None or score > best[0]):
            best = score, candidate
    return best[1] if best else None
