"""All calls of a file with what they reach, in each of the four trees; asked by every check of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from guard.checks.broken.callees import Callee, callees
from guard.checks.broken.difference import State
from guard.checks.broken.gathering import FourWorlds
from guard.source.outline import Call

Shape = tuple[object, ...]


class Reach(NamedTuple):
    """One call of one tree. `line` is a line of the file."""

    path: str
    line: int
    call: Call
    reached: list[Callee]


class Reached:
    """Calls by tree and path, resolved once."""

    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._found: dict[tuple[str, str], list[Reach]] = {}
        self._shapes: dict[tuple[str, str], dict[Shape, list[Reach]]] = {}
        self._scopes: dict[tuple[str, str], dict[tuple[str, str], list[Reach]]] = {}

    def of(self, tree: str, path: str) -> list[Reach]:
        """All calls of a file that reach something in the repository."""
        known = self._found.get((tree, path))
        if known is None:
            known = self._found[tree, path] = []
            world = self._worlds[tree]
            view = world.view(path)
            for offset, segment in view.outline.parts if view else ():
                for call in segment.calls:
                    reached = callees(world, path, call)
                    known.append(Reach(path, offset + call.line, call, reached))
        return known

    def alike(self, tree: str, path: str, call: Call) -> list[Reach]:
        """Calls of the version of merged's file `path` in another tree that have the same scope, callee and shape."""
        there = self._worlds.path_in(tree, path)
        if there is None:
            return []
        known = self._shapes.get((tree, there))
        if known is None:
            known = self._shapes[tree, there] = {}
            for found in self.of(tree, there):
                known.setdefault(shape(found.call), []).append(found)
        return known.get(shape(call), [])

    def in_scope(self, tree: str, path: str, call: Call) -> list[Reach]:
        """Calls of a callee of the same last name in the same scope of another tree."""
        there = self._worlds.path_in(tree, path)
        if there is None:
            return []
        known = self._scopes.get((tree, there))
        if known is None:
            known = self._scopes[tree, there] = {}
            for found in self.of(tree, there):
                known.setdefault((found.call.scope, last_name(found.call)), []).append(found)
        return known.get((call.scope, last_name(call)), [])

    def states(self, path: str, call: Call, is_bad: Callable[[Reach], bool]) -> Callable[[str], State]:
        """What each tree says of the same call: scope, callee and shape of the arguments decide."""

        def state(tree: str) -> State:
            same = self.alike(tree, path, call)
            if not same:
                return State.ABSENT
            return State.BAD if any(map(is_bad, same)) else State.OK

        return state


def shape(call: Call) -> Shape:
    """What makes two calls the same one."""
    return (call.scope, call.root, call.path, call.positional, call.keywords, call.open_ended, call.unpacked)


def last_name(call: Call) -> str:
    """The last name of the callee."""
    return call.path[-1] if call.path else call.root.text


def shown(call: Call) -> str:
    """The callee as a person would write it."""
    roots = {"global": call.root.text, "local": call.root.text, "self": "self", "class": "cls", "super": "super()"}
    first = roots.get(call.root.kind, "")
    return ".".join((first, *call.path) if first else call.path)
