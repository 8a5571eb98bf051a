"""Changed defaults: a caller of one side counts on a default that the other side changed or added.

Reason: the call does not name the argument, so its text says nothing of the change; it runs, with another meaning.
Only callers that the changing side does not have count: its own it saw. A new parameter counts only where it is
a switch that is on by default and that the side which added it sets by name somewhere: that side knew that the default
does not fit every caller. Other new defaults keep the old behaviour by convention, and so does a switch that is only
handed on to what is on by itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from guard.checks.breaks.callees import Callee
from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import Break
from guard.checks.breaks.gathering import FourWorlds, is_test
from guard.checks.breaks.reach import Reach, last_name, shown
from guard.documents.outline import Call, Parameter, Root
from guard.documents.passing import handed_on
from guard.model import Confidence, Related, Severity, Side


class Change(NamedTuple):
    """A caller of merged, the parameter it leaves out, what its default was, and the side the caller is from."""

    found: Reach
    parameter: Parameter
    was: Parameter | None
    side: Side
    before: Callee


def changed_defaults(comparison: Comparison) -> Iterator[Break]:
    """Breaks by callee and parameter: what changed is one default, however many callers count on it."""
    named = functools.cache(functools.partial(_named, comparison.worlds))
    groups: dict[tuple[str, str, str, Side], list[Change]] = {}
    for path in comparison.worlds.paths:
        for found in comparison.calls.suspects(path):
            if not found.call.open_ended and len(found.reached) == 1:
                for change in _changes(comparison, found, named):
                    key = (found.reached[0].path, found.reached[0].name, change.parameter.name, change.side)
                    groups.setdefault(key, []).append(change)
    for group in groups.values():
        yield _break(sorted(group, key=lambda one: (is_test(one.found.path), one.found.path, one.found.line)))


def _named(worlds: FourWorlds, side: Side) -> Set[str]:
    """All arguments that a side's files pass by name."""
    world = worlds[side.value]
    found: set[str] = set()
    for path in worlds.trees.touched:
        view = world.view(path) if path in world.index.paths else None
        for _, segment in view.outline.parts if view else ():
            for call in segment.calls:
                found.update(call.keywords)
    return found


def _changes(comparison: Comparison, found: Reach, named: Callable[[Side], Set[str]]) -> Iterator[Change]:
    sides = [side for side in Side if not comparison.calls.in_scope(side.other.value, found.path, found.call)]
    if not sides:
        return
    callee = found.reached[0]
    left = _left_out(found.call, callee)
    for side in sides if left else ():
        other = side.other
        before = [one for same in comparison.calls.alike(side.value, found.path, found.call) for one in same.reached]
        if len(before) != 1 or before[0].name != callee.name:
            continue
        known = {one.name: one for one in reversed(before[0].parameters)}
        for parameter in left:
            was = known.get(parameter.name)
            if was is None and parameter.name not in named(other):
                continue
            if not _matters(was, parameter) or comparison.calls.in_scope("base", found.path, found.call):
                continue
            if _made_by(comparison, other, callee, parameter) and (
                was or not _on_before(comparison.worlds, side, callee, parameter)
            ):
                yield Change(found, parameter, was, side, before[0])


def _on_before(worlds: FourWorlds, side: Side, callee: Callee, parameter: Parameter) -> bool:
    """Whether a new switch changes nothing: read nowhere, or only handed on to what the caller's side has on too."""
    names = handed_on(worlds.trees.blob("merged", callee.path) or b"", callee.line, parameter.name)
    world, path = worlds[side.value], worlds.path_in(side.value, callee.path)
    if names is None or path is None:
        return False
    for name in names:
        first, *rest = name.split(".")
        functions = world.functions_of(world.resolve(path, Root("global", first), tuple(rest)))
        known = [one.default for function in functions for one in function.parameters if one.name == parameter.name]
        if not known or any(default != parameter.default for default in known):
            return False
    return True


def _left_out(call: Call, callee: Callee) -> list[Parameter]:
    slots = [parameter for parameter in callee.parameters if parameter.kind in {"p", "a"}]
    given = {parameter.name for parameter in slots[: len(call.positional)]}.union(call.keywords)
    return [one for one in callee.parameters if one.default is not None and one.name not in given]


def _matters(was: Parameter | None, now: Parameter) -> bool:
    if was is None:
        return now.default == "True"
    return was.default is not None and was.default != now.default


def _made_by(comparison: Comparison, side: Side, callee: Callee, parameter: Parameter) -> bool:
    """Whether this side has the definition as merged has it, and its change since the base made the default."""
    said = {}
    for tree in ("base", side.value):
        world = comparison.worlds[tree]
        path = comparison.worlds.path_in(tree, callee.path)
        view = world.view(path) if path else None
        functions = view.functions.get(callee.name, []) if view else []
        known = [one.default for function in functions for one in function.parameters if one.name == parameter.name]
        said[tree] = known[0] if known else None
        if not functions:
            return False
    return said[side.value] == parameter.default and said["base"] != parameter.default


def _break(group: list[Change]) -> Break:
    found, parameter, was, side, before = group[0]
    callee = found.reached[0]
    told = f"was {was.default} there" if was else f"is new in {side.other.value}"
    more = f", here and at {len(group) - 1} more place{'s' if len(group) > 2 else ''}," if len(group) > 1 else ""
    related = [Related(c.found.path, c.found.line, f"another caller, {c.found.call.scope}") for c in group[1:20]]
    return Break(
        code="GRD306",
        path=found.path,
        symbol=found.call.scope or "<module>",
        subject=parameter.name,
        line=found.line,
        message=f"code of {side.value} calls `{shown(found.call) or callee.name}`{more} without `{parameter.name}`, "
        f"which {told}; merged takes {parameter.default}",
        severity=Severity.NOTE if is_test(found.path) else Severity.WARNING,
        confidence=Confidence.MEDIUM,
        related=(*related, Related(callee.path, callee.line, f"`{callee.name}` as merged defines it")),
        lost_side=side,
        came_from=side,
        reader=last_name(found.call),
        definition=parameter.name,
        definition_places={side.value: (before.path, before.line)},
        detail=callee.name,
    )
