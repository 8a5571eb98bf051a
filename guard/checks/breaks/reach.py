"""All calls of a file with what they reach, in each of the four trees; asked by every check of calls."""

from __future__ import annotations

from collections.abc import Callable

from guard.checks.breaks.callees import Callee, callees
from guard.checks.breaks.changed import changed_names
from guard.checks.breaks.difference import State
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.project_index import World
from guard.documents.outline import Call

Shape = tuple[object, ...]


class Reach:
    """One call of one tree. `line` is a line of the file; what it reaches is worked out when asked for."""

    __slots__ = ("_known", "call", "line", "path", "world")

    def __init__(self, world: World, path: str, line: int, call: Call) -> None:
        self.path = path
        self.line = line
        self.call = call
        self.world = world
        self._known: list[Callee] | None = None

    @property
    def reached(self) -> list[Callee]:
        """All definitions that the call may reach."""
        if self._known is None:
            self._known = callees(self.world, self.path, self.call)
        return self._known


class Reached:
    """Calls by tree and path, resolved once."""

    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._changed: frozenset[str] | None = None
        self._found: dict[tuple[str, str], list[Reach]] = {}
        self._suspects: dict[str, list[Reach]] = {}
        self._scopes: dict[tuple[str, str], dict[tuple[str, str], list[Reach]]] = {}

    def of(self, tree: str, path: str) -> list[Reach]:
        """All calls of a file."""
        known = self._found.get((tree, path))
        if known is None:
            known = self._found[tree, path] = []
            world = self._worlds[tree]
            view = world.view(path)
            for offset, segment in view.outline.parts if view else ():
                known.extend(Reach(world, path, offset + call.line, call) for call in segment.calls)
        return known

    @property
    def changed(self) -> frozenset[str]:
        """Last names of what is not the same in merged and in both parents."""
        if self._changed is None:
            self._changed = changed_names(self._worlds)
        return self._changed

    def suspects(self, path: str) -> list[Reach]:
        """Calls of a file of merged that may reach what differs between merged and a parent, by name."""
        known = self._suspects.get(path)
        if known is None:
            changed = self.changed
            known = [found for found in self.of("merged", path) if _may_reach(found.call, changed)]
            self._suspects[path] = known
        return known

    def alike(self, tree: str, path: str, call: Call) -> list[Reach]:
        """Calls of the version of merged's file `path` in another tree that have the same scope, callee and shape."""
        wanted = shape(call)
        return [found for found in self.in_scope(tree, path, call) if shape(found.call) == wanted]

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


def _may_reach(call: Call, changed: frozenset[str]) -> bool:
    """Whether a name by which a call reaches its callee is a changed one: of its last two names, or of its root."""
    path = call.path
    if path and (path[-1] in changed or (len(path) > 1 and path[-2] in changed)):
        return True
    kind, text = call.root
    if kind not in {"global", "local"}:
        text = text.rpartition("|")[2].rpartition(".")[2]
    return text in changed or (kind == "super" and "super" in changed)


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
