"""Definitions that both parents have and merged has not, and definitions whose readers were all lost.

Reason: nobody decided either. What both sides have is missing only where each side's edit removed the other's copy; a
definition that nothing reads any more is what is left of a change whose other half was lost. Both are asked by words,
over all Python files, so that a use through a string, a keyword or `getattr` counts as a use.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.gathering import FourWorlds, is_test, is_vendored
from guard.checks.breaks.modules import ModuleView
from guard.model import Confidence, Severity, Side

# Bytes that go on with a word.
_PARTS = frozenset(bytes([byte]) for byte in f"{string.ascii_letters}{string.digits}_".encode())


def gone_from_both(comparison: Comparison) -> Iterator[Break]:
    """Functions, classes, methods and fields of both parents that are in merged in no file of this name."""
    worlds = comparison.worlds
    for path in worlds.paths:
        now = worlds.merged.view(path)
        views = [_view(worlds, tree, path) for tree in PARENTS]
        if now is None or now.outline.error or None in views:
            continue
        ours, theirs = (set(_definitions(view)) for view in views if view)
        for name in sorted((ours & theirs) - set(_definitions(now))):
            last = name.rpartition(".")[2]
            if last in now.outline.words or last in worlds.unread_words or _defined_elsewhere(worlds, last):
                continue
            owner = name.rpartition(".")[0]
            if owner and owner not in now.classes:
                continue
            places = {
                tree: (worlds.path_in(tree, path) or path, _definitions(view)[name])
                for tree, view in zip(PARENTS, views, strict=True)
                if view
            }
            yield Break(
                code="GRD309",
                path=path,
                symbol=owner or "<module>",
                subject=last,
                line=now.line_of(now.classes[owner][0]) if owner else 1,
                message=f"both sides define `{name}` in this file, merged defines it nowhere",
                severity=Severity.WARNING,
                reader=last,
                definition=last,
                definition_places=places,
            )


def readers_lost(comparison: Comparison) -> Iterator[Break]:
    """Definitions of merged that no word of merged speaks of any more, and that a parent with them reads."""
    worlds = comparison.worlds
    views = [view for path in worlds.paths if not is_test(path) and (view := worlds.merged.view(path))]
    names = frozenset(name.rpartition(".")[2] for view in views for name in _definitions(view))
    uses = {tree: _Uses(worlds, tree, names) for tree in ("merged", "base", *PARENTS)}
    for path in worlds.paths:
        now = worlds.merged.view(path)
        if now is None or now.outline.error or is_test(path):
            continue
        for name, line in _definitions(now).items():
            last = name.rpartition(".")[2]
            if last.startswith("__") or len(last) < 4 or uses["merged"].elsewhere(path, last):
                continue
            if uses["merged"].count(path, last) != 1:
                continue

            def state(tree: str, path: str = path, name: str = name, last: str = last) -> State:
                view = _view(worlds, tree, path)
                there = worlds.path_in(tree, path)
                if view is None or there is None or name not in _definitions(view):
                    return State.ABSENT
                read = uses[tree].count(there, last) > 1 or uses[tree].elsewhere(there, last)
                return State.OK if read else State.BAD

            states = {tree: state(tree) for tree in PARENTS}
            if State.OK in states.values() and is_new(state):
                side = origin_side(state)
                yield _unread(path, name, line, side)


def _unread(path: str, name: str, line: int, side: Side | None) -> Break:
    owner, _, last = name.rpartition(".")
    told = f"{side.value} reads it" if side else "both sides read it"
    return Break(
        code="GRD307",
        path=path,
        symbol=name,
        subject=last,
        line=line,
        message=f"`{name}` is defined here and nothing in merged reads it any more; {told}",
        severity=Severity.WARNING,
        confidence=Confidence.MEDIUM,
        lost_side=side,
        came_from=side,
        reader=last,
        definition=last,
        detail=owner,
    )


class _Uses:
    """Where some names stand as words in one tree."""

    def __init__(self, worlds: FourWorlds, tree: str, names: frozenset[str]) -> None:
        self._worlds = worlds
        self._names = names
        self._tree = tree
        self._files: Counter[str] | None = None

    def elsewhere(self, path: str, word: str) -> bool:
        """Whether another file of the tree holds the word."""
        if self._files is None:
            self._files = Counter()
            paths = self._worlds[self._tree].index.paths
            for touched in self._worlds.trees.touched:
                # What a kept copy of a package read may have been the package's own, which still reads it.
                if touched in paths and (self._tree == "merged" or touched == path or not is_vendored(touched)):
                    self._files.update(self._names & self._worlds.words_of(self._tree, touched))
        here = word in self._worlds.words_of(self._tree, path)
        return self._files[word] > here or self._worlds.is_mentioned(word)

    def count(self, path: str, word: str) -> int:
        """How often the file holds the word."""
        data = self._worlds.trees.blob(self._tree, path) or b""
        needle = word.encode()
        found, place = 0, data.find(needle)
        while place >= 0:  # an expression that looks behind itself would try every byte
            end = place + len(needle)
            whole = data[place - 1 : place] not in _PARTS and data[end : end + 1] not in _PARTS
            found += whole
            place = data.find(needle, end if whole else place + 1)
        return found


_known: WeakKeyDictionary[ModuleView, dict[str, int]] = WeakKeyDictionary()


def _definitions(view: ModuleView) -> dict[str, int]:
    """Functions, classes, methods and annotated fields by qualified name, with their line; worked out once a file."""
    known = _known.get(view)
    if known is None:
        known = _known[view] = _definitions_of(view)
    return known


def _definitions_of(view: ModuleView) -> dict[str, int]:
    found: dict[str, int] = {}
    for offset, segment in view.outline.parts:
        for function in segment.functions:
            if not function.qualname.rpartition(".")[0] or function.owner:
                found.setdefault(function.qualname, offset + function.line)
        for kind in segment.classes:
            found.setdefault(kind.qualname, offset + kind.line)
            for name, _, line in kind.fields:
                found.setdefault(f"{kind.qualname}.{name}", offset + line)
    return found


def _view(worlds: FourWorlds, tree: str, path: str) -> ModuleView | None:
    there = worlds.path_in(tree, path)
    return worlds[tree].view(there) if there else None


def _defined_elsewhere(worlds: FourWorlds, name: str) -> bool:
    """Whether merged gives the name in another file that changed: it was moved."""
    for path in worlds.paths:
        view = worlds.merged.view(path)
        if view and name in view.outline.words:
            return True
    return False
