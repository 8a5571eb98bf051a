"""Undefined options: `args.x` is read, a parent's parser (or configuration class that fills it) defines it, merged's
does not.

Reason: argparse makes a namespace that no type checker looks into, and every run fails at start-up. An option counts
as defined by `add_argument` (its `dest`), by an assignment on an object called args, or by a field of a class that is
handed to a function which turns classes into options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.gathering import FourWorlds, is_test
from guard.checks.breaks.project_index import World
from guard.documents.bindings import is_options
from guard.documents.outline import Access, Flag
from guard.model import Confidence, Related, Severity, Side

Places = dict[str, tuple[str, int]]


class OptionRead(NamedTuple):
    """One read of an option in merged."""

    path: str
    line: int
    scope: str
    name: str


def undefined_options(comparison: Comparison) -> Iterator[Break]:
    """Breaks by option."""
    check = _OptionCheck(comparison.worlds)
    groups: dict[str, list[OptionRead]] = {}
    if check.lost:
        for path in (*comparison.worlds.paths, *comparison.worlds.mentions(check.lost)):
            for read in check.reads("merged", path):
                if is_new(check.states(read)):
                    groups.setdefault(read.name, []).append(read)
    for name, reads in groups.items():
        yield check.broken(name, sorted(reads, key=lambda read: (is_test(read.path), read.path, read.line)))


class _OptionCheck:
    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._defined = {tree: _options(worlds, tree) for tree in ("merged", *PARENTS)}
        self._reads: dict[tuple[str, str], list[OptionRead]] = {}
        here = self._defined["merged"].keys()
        lost = {name for tree in PARENTS for name in self._defined[tree].keys() - here}
        self.lost = {name for name in lost - worlds.unread_words if not self._elsewhere(name)}

    def _elsewhere(self, name: str) -> bool:
        """Whether a file that no tree changed defines the option."""
        files = self._worlds.mentions([name])
        return any(name in _of_files(self._worlds.merged, [path]) for path in files)

    def reads(self, tree: str, path: str) -> list[OptionRead]:
        """Reads of lost options in a file."""
        known = self._reads.get((tree, path))
        if known is None:
            known = self._reads[tree, path] = []
            view = self._worlds[tree].view(path)
            for offset, segment in view.outline.parts if view and self.lost & view.outline.words else ():
                for access in segment.accesses:
                    name = _option_of(access)
                    if name in self.lost and (access.scope, name) not in segment.probed:
                        known.append(OptionRead(path, offset + access.line, access.scope, name))
        return known

    def states(self, read: OptionRead) -> Callable[[str], State]:
        """What each tree says of the same read."""

        def state(tree: str) -> State:
            there = self._worlds.path_in(tree, read.path)
            if not there or not any(
                (one.scope, one.name) == (read.scope, read.name) for one in self.reads(tree, there)
            ):
                return State.ABSENT
            if tree not in self._defined:
                self._defined[tree] = _options(self._worlds, tree)
            return State.OK if read.name in self._defined[tree] else State.BAD

        return state

    def broken(self, name: str, reads: list[OptionRead]) -> Break:
        first = reads[0]
        places = {tree: self._defined[tree][name] for tree in PARENTS if name in self._defined[tree]}
        sides = [Side(tree) for tree in places]
        home = [Related(path, 1, f"where `{name}` was defined") for path, _ in places.values()]
        more = f" and at {len(reads) - 1} more place{'s' if len(reads) > 2 else ''}" if len(reads) > 1 else ""
        told = f"{sides[0].value} defines" if len(sides) == 1 else "both sides define"
        return Break(
            code="GRD312",
            path=first.path,
            symbol=first.scope or "<module>",
            subject=name,
            line=first.line,
            message=f"option `{name}` is read here{more}, but no parser of merged defines it ({told} it)",
            severity=Severity.ERROR,
            confidence=Confidence.MEDIUM if is_test(first.path) else Confidence.HIGH,
            related=tuple(
                [Related(r.path, r.line, f"read in {r.scope or '<module>'}") for r in reads[1:20]] + home[:1]
            ),
            lost_side=sides[0] if len(sides) == 1 else None,
            came_from=origin_side(self.states(first)),
            reader=name,
            definition=name,
            definition_places=places,
        )


def _option_of(access: Access) -> str:
    """The option that a chain of attributes reads, or an empty string."""
    if access.flags & Flag.GUARD_ATTRIBUTE:
        return ""
    root = access.root
    if root.kind == "member" and is_options(root.text.rpartition("|")[2]):
        return access.path[0]
    if root.kind == "instance" and (is_options(root.text.rpartition(".")[2]) or "arse" in root.text):
        return access.path[0]
    if root.kind in {"global", "local"} and is_options(root.text):
        return access.path[0]
    for receiver, name in zip(access.path, access.path[1:], strict=False):
        if is_options(receiver):
            return name
    return ""


def _options(worlds: FourWorlds, tree: str) -> Places:
    world = worlds[tree]
    return _of_files(world, [path for path in worlds.trees.touched if path in world.index.paths])


def _of_files(world: World, paths: list[str]) -> Places:
    found: Places = {}
    for path in paths:
        view = world.view(path)
        for offset, segment in view.outline.parts if view else ():
            for dest, _, line in segment.options:
                found.setdefault(dest, (path, offset + line))
            for name in segment.option_stores:
                found.setdefault(name, (path, offset + 1))
            for text in segment.option_classes:
                target = world.dotted(path, text)
                for at, kind in world.order(target.path, target.name)[0] if target.kind == "class" else ():
                    for name, _, line in kind.fields:
                        found.setdefault(name, (at, line))
    return found
