"""Call arguments: missing, unknown, twice given or too many, and results unpacked into the wrong number of names.

Reason: one side changes a signature and its own callers, the other side keeps or adds a caller. Type checkers see
plain calls; they are blind for `nn.Module` objects, `Function.apply`, dictionaries passed by `**`, and test doubles
without annotations, and noisy for argument types, so binding is done here and nothing else is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from guard.checks.breaks.callees import Callee, callees
from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, meets_in, origin_side
from guard.checks.breaks.gathering import is_test
from guard.checks.breaks.project_index import World
from guard.checks.breaks.reach import shown
from guard.documents.outline import Call, Flag
from guard.documents.signatures import misfit
from guard.model import Related, Side


class Misfit(NamedTuple):
    """One call of merged that does not fit what it reaches."""

    path: str
    line: int
    call: Call
    callee: Callee
    what: str
    argument: str


def call_arguments(comparison: Comparison) -> Iterator[Break]:
    """Breaks by callee and argument: ten callers that pass what was taken away are one break."""
    check = _CallCheck(comparison)
    groups: dict[tuple[str, str, str, str], list[Misfit]] = {}
    for path in comparison.worlds.paths:
        for found in check.file(path):
            key = (found.callee.path, found.callee.name, found.what, found.argument)
            if found.what in {"unpacked", "too many"}:
                key = (path, found.call.scope, found.what, found.callee.name)
            groups.setdefault(key, []).append(found)
    for group in groups.values():
        yield check.broken(sorted(group, key=lambda one: (is_test(one.path), one.path, one.line)))


class _CallCheck:
    def __init__(self, comparison: Comparison) -> None:
        self._worlds = comparison.worlds
        self._calls = comparison.calls

    def file(self, path: str) -> Iterator[Misfit]:
        """Calls of a file that do not fit and did in the parent that they came from."""
        for found in self._calls.suspects(path):
            call, reached = found.call, found.reached
            if call.flags & Flag.GUARD_CALL:
                continue
            problem = problem_of(call, reached)
            if problem and self._is_the_merges(path, call):
                yield Misfit(path, found.line, call, reached[0], *problem)

    def _is_the_merges(self, path: str, call: Call) -> bool:
        states = self.states(path, call)
        return is_new(states) or meets_in(states, self._worlds.edited_by(path))

    def states(self, path: str, call: Call) -> Callable[[str], State]:
        """What each tree says of the same call."""
        return self._calls.states(path, call, lambda found: problem_of(found.call, found.reached) is not None)

    def broken(self, group: list[Misfit]) -> Break:
        first = group[0]
        call, callee = first.call, first.callee
        places = {}
        for tree in PARENTS:
            at = _definition(self._worlds[tree], self._worlds.path_in(tree, first.path), call, callee)
            if at:
                places[tree] = at
        came_from = origin_side(self.states(first.path, call))
        related = [Related(one.path, one.line, f"the same in {one.call.scope or '<module>'}") for one in group[1:20]]
        related.append(Related(callee.path, callee.line, f"merged defines `{callee.name}({_short(callee)})`"))
        short = callee.name.removesuffix(".__init__").rpartition(".")[2]
        return Break(
            code="GRD304",
            path=first.path,
            symbol=call.scope or "<module>",
            subject=first.argument if first.what in {"unknown", "missing", "twice"} else short,
            line=first.line,
            message=_message(shown(call) or callee.name, first, len(group), came_from),
            related=tuple(related),
            came_from=came_from,
            lost_side=came_from,
            reader=(call.path or (call.root.text,))[-1],
            definition=first.argument if first.what in {"unknown", "missing"} else short,
            definition_places=places,
            detail=callee.name,
        )


def problem_of(call: Call, reached: list[Callee]) -> tuple[str, str] | None:
    """Why a call fits none of the definitions that it may reach: (what, argument); None where it fits one."""
    problem = None
    for callee in reached:
        problem = misfit(callee.parameters, len(call.positional), call.keywords, open_ended=call.open_ended)
        if problem is None and callee.apply and call.keywords:
            problem = "unknown", call.keywords[0]
        if problem is None and call.unpacked and not callee.is_class:
            problem = _unpacking(call, callee)
        if problem is None:
            return None
    return problem


def _unpacking(call: Call, callee: Callee) -> tuple[str, str] | None:
    counts = set(callee.returns) - {0}
    if counts and -1 not in counts and 1 not in counts and call.unpacked not in counts:
        return "unpacked", f"{call.unpacked} of {'/'.join(map(str, sorted(counts)))}"
    return None


def _message(name: str, one: Misfit, count: int, came_from: Side | None) -> str:
    callee, argument = one.callee.name, one.argument
    more = f", here and at {count - 1} more place{'s' if count > 2 else ''}" if count > 1 else ""
    told = f" (the call is from {came_from.value})" if came_from else ""
    texts = {
        "missing": f"`{name}` is called without `{argument}`{more}, but `{callee}` needs it in merged",
        "unknown": f"`{name}` is called with `{argument}`{more}, but `{callee}` does not take it in merged",
        "twice": f"`{name}` gets `{argument}` by position and by name{more}",
        "too many": f"`{name}` is called with {argument} positional arguments{more}; `{callee}` takes fewer in merged",
        "unpacked": f"the result of `{name}` is unpacked into {argument} values that `{callee}` returns{more}",
    }
    return texts[one.what] + told


def _short(callee: Callee) -> str:
    names = [parameter.name for parameter in callee.parameters]
    return ", ".join(names if len(names) <= 12 else [*names[:12], "…"])


def _definition(world: World, path: str | None, call: Call, callee: Callee) -> tuple[str, int] | None:
    """Where another tree defines what the call reaches."""
    reached = callees(world, path, call) if path else []
    if reached:
        return reached[0].path, reached[0].line
    view = world.view(callee.path)
    functions = view.functions.get(callee.name) if view else None
    return (callee.path, view.line_of(functions[0])) if view and functions else None
