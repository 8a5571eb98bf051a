"""A name that is still there and has become another kind of thing: the same words mean something else.

Reason: one side turns a function into a coroutine, a property into a method, demands one more method of every subclass,
or calls an overridden method with one argument more; the other side adds a use of it as it was. Both texts bind, so
neither git nor a check of names sees it, and it fails, or is silently wrong, when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.modules import Target
from guard.checks.breaks.project_index import World
from guard.checks.breaks.reach import Reach, shown
from guard.documents.outline import Access, ClassOutline, Flag, FunctionOutline, Parameter
from guard.documents.signatures import misfit
from guard.model import Related

_PROPERTIES = {"property", "cached_property"}
_ABSTRACT = {"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"}
_ABC = {"ABC", "abc.ABC"}


def coroutines_used(comparison: Comparison) -> Iterator[Break]:
    """Calls of what merged makes a coroutine, whose result is used, or dropped, without `await`."""
    for path in comparison.worlds.paths:
        for found in comparison.calls.suspects(path):
            if found.call.flags & Flag.AWAITED or not found.call.flags & (Flag.USED | Flag.STATEMENT):
                continue
            states = comparison.calls.states(path, found.call, _is_coroutine)
            if _is_coroutine(found) and is_new(states):
                yield _of_call(
                    comparison, found, states, "is a coroutine in merged, and its result is used without `await`"
                )


def _is_coroutine(found: Reach) -> bool:
    world, call = found.world, found.call
    target = world.resolve(found.path, call.root, call.path)
    functions = world.functions_of(target) if target.kind == "function" else []
    return bool(functions) and all(one.coroutine and not one.generator and not one.decorators for one in functions)


def properties_and_methods(comparison: Comparison) -> Iterator[Break]:
    """Attributes that are read as values and are methods in merged, or are called and are properties in merged."""
    worlds = comparison.worlds
    for path in worlds.paths:
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for line, access in _accesses(worlds.merged, path):
            if access.path[-1] not in comparison.calls.changed:
                continue
            kind = _kind_of(worlds.merged, path, access)
            called = bool(access.flags & Flag.CALLED)
            if kind is None or kind != ("property" if called else "method") or (access.scope, access.path) in seen:
                continue

            def state(tree: str, path: str = path, access: Access = access, bad: str = kind) -> State:
                there = worlds.path_in(tree, path)
                same = [one for _, one in _accesses(worlds[tree], there) if _same(one, access)] if there else []
                kinds = {_kind_of(worlds[tree], there or "", one) for one in same}
                if not same or None in kinds:
                    return State.ABSENT
                return State.BAD if bad in kinds else State.OK

            if not any(state(tree) is State.OK for tree in PARENTS) or not is_new(state):
                continue
            seen.add((access.scope, access.path))
            told = "called here, but is a property in merged" if called else "read here, but is a method in merged"
            owner = _receiver(worlds.merged, path, access)
            name = f"{owner.name}.{access.path[-1]}"
            target = Target("function", owner.path, name)
            found = _break(
                worlds.merged, path, access.scope, line, access.path[-1], f"`{name}` is {told}", target, state
            )
            above = tuple(replace(one, line=max(1, one.line - 1)) for one in found.related)
            places = _decorators(comparison, target, [tree for tree in PARENTS if state(tree) is State.OK])
            yield replace(found, definition="property", definition_places=places, related=above)


def _decorators(comparison: Comparison, target: Target, trees: list[str]) -> dict[str, tuple[str, int]]:
    """The line above a method in some trees: its decorator is what makes it a property."""
    places = {}
    for tree in trees:
        world, path = comparison.worlds[tree], comparison.worlds.path_in(tree, target.path)
        view = world.view(path) if path else None
        functions = view.functions.get(target.name) if view else None
        if view and path and functions:
            places[tree] = (path, max(1, view.line_of(functions[0]) - 1))
    return places


def _same(one: Access, other: Access) -> bool:
    called = (one.flags ^ other.flags) & Flag.CALLED
    return not called and (one.scope, one.path, one.root.kind) == (other.scope, other.path, other.root.kind)


def _accesses(world: World, path: str) -> Iterator[tuple[int, Access]]:
    view = world.view(path)
    for offset, segment in view.outline.parts if view else ():
        for access in segment.accesses:
            if not access.flags & (Flag.TYPING | Flag.GUARD_ATTRIBUTE):
                yield offset + access.line, access


def _receiver(world: World, path: str, access: Access) -> Target:
    return world.follow(world.start(path, access.root), access.path[:-1])


def _kind_of(world: World, path: str, access: Access) -> str | None:
    """`property` or `method` where an object of a class of the repository has the attribute as one; else None."""
    receiver = _receiver(world, path, access)
    name = access.path[-1]
    if receiver.kind != "object":
        return None
    for at, kind in world.order(receiver.path, receiver.name)[0]:
        if name in kind.members or name in kind.stored:
            view = world.view(at)
            functions = view.functions.get(f"{kind.qualname}.{name}", []) if view and name not in kind.stored else []
            said = {decorator.rpartition(".")[2] for one in functions for decorator in one.decorators}
            if not functions or said - _PROPERTIES - {"abstractmethod", "override", "setter"}:
                return None
            return "property" if said & _PROPERTIES else "method"
    return None


def abstract_objects(comparison: Comparison) -> Iterator[Break]:
    """Objects made of a class that lacks a method which a base demands in merged."""
    for path in comparison.worlds.paths:
        for found in comparison.calls.suspects(path):
            missing = _demanded(found)
            states = comparison.calls.states(path, found.call, lambda one: bool(_demanded(one)))
            if missing and is_new(states):
                name, place = missing
                yield _of_call(
                    comparison,
                    found,
                    states,
                    f"cannot be made in merged: it does not define `{name}`, which a base demands",
                    name,
                    place,
                )


def _demanded(found: Reach) -> tuple[str, Target] | None:
    """A method without body that the called class has from a base, with where that demands it."""
    world, call = found.world, found.call
    target = world.resolve(found.path, call.root, call.path)
    if target.kind != "class":
        return None
    order, _ = world.order(target.path, target.name)
    if not any(base in _ABC for _, kind in order for base in kind.bases):
        return None
    given: set[str] = set()
    for at, kind in order:
        view = world.view(at)
        for name in kind.members:
            functions = view.functions.get(f"{kind.qualname}.{name}", []) if view else []
            abstract = bool(functions) and all(
                _ABSTRACT & {d.rpartition(".")[2] for d in f.decorators} for f in functions
            )
            if abstract and name not in given:
                return name, Target("function", at, f"{kind.qualname}.{name}")
            given.add(name)
    return None


def narrow_overrides(comparison: Comparison) -> Iterator[Break]:
    """Overriding methods that do not take a parameter which the method of the base demands in merged."""
    worlds = comparison.worlds
    for path in worlds.paths:
        view = worlds.merged.view(path)
        for kinds in view.classes.values() if view else ():
            for kind in kinds:
                for name in sorted(comparison.calls.changed & kind.members.keys()) if kind.bases else ():
                    found = _not_taken(worlds.merged, path, kind.qualname, name)
                    if found is None:
                        continue

                    def state(tree: str, path: str = path, owner: str = kind.qualname, name: str = name) -> State:
                        there = worlds.path_in(tree, path)
                        if not there or _methods(worlds[tree], there, owner, name) is None:
                            return State.ABSENT
                        return State.BAD if _not_taken(worlds[tree], there, owner, name) else State.OK

                    if any(state(tree) is State.OK for tree in PARENTS) and is_new(state):
                        missing, line, base = found
                        text = (
                            f"`{kind.qualname}.{name}` does not take `{missing}`, which `{base.name}` demands in merged"
                        )
                        symbol = f"{kind.qualname}.{name}"
                        yield _break(worlds.merged, path, symbol, line, missing, text, base, state)


def _methods(
    world: World, path: str, owner: str, name: str
) -> tuple[FunctionOutline, FunctionOutline, Target, int] | None:
    """A method of a class, the one of a base that it overrides, where that stands, and the line of the first."""
    order, _ = world.order(path, owner)
    if not order or name.startswith("__"):
        return None
    own = _only(world, order[0], name)
    for at, kind in order[1:]:
        if name in kind.members:
            over = _only(world, (at, kind), name)
            if (
                own is None
                or over is None
                or own.decorators != ()
                or set(over.decorators) - _ABSTRACT - {"abc.abstractmethod"}
            ):
                return None
            view = world.view(path)
            line = view.line_of(own) if view else own.line
            return own, over, Target("function", at, f"{kind.qualname}.{name}"), line
    return None


def _only(world: World, place: tuple[str, ClassOutline], name: str) -> FunctionOutline | None:
    view = world.view(place[0])
    functions = view.functions.get(f"{place[1].qualname}.{name}", []) if view else []
    return functions[0] if len(functions) == 1 else None


def _not_taken(world: World, path: str, owner: str, name: str) -> tuple[str, int, Target] | None:
    """A parameter that callers of the base's method must give and the overriding one cannot take."""
    methods = _methods(world, path, owner, name)
    if methods is None:
        return None
    own, over, base, line = methods
    demanded = [one for one in over.parameters[1:] if one.kind in {"p", "a", "k"} and one.default is None]
    positional = [one for one in demanded if one.kind != "k"]
    named = [one.name for one in demanded if one.kind == "k"]
    problem = misfit(own.parameters[1:], len(positional), named, open_ended=True)
    if problem is None:
        return None
    return _first_extra(own.parameters[1:], demanded), line, base


