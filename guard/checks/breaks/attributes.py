"""Missing attributes: an attribute is read that merged defines nowhere and a parent defines.

Reason: a field, method or assignment is lost in one file while its readers in other files merge cleanly. Engines see
this only where the receiver has a declared type, and drown it in noise; here the lost definition comes first, and
only its readers are looked at. Where the receiver's class is known, the class and its bases decide; where it is not,
the name must be given to no object at all in merged. All readers of one lost definition are one finding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from typing import NamedTuple

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.gathering import FourWorlds, is_test, is_vendored
from guard.checks.breaks.modules import ModuleView, Target
from guard.checks.breaks.project_index import World
from guard.documents.outline import Access, ClassOutline, Flag
from guard.model import Confidence, Related, Severity, Side

_OBJECTS = {"object", "class", "super"}


Key = tuple[str, tuple[str, str] | None]


class Reader(NamedTuple):
    """One read of a lost attribute in merged."""

    path: str
    line: int
    access: Access
    position: int
    name: str
    owner: tuple[str, str] | None  # file and class of the receiver, where it is known


def missing_attributes(comparison: Comparison) -> Iterator[Break]:
    """Breaks by lost definition."""
    check = _AttributeCheck(comparison)
    groups: dict[Key, list[Reader]] = {}
    for reader in check.readers():
        if is_new(check.states(reader)):
            groups.setdefault((reader.name, reader.owner), []).append(reader)
    for (name, owner), readers in _joined(groups).items():
        yield check.broken(name, owner, readers)


def _joined(groups: dict[Key, list[Reader]]) -> dict[Key, list[Reader]]:
    """Reads through a receiver of unknown class belong to the one class that lost the attribute, if it is one."""
    for name, owner in list(groups):
        owners = [key for key in groups if key[0] == name and key[1] is not None]
        if owner is None and len(owners) == 1:
            groups[owners[0]] += groups.pop((name, owner))
    return groups


class _AttributeCheck:
    def __init__(self, comparison: Comparison) -> None:
        self._worlds = comparison.worlds
        self._givers = comparison.givers
        self.lost = _lost(comparison.worlds)
        self._accesses: dict[tuple[str, str], dict[tuple[str, str], list[tuple[Access, int]]]] = {}

    def readers(self) -> Iterator[Reader]:
        """Reads in merged of an attribute that a parent gives and that merged does not give to this receiver."""
        world = self._worlds.merged
        everywhere = {name for name, sides in self.lost.items() if len(sides) == 2}
        for path in (*self._worlds.paths, *self._worlds.mentions(everywhere)):
            view = world.view(path)
            if view is None or not self.lost.keys() & view.outline.words:
                continue
            for offset, segment in view.outline.parts:
                for access in segment.accesses:
                    if access.flags & (Flag.GUARD_ATTRIBUTE | Flag.TYPING):
                        continue
                    for position, name in enumerate(access.path):
                        if name in self.lost and (access.scope, name) not in segment.probed:
                            yield from self._reader(path, offset, access, position, name)

    def _reader(self, path: str, offset: int, access: Access, position: int, name: str) -> Iterator[Reader]:
        known, owner = self._given("merged", path, access, position)
        if not known and (owner or (not self._says_nothing(name) and self._may_be_own(path, access, position))):
            yield Reader(path, offset + access.line, access, position, name, owner)

    def _may_be_own(self, path: str, access: Access, position: int) -> bool:
        return is_vendored(path) or not self._of_a_package(access.path[: position + 1])

    def _says_nothing(self, name: str) -> bool:
        """Whether the last name alone ties no object of unknown class to what lost the attribute.

        Objects of the language, its library and the common packages have the name, or a tree that gives it to nothing
        reads it all the same, so that its objects come from somewhere else.
        """
        if name in known_attributes():
            return True
        return any(self._read_without_giver(tree, name) for tree in ("base", *PARENTS))

    def _read_without_giver(self, tree: str, name: str) -> bool:
        if self._givers[tree].anywhere(name, tests=True):
            return False
        world = self._worlds[tree]
        for path in self._worlds.trees.touched:
            view = world.view(path) if path in world.index.paths and self._worlds.speaks(tree, path, name) else None
            for _, segment in view.outline.parts if view else ():
                if any(name in access.path for access in segment.accesses):
                    return True
        return False

    def _of_a_package(self, names: Iterable[str]) -> bool:
        """Whether only kept copies of other packages gave one of the attributes: the object may be the package's."""
        files = ([file for tree in PARENTS for file in self._givers[tree].files(name)] for name in names)
        return any(given and all(map(is_vendored, given)) for given in files)

    def _given(self, tree: str, path: str, access: Access, position: int) -> tuple[bool, tuple[str, str] | None]:
        """Whether a tree gives the attribute to the receiver, and the receiver's class where it is known."""
        world = self._worlds[tree]
        name = access.path[position]
        receiver = world.follow(world.start(path, access.root), access.path[:position])
        if receiver.kind == "module" or receiver.kind in {"external", "function"}:
            return True, None
        if receiver.kind in _OBJECTS:
            return self._class_gives(world, tree, receiver, name), self._loser(receiver, name)
        return self._givers[tree].anywhere(name, tests=is_test(path)), None

    def _class_gives(self, world: World, tree: str, receiver: Target, name: str) -> bool:
        order, complete = world.order(receiver.path, receiver.name)
        if any({"__getattr__", "__getattribute__"} & kind.members.keys() for _, kind in order):
            return True
        if any(name in kind.members or name in kind.stored for _, kind in order):
            return True
        if not complete and not self._was_there(receiver, name):
            return True
        return self._givers[tree].below(receiver.path, receiver.name, name)

    def _was_there(self, receiver: Target, name: str) -> tuple[str, str] | None:
        """The class of a parent's tree that gave the attribute: the receiver's, or a base of it in the repository."""
        for tree in PARENTS:
            world = self._worlds[tree]
            path = self._worlds.path_in(tree, receiver.path)
            for at, kind in world.order(path, receiver.name)[0] if path else ():
                if name in kind.members or name in kind.stored:
                    return at, kind.qualname
        return None

    def _loser(self, receiver: Target, name: str) -> tuple[str, str]:
        """The class of merged that lost the attribute: the receiver's, or the base that a parent has it in."""
        order = self._worlds.merged.order(receiver.path, receiver.name)[0]
        was = self._was_there(receiver, name)
        return was if was and any((at, kind.qualname) == was for at, kind in order) else (receiver.path, receiver.name)

    def states(self, reader: Reader) -> Callable[[str], State]:
        """What each tree says of the same read."""

        def state(tree: str) -> State:
            there = self._worlds.path_in(tree, reader.path)
            same = self._same(tree, there, reader) if there else []
            if not there or not same:
                return State.ABSENT
            given = [self._given(tree, there, access, position)[0] for access, position in same]
            return State.OK if all(given) else State.BAD

        return state

    def _same(self, tree: str, path: str, reader: Reader) -> list[tuple[Access, int]]:
        known = self._accesses.get((tree, path))
        if known is None:
            known = self._accesses[tree, path] = {}
            view = self._worlds[tree].view(path)
            for _, segment in view.outline.parts if view else ():
                for access in segment.accesses:
                    for position, name in enumerate(access.path):
                        if name in self.lost:
                            known.setdefault((access.scope, name), []).append((access, position))
        return [
            item
            for item in known.get((reader.access.scope, reader.name), ())
            if item[0].root.kind == reader.access.root.kind
        ]

    def broken(self, name: str, owner: tuple[str, str] | None, readers: list[Reader]) -> Break:
        readers = sorted(readers, key=lambda reader: (is_test(reader.path), reader.path, reader.line))
        first = readers[0]
        places = {}
        for tree in PARENTS:
            at = self._givers[tree].place(name, owner)
            if at:
                places[tree] = at
        sides = [Side(tree) for tree in places]
        related = [Related(r.path, r.line, f"read in {r.access.scope or '<module>'}") for r in readers[1:20]]
        related += self._doubles(name, owner)
        home = self._home(owner, places)
        if home:
            related.append(Related(home[0], home[1], f"where `{name}` is missing"))
        other = f" and {len(readers) - 1} more place{'s' if len(readers) > 2 else ''}" if len(readers) > 1 else ""
        told = f" ({sides[0].value} defines it)" if len(sides) == 1 else " (both sides define it)" if sides else ""
        where = f"`{owner[1]}` has no such attribute in merged" if owner else "nothing defines it in merged"
        return Break(
            code="GRD303",
            path=first.path,
            symbol=first.access.scope or "<module>",
            subject=name,
            line=first.line,
            message=f"`{'.'.join((*_shown(first),))}` is read here{other}, but {where}{told}",
            severity=Severity.ERROR if owner else Severity.WARNING,
            confidence=Confidence.HIGH if owner else Confidence.MEDIUM,
            related=tuple(related),
            lost_side=sides[0] if len(sides) == 1 else None,
            came_from=origin_side(self.states(first)),
            reader=name,
            definition=name,
            definition_places=places,
        )

    def _doubles(self, name: str, owner: tuple[str, str] | None) -> list[Related]:
        """Other classes that lost the same attribute: test doubles of the class, mostly."""
        found = []
        for path in self._worlds.paths:
            after = self._worlds.merged.view(path)
            for tree in PARENTS:
                there = self._worlds.path_in(tree, path)
                before = self._worlds[tree].view(there) if there else None
                if not before or not after or name not in before.outline.words or before.outline is after.outline:
                    continue
                for kind in _losers(before, after, name):
                    if (path, kind.qualname) != owner:
                        line = after.line_of(after.classes[kind.qualname][0])
                        found.append(Related(path, line, f"`{kind.qualname}` lost `{name}` of {tree} too"))
        return found[:5]

    def _home(self, owner: tuple[str, str] | None, places: dict[str, tuple[str, int]]) -> tuple[str, int] | None:
        """The place in merged where the definition should stand: its class, or the file that a parent has it in."""
        if owner:
            view = self._worlds.merged.view(owner[0])
            kinds = view.classes.get(owner[1]) if view else None
            return (owner[0], view.line_of(kinds[0])) if view and kinds else None
        for path, _ in places.values():
            if path in self._worlds.merged.index.paths:
                return path, 1
        return None


