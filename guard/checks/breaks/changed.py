"""Names whose signature is not the same in merged and in both parents: only calls of these can have broken."""

from __future__ import annotations

from guard.checks.breaks.difference import PARENTS
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.modules import ModuleView


def changed_names(worlds: FourWorlds) -> frozenset[str]:
    """Last names of functions, of classes with their subclasses, of aliases, and of attributes that hold such objects.

    A name too many costs time, a name too few a finding: everything that differs between merged and a parent counts,
    and so does what only one of them has.
    """
    changed: set[str] = {"super"}
    for path in worlds.paths:
        merged = worlds.merged.view(path)
        now = _signatures(merged)
        for tree in PARENTS:
            there = worlds.path_in(tree, path)
            view = worlds[tree].view(there) if there else None
            if view is None or merged is None or view.outline is not merged.outline:
                before = _signatures(view)
                changed |= {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}
    last = {part for name in changed for part in _parts(name)}
    views = [view for path in worlds.paths if (view := worlds.merged.view(path))]
    untouched = worlds.untouched_classes()
    while True:
        more = {name for view in views for name in _carriers(view, last)} - last
        more |= {name for name, bases in untouched if name not in last and not bases.isdisjoint(last)}
        if not more:
            return frozenset(last)
        last |= more


def _signatures(view: ModuleView | None) -> dict[str, object]:
    found: dict[str, object] = {}
    if view is not None:
        for name, functions in view.functions.items():
            found[name] = [(f.parameters, f.decorators, f.returns, f.coroutine) for f in functions]
        for name, kinds in view.classes.items():
            found[f"{name}.<class>"] = [(kind.bases, kind.decorators, kind.fields_without_lines()) for kind in kinds]
    return found


def _parts(name: str) -> tuple[str, ...]:
    """A changed method changes its class as well: constructors, `forward` and `apply` are called by that name."""
    owner, _, last = name.rpartition(".")
    return (last, owner.rpartition(".")[2]) if owner else (last,)


def _carriers(view: ModuleView, changed: set[str]) -> set[str]:
    """Names of a file that stand for a changed one: subclasses, import aliases, attributes that hold an object."""
    found = {
        fact.bound
        for facts in view.imports.values()
        for fact in facts
        if fact.name in changed and fact.bound != fact.name
    }
    found |= {name for name, said in view.aliases.items() if said.rpartition(".")[2] in changed}
    for kinds in view.classes.values():
        for kind in kinds:
            if any(base.rpartition(".")[2] in changed for base in kind.bases):
                found.add(kind.qualname.rpartition(".")[2])
            found.update(name for name, said in kind.types.items() if said.rpartition(".")[2] in changed)
    return found
