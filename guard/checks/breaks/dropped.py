"""Dropped arguments: a side added an optional argument to a call, the callee still takes it, merged does not pass it.

Reason: the call runs and the feature that the argument switches on is off. Asked only where each tree has one call of
this callee in the scope, so that no two calls are taken for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break
from guard.checks.breaks.reach import Reach, last_name, shown
from guard.documents.outline import Parameter
from guard.model import Related, Severity, Side


class Dropped(NamedTuple):
    """A call of merged, the parent's call, and what is missing."""

    side: Side
    found: Reach
    there: Reach
    arguments: tuple[Parameter, ...]


def dropped_arguments(comparison: Comparison) -> Iterator[Break]:
    """Breaks by scope and arguments: two calls that lost the same arguments are one break."""
    for path in comparison.worlds.paths:
        counts: Counter[tuple[str, str]] = Counter()
        places = _places(comparison, path)
        if not places:
            continue
        calls = comparison.calls.of("merged", path)
        for found in calls:
            counts[found.call.scope, last_name(found.call)] += 1
        groups: dict[tuple[str, tuple[str, ...]], list[Dropped]] = {}
        for found in calls:
            place = (found.call.scope, last_name(found.call))
            if place in places and counts[place] == 1 and not found.call.open_ended:
                for dropped in _dropped(comparison, found):
                    key = (found.call.scope, tuple(one.name for one in dropped.arguments))
                    groups.setdefault(key, []).append(dropped)
        for group in groups.values():
            yield _break(group)


def _places(comparison: Comparison, path: str) -> set[tuple[str, str]]:
    """Scopes and last names of calls with named arguments that a parent's text has and merged's text has not."""
    worlds = comparison.worlds
    now = worlds.merged.view(path)
    has = {id(segment) for _, segment in now.outline.parts} if now else set()
    places: set[tuple[str, str]] = set()
    for tree in PARENTS:
        there = worlds.path_in(tree, path)
        view = worlds[tree].view(there) if there else None
        for _, segment in view.outline.parts if view else ():
            if id(segment) not in has:
                places.update((call.scope, last_name(call)) for call in segment.calls if call.keywords)
    return places


def _dropped(comparison: Comparison, found: Reach) -> Iterator[Dropped]:
    for side in Side:
        there, other = (comparison.calls.in_scope(tree.value, found.path, found.call) for tree in (side, side.other))
        if not len(there) == len(other) == 1:
            continue
        known = {*other[0].call.keywords, *found.call.keywords}
        if known.issuperset(there[0].call.keywords):
            continue
        base = comparison.calls.in_scope("base", found.path, found.call)
        if len(base) != 1:
            return
        known.update(base[0].call.keywords)
        names = [name for name in there[0].call.keywords if name not in known]
        count = len(found.call.positional)
        if not names or any(len(one.call.positional) != count for one in (there[0], other[0], base[0])):
            continue
        missing = _taken(found, names)
        if missing:
            yield Dropped(side, found, there[0], missing)


def _taken(found: Reach, names: list[str]) -> tuple[Parameter, ...]:
    """Those of the arguments that merged's callee takes by name, leaves optional and is not given by position."""
    if len(found.reached) != 1:
        return ()
    parameters = found.reached[0].parameters
    filled = [one.name for one in parameters if one.kind in {"p", "a"}][: len(found.call.positional)]
    takes = {one.name: one for one in parameters if one.kind in {"a", "k"} and one.default is not None}
    return tuple(takes[name] for name in names if name in takes and name not in filled)


def _break(group: list[Dropped]) -> Break:
    side, found, there, arguments = group[0]
    names = [argument.name for argument in arguments]
    callee = found.reached[0]
    told = ", ".join(f"`{name}`" for name in names)
    rest = [Related(one.found.path, one.found.line, f"the same at `{shown(one.found.call)}`") for one in group[1:]]
    default = arguments[0].default or ""
    falls = f"; it falls back to {default}" if len(names) == 1 and default != "…" else "; defaults are used"
    return Break(
        code="GRD311",
        path=found.path,
        symbol=found.call.scope or "<module>",
        subject=names[0],
        line=found.line,
        message=f"{side.value} passes {told} to `{shown(found.call) or callee.name}` here, merged does not{falls}",
        severity=Severity.WARNING,
        related=(*rest, Related(there.path, there.line, "the call with the argument", side.value)),
        lost_side=side,
        reader=names[0],
        definition=names[0],
        definition_places={side.value: (there.path, there.line)},
        detail=",".join((callee.name, *names[1:])),
    )