@functools.cache
def known_attributes() -> frozenset[str]:
    """Attributes of the objects of Python, its library, torch, numpy, pandas and requests (`known_attributes.txt`)."""
    text = resources.files("guard.checks.breaks").joinpath("known_attributes.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.split("\n") if line and not line.startswith("#"))


def _shown(reader: Reader) -> tuple[str, ...]:
    access = reader.access
    root = {"self": "self", "class": "cls", "super": "super()", "value": "…"}.get(access.root.kind, "")
    if not root:
        root = access.root.text.rpartition("|")[2] or "…"
    return (root, *access.path[: reader.position + 1])


def _lost(worlds: FourWorlds) -> dict[str, set[str]]:
    """Attributes that a parent's files give and merged's versions of them do not, with the parents that give them."""
    lost: dict[str, set[str]] = {}
    everywhere: set[str] = set()
    for path in worlds.paths:
        everywhere |= _all_given(worlds.merged, [path])
    for tree in PARENTS:
        world = worlds[tree]
        touched = [path for path in worlds.trees.touched if path in world.index.paths]
        for name in _all_given(world, touched) - everywhere:
            lost.setdefault(name, set()).add(tree)
        for path in worlds.paths:
            there = worlds.path_in(tree, path)
            for name in _lost_members(world, there, worlds.merged, path) if there else ():
                lost.setdefault(name, set()).add(tree)
    unread = worlds.unread_words
    return {name: sides for name, sides in lost.items() if not name.startswith("__") and name not in unread}


def _all_given(world: World, paths: Iterable[str]) -> set[str]:
    given: set[str] = set()
    for path in paths:
        view = world.view(path)
        for _, segment in view.outline.parts if view else ():
            given |= segment.attributes
    return given


def _losers(before: ModuleView, after: ModuleView, name: str) -> Iterator[ClassOutline]:
    """Classes of a file that gave an attribute before and do not after."""
    for qualname, kinds in before.classes.items():
        now = after.classes.get(qualname)
        if now and not any(name in kind.members or name in kind.stored for kind in now):
            yield from (kind for kind in kinds if name in kind.members or name in kind.stored)


def _lost_members(world: World, there: str, merged: World, path: str) -> Iterator[str]:
    """Members of classes of a file that merged's version of the same class has not."""
    before, after = world.view(there), merged.view(path)
    if before is None or after is None or before.outline is after.outline:
        return
    for qualname, kinds in before.classes.items():
        now = after.classes.get(qualname)
        if not now:
            continue
        has = {name for kind in now for name in (*kind.members, *kind.stored)}
        for kind in kinds:
            for name in (*kind.members, *kind.stored):
                if name not in has:
                    yield name
