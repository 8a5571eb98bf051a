"""The outlines of all files that the four trees hold: each blob read once, work spread over processes."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Iterator

from guard.checks.breaks.difference import PARENTS
from guard.checks.breaks.processes import ForkedTask, can_fork
from guard.checks.breaks.project_index import World
from guard.documents.gc_paused import gc_paused
from guard.documents.kinds import is_python
from guard.documents.outline import ModuleOutline
from guard.documents.segments import SegmentMemo, outline, outlines, speaking, words
from guard.model import Side
from guard.sync.renames import renames
from guard.sync.trees import TREES, FourTrees

# Below this many bytes a second process costs more than it saves.
_WORTH_A_PROCESS = 400_000

_READERS = (".pyx", ".yaml", ".yml", ".sh", ".bash", ".toml", ".cfg", ".ini", ".j2", ".jinja")
_LARGEST_TEXT = 500_000
_VENDORED = {"third_party", "thirdparty", "3rdparty", "vendor", "vendored", "_vendor", "_vendored"}
_CLASS = re.compile(rb"^[ \t]*class[ \t]+(\w+)[ \t]*\(([^)]*)\)", re.MULTILINE | re.ASCII)
_WORDS = re.compile(rb"[A-Za-z_][\w-]+", re.ASCII)

Outlines = dict[str, ModuleOutline]

# Outlines by blob, for a process that judges several syncs of one branch: most files are in all of them.
_remembered: Outlines = {}
_MOST_REMEMBERED = 4000


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Within this, outlines of one sync are kept for the next ones."""
    _remembering.append(True)
    try:
        yield
    finally:
        _remembering.pop()
        if not _remembering:
            _remembered.clear()


_remembering: list[bool] = []


class FourWorlds:
    """The four trees, linked, and which file of one tree is which of another.

    Attributes:
        paths: Python files that differ between any two trees and that merged has, sorted.
    """

    def __init__(self, trees: FourTrees, jobs: int) -> None:
        self.trees = trees
        touched = [path for path in trees.touched if is_python(path)]
        self._memo = SegmentMemo()
        self.outlines: Outlines = _outlines(trees, touched, jobs, self._memo)
        self._rest: frozenset[str] | None = None
        self._words: dict[str, frozenset[str]] = {}
        self.paths = tuple(path for path in touched if path in trees.merged)
        self._worlds = {name: World(name, getattr(trees, name), self._reader(name)) for name in TREES}
        self._renames = {name: _renames(trees, name) for name in TREES if name != "merged"}

    def __getitem__(self, name: str) -> World:
        return self._worlds[name]

    @property
    def merged(self) -> World:
        """The tree that is judged."""
        return self._worlds["merged"]

    def path_in(self, tree: str, path: str) -> str | None:
        """The path that a file of merged has in another tree, following renames; None where it has none."""
        if path in self._worlds[tree].index.paths:
            return path
        return self._renames[tree].get(path)

    def edited_by(self, path: str) -> Side | None:
        """The side whose own edited version of a file merged has."""
        sha = {tree: entry.sha for tree in TREES if (entry := getattr(self.trees, tree).get(path))}
        if len(sha) < len(TREES):
            return None
        sides = [side for side in Side if sha[side.value] == sha["merged"] not in {sha["base"], sha[side.other.value]}]
        return sides[0] if sides else None

    def words_of(self, tree: str, path: str) -> frozenset[str]:
        """All words in a file, which is not parsed for them."""
        entry = getattr(self.trees, tree).get(path)
        if entry is None or entry.kind == "submodule":
            return frozenset()
        known = self.outlines.get(entry.sha)
        if known is not None and not known.error:
            return known.words
        if entry.sha not in self._words:
            self._words[entry.sha] = words(self.trees.read(entry.sha))
        return self._words[entry.sha]

    @functools.cached_property
    def unread_words(self) -> frozenset[str]:
        """Words of the files of merged that a side changed and that cannot be read as Python.

        What such a file defines is unknown, not gone: a name that stands in it may well be defined there.
        """
        unread = (path for path in self.paths if (view := self.merged.view(path)) and view.outline.error)
        return frozenset().union(*(_text_words(self.trees.blob("merged", path) or b"") for path in unread))

    def gives(self, path: str, name: str) -> bool:
        """Whether a file of merged gives an attribute of this name to some object; only what speaks of it is read."""
        sha = self.trees.merged[path].sha
        known = self.outlines.get(sha)
        parts = known.parts if known is not None else speaking(self.trees.read(sha), name, self._memo)
        return any(name in segment.attributes for _, segment in parts)

    def speaks(self, tree: str, path: str, name: str) -> bool:
        """Whether the bytes of a file hold a name, or its option form."""
        data = self.trees.blob(tree, path) or b""
        return name.encode() in data or name.replace("_", "-").encode() in data

    def mentions(self, words: Iterable[str]) -> list[str]:
        """Python files of merged that no tree changed and that hold one of the words."""
        wanted = frozenset(words)
        if not wanted:
            return []
        touched = set(self.trees.touched)
        found = []
        for path, entry in self.trees.merged.items():
            if is_python(path) and path not in touched and entry.kind == "file":
                data = self.trees.read(entry.sha)
                if any(word.encode() in data for word in wanted) and wanted & self.words_of("merged", path):
                    found.append(path)
        return found

    def untouched_classes(self) -> list[tuple[str, frozenset[str]]]:
        """Classes of Python files that no tree changed, with the words of their bases; read without parsing."""
        touched = set(self.trees.touched)
        found = []
        for path, entry in self.trees.merged.items():
            if is_python(path) and path not in touched and entry.kind == "file":
                for name, bases in _CLASS.findall(self.trees.read(entry.sha)):
                    words = frozenset(word.decode("ascii") for word in _WORDS.findall(bases))
                    found.append((name.decode("ascii", "replace"), words))
        return found

    def is_mentioned(self, word: str) -> bool:
        """Whether a text file of merged other than the touched Python files holds the word, or its option form."""
        if self._rest is None:
            self._rest = self._other_words()
        return word in self._rest

    def _other_words(self) -> frozenset[str]:
        touched = set(self.trees.touched)
        found: set[bytes] = set()
        for path, entry in self.trees.merged.items():
            if entry.kind != "file" or (is_python(path) and path in touched) or not _reads(path):
                continue
            data = self.trees.read(entry.sha)
            if len(data) < _LARGEST_TEXT and b"\0" not in data:
                found.update(_WORDS.findall(data))
        return frozenset(word.decode("ascii").replace("-", "_") for word in found)

    def _reader(self, name: str) -> Callable[[str], ModuleOutline]:
        entries, read, outlines, memo = getattr(self.trees, name), self.trees.read, self.outlines, self._memo

        def outline_of(path: str) -> ModuleOutline:  # knows nothing of the four worlds: no cycle keeps them alive
            sha = entries[path].sha
            known = outlines.get(sha)
            if known is None:
                known = outlines[sha] = outline(read(sha), memo)
            return known

        return outline_of


