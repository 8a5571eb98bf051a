"""Autograd arity: `backward` of an autograd function gives fewer gradients than `forward` has inputs.

Reason: one side adds an input and its gradient, and the merge takes the two methods from different sides. PyTorch
raises only when the backward pass runs ("returned an incorrect number of gradients"). More results than inputs are
allowed where they are None, so only too few count. Source: torch.autograd.Function, "Extending torch.autograd".
"""

from __future__ import annotations

from collections.abc import Iterator

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import Break, State, is_new, origin_side
from guard.checks.breaks.modules import ModuleView
from guard.model import Related


def autograd_arity(comparison: Comparison) -> Iterator[Break]:
    """Breaks by class."""
    worlds = comparison.worlds
    for path in worlds.paths:
        view = worlds.merged.view(path)
        for name in view.classes if view else ():
            if view is None or not _is_bad(view, name):
                continue

            def state(tree: str, path: str = path, name: str = name) -> State:
                there = worlds.path_in(tree, path)
                other = worlds[tree].view(there) if there else None
                if other is None or name not in other.classes:
                    return State.ABSENT
                return State.BAD if _is_bad(other, name) else State.OK

            if is_new(state):
                inputs, outputs = _counts(view, name) or (0, ())
                forward, backward = (view.functions[f"{name}.{method}"][0] for method in ("forward", "backward"))
                yield Break(
                    code="GRD313",
                    path=path,
                    symbol=f"{name}.backward",
                    subject=name,
                    line=view.line_of(backward),
                    message=f"`{name}.forward` has {inputs} inputs, its backward returns "
                    f"{'/'.join(map(str, outputs))} gradients",
                    related=(Related(path, view.line_of(forward), "the forward"),),
                    came_from=origin_side(state),
                    reader="backward",
                    definition=name.rpartition(".")[2],
                )


def _is_bad(view: ModuleView, name: str) -> bool:
    counts = _counts(view, name)
    return counts is not None and min(counts[1]) < counts[0]


def _counts(view: ModuleView, name: str) -> tuple[int, tuple[int, ...]] | None:
    """Inputs of forward and numbers of gradients that backward returns; None where it is no such class or not told."""
    kinds = view.classes[name]
    if len(kinds) != 1 or not any(base.rpartition(".")[2] == "Function" for base in kinds[0].bases):
        return None
    forward, backward = (view.functions.get(f"{name}.{method}", []) for method in ("forward", "backward"))
    if len(forward) != 1 or len(backward) != 1 or "setup_context" in kinds[0].members:
        return None
    if any(parameter.kind in {"*", "**"} for parameter in forward[0].parameters):
        return None
    returns = backward[0].returns
    if not returns or min(returns) < 1:
        return None
    return len(forward[0].parameters) - 1, returns