def _first_extra(own: tuple[Parameter, ...], demanded: list[Parameter]) -> str:
    names = {one.name for one in own}
    return next((one.name for one in demanded if one.name not in names), demanded[-1].name)


def _of_call(
    comparison: Comparison,
    found: Reach,
    states: Callable[[str], State],
    told: str,
    subject: str = "",
    place: Target | None = None,
) -> Break:
    world, call = found.world, found.call
    target = place or world.resolve(found.path, call.root, call.path)
    name = shown(call) or target.name
    return _break(
        world,
        found.path,
        call.scope,
        found.line,
        subject or name.rpartition(".")[2],
        f"`{name}` {told}",
        target,
        states,
    )


def _break(
    world: World,
    path: str,
    scope: str,
    line: int,
    subject: str,
    message: str,
    target: Target,
    states: Callable[[str], State],
) -> Break:
    view = world.view(target.path)
    functions = world.functions_of(target)
    at = view.line_of(functions[0]) if view and functions else 1
    came_from = origin_side(states)
    return Break(
        code="GRD304",
        path=path,
        symbol=scope or "<module>",
        subject=subject,
        line=line,
        message=message,
        related=(Related(target.path, at, f"`{target.name}` as merged defines it"),),
        came_from=came_from,
        lost_side=came_from,
        reader=subject,
        definition=target.name.rpartition(".")[2],
        detail=f"{target.name} kind",
    )
