"""Missing attributes: an attribute is read that merged defines nowhere and a parent defines.

Reason: a field, method or assignment is lost in one file while its readers in other files merge cleanly. Engines see
this only where the receiver has a declared type, and drown it in noise; here the lost definition comes first, and
only its readers are looked at. Where the receiver's class is known, the class and its bases decide; where it is not,
the name must be given to no object at all in merged. All readers of one lost definition are one finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from guard.checks.broken.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.broken.gathering import FourWorlds, is_test
from guard.checks.broken.givers import Givers
from guard.checks.broken.modules import Target
from guard.checks.broken.world import World
from guard.model import Confidence, Related, Severity, Side
from guard.source.outline import Access, Flag

_OBJECTS = {"object", "class", "super"}


class Reader(NamedTuple):
    """One read of a lost attribute in merged."""

    path: str
    line: int
    access: Access
    position: int
    name: str
    owner: tuple[str, str] | None  # file and class of the receiver, where it is known


def missing_attributes(worlds: FourWorlds) -> Iterator[Break]:
    """Breaks by lost definition."""
    check = _AttributeCheck(worlds)
    groups: dict[tuple[str, tuple[str, str] | None], list[Reader]] = {}
    for reader in check.readers():
        if is_new(check.states(reader)):
            groups.setdefault((reader.name, reader.owner), []).append(reader)
    for (name, owner), readers in groups.items():
        yield check.broken(name, owner, readers)


class _AttributeCheck:
    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._givers = {tree: Givers(worlds, tree) for tree in ("merged", "base", *PARENTS)}
        self.lost = _lost(worlds)
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
        if not known:
            yield Reader(path, offset + access.line, access, position, name, owner)

    def _given(self, tree: str, path: str, access: Access, position: int) -> tuple[bool, tuple[str, str] | None]:
        """Whether a tree gives the attribute to the receiver, and the receiver's class where it is known."""
        world = self._worlds[tree]
        name = access.path[position]
        receiver = world.follow(world.start(path, access.root), access.path[:position])
        if receiver.kind == "module" or receiver.kind in {"external", "function"}:
            return True, None
        if receiver.kind in _OBJECTS:
            return self._class_gives(world, tree, receiver, name), (receiver.path, receiver.name)
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

    def _was_there(self, receiver: Target, name: str) -> bool:
        """Whether a parent's version of the class, or of its bases in the repository, gave the attribute."""
        for tree in PARENTS:
            world = self._worlds[tree]
            path = self._worlds.path_in(tree, receiver.path)
            order = world.order(path, receiver.name)[0] if path else ()
            if any(name in kind.members or name in kind.stored for _, kind in order):
                return True
        return False

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
            severity=Severity.ERROR if owner or len(readers) > 1 else Severity.WARNING,
            confidence=Confidence.HIGH if owner else Confidence.MEDIUM,
            related=tuple(related),
            lost_side=sides[0] if len(sides) == 1 else None,
            came_from=origin_side(self.states(first)),
            reader=name,
            definition=name,
            definition_places=places,
        )

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
    return {name: sides for name, sides in lost.items() if not name.startswith("__")}


def _all_given(world: World, paths: Iterable[str]) -> set[str]:
    given: set[str] = set()
    for path in paths:
        view = world.view(path)
        for _, segment in view.outline.parts if view else ():
            given |= segment.attributes
    return given


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
