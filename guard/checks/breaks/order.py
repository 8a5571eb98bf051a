"""Swapped arguments: positional arguments meet a callee whose positional order changed.

Reason: both texts are fine by themselves and the call still binds, so neither git nor a type checker (of untyped
code, of `Function.apply`) sees it. The names tell: an argument called like the parameter that it met in its own
parent now meets another one. A parameter that was only renamed is no swap.
"""

from __future__ import annotations

from collections.abc import Iterator

from guard.checks.breaks.callees import Callee
from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.reach import Reach, shown
from guard.documents.outline import Call
from guard.documents.signatures import misfit
from guard.model import Related, Side

_ROLES = {"func", "fn", "function", "callback", "cls", "obj"}

Mismatch = tuple[int, str, str]  # position, parameter that the argument's name met before, parameter that it meets now


def swapped_arguments(comparison: Comparison) -> Iterator[Break]:
    """Breaks by call."""
    for path in comparison.worlds.paths:
        for found in comparison.calls.suspects(path):
            call, reached = found.call, found.reached
            if len(reached) != 1 or not _odd(call, reached[0]):
                continue
            if misfit(reached[0].parameters, len(call.positional), call.keywords, open_ended=call.open_ended):
                continue
            yield from _swap(comparison, found)


def _swap(comparison: Comparison, found: Reach) -> Iterator[Break]:
    callee = found.reached[0]
    for tree in PARENTS:
        for before in comparison.calls.alike(tree, found.path, found.call):
            if len(before.reached) != 1:
                continue
            wrong = mismatches(found.call, before.reached[0], callee)
            if not wrong:
                continue
            positions = frozenset(position for position, _, _ in wrong)

            def is_bad(other: Reach, positions: frozenset[int] = positions) -> bool:
                return any(_same_at(one, callee, positions) for one in other.reached)

            states = comparison.calls.states(found.path, found.call, is_bad)
            if states(tree) is State.OK and is_new(states):
                yield _break(found, before.reached[0], wrong, tree, origin_side(states))
                return


def _odd(call: Call, callee: Callee) -> bool:
    slots = _slots(callee)
    return any(name != parameter for name, parameter in zip(call.positional, slots, strict=False))


def _slots(callee: Callee) -> list[str]:
    return [parameter.name for parameter in callee.parameters if parameter.kind in {"p", "a"}]


def mismatches(call: Call, before: Callee, after: Callee) -> list[Mismatch]:
    """Arguments that meet another parameter than before; empty if the parameters were only renamed.

    Where the parameter that an argument met is still there, at another position or by name, the argument was meant for
    it, whatever it is called; where it is not, only an argument of its own name was.
    """
    old, new = _slots(before), _slots(after)
    every = {parameter.name for parameter in after.parameters}
    found: list[Mismatch] = []
    moved = 0
    for position, (name, was, now) in enumerate(zip(call.positional, old, new, strict=False)):
        if was == now or _alike(name, now):
            continue
        if was in every:
            moved += 1
        elif not name or not _alike(name, was) or _words(was) & _words(now):
            continue
        found.append((position, was, now))
    return found if moved or len(found) > 1 else []


def _alike(name: str, parameter: str) -> bool:
    first, second = _words(name), _words(parameter)
    return bool(first) and first - _ROLES == second - _ROLES


def _words(name: str) -> set[str]:
    return {word for word in name.split("_") if word}


def _same_at(one: Callee, other: Callee, positions: frozenset[int]) -> bool:
    first, second = _slots(one), _slots(other)
    return all(
        position < len(first) and position < len(second) and first[position] == second[position]
        for position in positions
    )


def _break(found: Reach, before: Callee, wrong: list[Mismatch], tree: str, came_from: Side | None) -> Break:
    callee = found.reached[0]
    pairs = ", ".join(f"`{was}` goes to `{now}`" for _, was, now in wrong[:4])
    return Break(
        code="GRD310",
        path=found.path,
        symbol=found.call.scope or "<module>",
        subject=wrong[0][1],
        line=found.line,
        message=f"positional arguments of `{shown(found.call) or callee.name}` meet another order in merged: {pairs}; "
        f"in {tree} they fit",
        related=(Related(callee.path, callee.line, f"`{callee.name}` as merged defines it"),),
        came_from=came_from,
        lost_side=came_from,
        reader=(found.call.path or (found.call.root.text,))[-1],
        definition=wrong[0][2],
        definition_places={tree: (before.path, before.line)},
        detail=callee.name,
    )
