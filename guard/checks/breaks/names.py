"""Undefined names: a name is read that nothing defines in merged.

Reason: an import block and the code that uses it sit far apart in a file, so a merge takes one from each side. Own
scope analysis instead of an engine: the outlines are there anyway, and the state of each parent is needed as well.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.modules import ModuleView
from guard.checks.breaks.project_index import World
from guard.documents.outline import Flag, Read
from guard.model import Related, Severity, Side

_ALWAYS = frozenset(dir(builtins)) | {
    "__file__",
    "__path__",
    "__annotations__",
    "__class__",
    "__qualname__",
    "__module__",
    "WindowsError",
    "reveal_type",
}

Reads = dict[str, list[tuple[Read, int]]]


def undefined_names(comparison: Comparison) -> Iterator[Break]:
    """Breaks by name and file: all reads of one name are one finding."""
    worlds = comparison.worlds
    check = _NameCheck(worlds)
    for path in worlds.paths:
        for name, reads in check.undefined("merged", path).items():
            fresh = [(read, line) for read, line in reads if is_new(check.states(path, read))]
            if fresh:
                yield check.broken(path, name, fresh)


class _NameCheck:
    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._found: dict[tuple[str, str], Reads] = {}

    def undefined(self, tree: str, path: str) -> Reads:
        """Names of a file that nothing defines, each with its reads and their lines."""
        key = (tree, path)
        if key not in self._found:
            self._found[key] = _undefined(self._worlds[tree], path)
        return self._found[key]

    def states(self, path: str, read: Read) -> Callable[[str], State]:
        """What each tree says of the same read: name and scope decide, never the line."""
        return lambda tree: self._state(tree, path, read)

    def _state(self, tree: str, path: str, read: Read) -> State:
        there = self._worlds.path_in(tree, path)
        view = self._worlds[tree].view(there) if there else None
        if view is None or there is None:
            return State.ABSENT
        if any(item.scope == read.scope for item, _ in self.undefined(tree, there).get(read.name, ())):
            return State.BAD
        has_scope = not read.scope or read.scope in view.functions or read.scope in view.classes
        return State.OK if has_scope and read.name in view.outline.words else State.ABSENT

    def broken(self, path: str, name: str, fresh: list[tuple[Read, int]]) -> Break:
        certain = [item for item in fresh if not item[0].flags & Flag.TYPING]
        first, line = (certain or fresh)[0]
        places = {}
        for tree in PARENTS:
            there = self._worlds.path_in(tree, path)
            view = self._worlds[tree].view(there) if there else None
            at = view and definition_line(view, name, first.scope)
            if there and at:
                places[tree] = (there, at)
        sides = [Side(tree) for tree in places]
        return Break(
            code="GRD301",
            path=path,
            symbol=first.scope or "<module>",
            subject=name,
            line=line,
            message=_message(name, fresh, sides),
            severity=Severity.ERROR if certain else Severity.WARNING,
            related=tuple(
                Related(path, at, f"also read in {read.scope or '<module>'}") for read, at in fresh if at != line
            )[:20],
            lost_side=sides[0] if len(sides) == 1 else None,
            came_from=origin_side(self.states(path, first)),
            reader=name,
            definition=name,
            definition_places=places,
        )


def _undefined(world: World, path: str) -> Reads:
    view = world.view(path)
    if view is None or view.outline.error:
        return {}
    found: Reads = {}
    for offset, segment in view.outline.parts:
        for read in segment.reads:
            if read.name not in view.names and read.name not in _ALWAYS and not read.flags & Flag.GUARD_NAME:
                found.setdefault(read.name, []).append((read, offset + read.line))
    if found and (view.stars or view.dynamic):
        found = {name: reads for name, reads in found.items() if world.member(path, name).kind == "missing"}
    return found


def definition_line(view: ModuleView, name: str, scope: str) -> int | None:
    """The line of a file that binds a name for code in a scope: at module level, or in the scope's own signature."""
    for offset, segment in view.outline.parts:
        for binding in segment.bindings:
            if binding.name == name and binding.scope in {"", scope}:
                return offset + binding.line
        for fact in segment.imports:
            if fact.bound == name and fact.scope in {"", scope}:
                return offset + fact.line
    if name in view.names:
        return 1
    around = scope
    while around:
        for function in view.functions.get(around, ()):
            if any(parameter.name == name for parameter in function.parameters):
                return view.line_of(function)
        around = around.rpartition(".")[0]
    return None


def _message(name: str, fresh: list[tuple[Read, int]], sides: list[Side]) -> str:
    scopes = list(dict.fromkeys(read.scope or "<module>" for read, _ in fresh))
    where = ", ".join(scopes[:3]) + (f" and {len(scopes) - 3} more" if len(scopes) > 3 else "")
    times = f"{len(fresh)} times " if len(fresh) > 1 else ""
    text = f"`{name}` is read {times}({where}) and nothing defines it in merged"
    if len(sides) == 2:
        return f"{text}; both sides define it"
    return f"{text}; {sides[0].value} defines it" if sides else text