def _text_words(data: bytes) -> set[str]:
    return {word.decode("ascii").replace("-", "_") for word in _WORDS.findall(data)}


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests: what breaks there comes after what breaks in the product."""
    *folders, name = path.split("/")
    return bool({"test", "tests", "testing"} & set(folders)) or name.startswith(("test_", "conftest"))


def is_vendored(path: str) -> bool:
    """Whether a file is a kept copy of another package's: the objects that it speaks of come from that package too."""
    return bool(_VENDORED & set(path.split("/")[:-1]))


def _renames(trees: FourTrees, tree: str) -> dict[str, str]:
    """Paths of merged that another tree has under another name."""
    entries, merged = getattr(trees, tree), trees.merged
    gone = [path for path in entries if is_python(path) and path not in merged]
    fresh = [path for path in merged if is_python(path) and path not in entries]
    if not gone or not fresh:
        return {}
    return {new: old for old, new in renames(trees.repository, entries, merged, ".py").items()}


def _outlines(trees: FourTrees, touched: list[str], jobs: int, memo: SegmentMemo) -> Outlines:
    """Outlines of the touched files in merged and both parents, by SHA of the blob; few of the base's are asked for."""
    groups: list[tuple[int, list[str]]] = []
    seen: set[str] = set()
    for path in touched:
        shas = []
        for tree in ("merged", *PARENTS):
            entry = getattr(trees, tree).get(path)
            if entry and entry.kind == "file" and entry.sha not in seen:
                seen.add(entry.sha)
                shas.append(entry.sha)
        groups.append((sum(len(trees.read(sha)) for sha in shas), shas))
    total = sum(size for size, _ in groups)
    shares = _shares(groups, max(1, min(jobs, total // _WORTH_A_PROCESS)))
    if len(shares) == 1 or not can_fork():
        return _read_share(trees, [group for share in shares for group in share], memo)
    return _spread(trees, shares, memo)


def _shares(groups: list[tuple[int, list[str]]], count: int) -> list[list[list[str]]]:
    """The groups in shares of about equal size: the largest first, each to the lightest share."""
    shares: list[list[list[str]]] = [[] for _ in range(count)]
    weights = [0] * count
    for size, shas in sorted(groups, key=lambda group: -group[0]):
        lightest = weights.index(min(weights))
        weights[lightest] += size
        shares[lightest].append(shas)
    return shares


def _spread(trees: FourTrees, shares: list[list[list[str]]], memo: SegmentMemo) -> Outlines:
    """Each further share in a forked process, the first one here. Children share the blobs in memory."""
    workers = [ForkedTask(functools.partial(_read_share, trees, share, SegmentMemo())) for share in shares[1:]]
    found = _read_share(trees, shares[0], memo)
    for worker in workers:
        found.update(worker.result())
    return found


def _read_share(trees: FourTrees, share: list[list[str]], memo: SegmentMemo) -> Outlines:
    found: Outlines = {}
    with gc_paused():
        for shas in share:
            found.update(zip(shas, outlines([trees.read(sha) for sha in shas], memo), strict=True))
    return found


def _reads(path: str) -> bool:
    """Whether a file is of a kind that names what Python defines."""
    return is_python(path, stubs=True) or path.endswith(_READERS)
