"""Copies that no block holds twice: a definition that one side moved and merged has in both places, an import that one
side moved into functions and merged has at the top as well, two registrations of which each side made one.

Reason: the side that moved deleted the old copy, and the merge brought it back or kept it. What then runs depends on
who imports which; tests go on to exercise the dead copy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import Break
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.modules import ModuleView
from guard.checks.breaks.reach import Reach, last_name, shape
from guard.documents.outline import Flag
from guard.model import Confidence, Related, Severity, Side

_REGISTERS = re.compile(r"_?register_\w+|add_\w*(hook|callback|handler)s?|subscribe")


def moved_and_kept(comparison: Comparison) -> Iterator[Break]:
    """Top-level definitions that a side moved to another file and that merged has in both."""
    worlds = comparison.worlds
    for side in Side:
        lacking = {path: _lacking(worlds, side, path) for path in worlds.paths}
        arrived = _arrived(worlds, side, set().union(*lacking.values()))
        for path, absent in lacking.items():
            now = worlds.merged.view(path)
            names = absent & arrived.keys()
            base = _version(worlds, "base", path) if names else None
            if base is None or now is None:
                continue
            kept = {}
            for name in _definitions(base) & names:
                new_path = arrived[name]
                if new_path != path and _same_shape(now, worlds.merged.view(new_path), name):
                    kept[name] = new_path
            if kept:
                yield _moved(worlds, side, path, now, kept)


def _moved(worlds: FourWorlds, side: Side, path: str, now: ModuleView, kept: dict[str, str]) -> Break:
    names = sorted(kept, key=lambda name: _line(now, name))
    told = ", ".join(f"`{name}`" for name in names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    related = []
    for name in names[:10]:
        view = worlds.merged.view(kept[name])
        related.append(Related(kept[name], _line(view, name) if view else 1, f"where {side.value} moved `{name}`"))
    return Break(
        code="GRD305",
        path=path,
        symbol=names[0],
        subject=names[0],
        line=_line(now, names[0]),
        message=f"{side.value} moved {told} to {kept[names[0]]}; the old copy is still here in merged",
        severity=Severity.WARNING,
        related=tuple(related),
        lost_side=side,
        reader=names[0],
        definition=names[0],
        detail=",".join(names[1:]),
    )


def _version(worlds: FourWorlds, tree: str, path: str) -> ModuleView | None:
    there = worlds.path_in(tree, path)
    return worlds[tree].view(there) if there else None


def _lacking(worlds: FourWorlds, side: Side, path: str) -> set[str]:
    """Names that merged defines in a file and the side does not."""
    now, there = worlds.merged.view(path), _version(worlds, side.value, path)
    if now is None or (there is not None and there.outline is now.outline):
        return set()
    return _definitions(now) - (_definitions(there) if there else set())


def _definitions(view: ModuleView) -> set[str]:
    return {name for name in (*view.functions, *view.classes) if "." not in name and not name.startswith("test")}


def _arrived(worlds: FourWorlds, side: Side, wanted: set[str]) -> dict[str, str]:
    """Those of some names that merged defines in a file where the side has them too and the base had not."""
    found: dict[str, str] = {}
    for path in worlds.paths:
        now, there = worlds.merged.view(path), _version(worlds, side.value, path)
        names = _definitions(there) & _definitions(now) & wanted if there and now else set()
        base = _version(worlds, "base", path) if names else None
        found.update(dict.fromkeys(names - (_definitions(base) if base else set()), path))
    return found


def _same_shape(one: ModuleView, other: ModuleView | None, name: str) -> bool:
    """Whether two definitions of one name are likely the same thing: parameters, or most members, agree."""
    if other is None:
        return False
    if name in one.functions and name in other.functions:
        first, second = one.functions[name][0], other.functions[name][0]
        return [p.name for p in first.parameters] == [p.name for p in second.parameters] and bool(first.parameters)
    if name in one.classes and name in other.classes:
        first_members = {member for member in one.classes[name][0].members if not member.startswith("__")}
        second_members = {member for member in other.classes[name][0].members if not member.startswith("__")}
        shared = len(first_members & second_members)
        return shared > 0 and shared * 2 >= max(len(first_members), len(second_members))
    return False


def _line(view: ModuleView, name: str) -> int:
    held = view.functions.get(name) or view.classes.get(name)
    return view.line_of(held[0]) if held else 1


def imported_at_two_levels(comparison: Comparison) -> Iterator[Break]:
    """Imports that a side moved from the top of a file into functions, and that merged has at both levels."""
    worlds = comparison.worlds
    for path in worlds.paths:
        now = worlds.merged.view(path)
        if now is None:
            continue
        top, inner = _imports(now)
        both = top.keys() & inner.keys()
        for side in Side if both else ():
            mine = _version(worlds, side.value, path)
            if mine is None:
                continue
            own_top, own_inner = _imports(mine)
            moved = [key for key in both if key not in own_top and key in own_inner]
            base = _version(worlds, "base", path) if moved else None
            before = _imports(base)[0] if base else {}
            moved = [key for key in moved if key in before]
            if moved:
                yield _levels(path, side, sorted(moved, key=str), top, inner)


Key = tuple[str, int, str | None]


def _imports(view: ModuleView) -> tuple[dict[Key, int], dict[Key, int]]:
    """Lines of unconditional imports at the top and of imports inside functions."""
    top: dict[Key, int] = {}
    inner: dict[Key, int] = {}
    for offset, segment in view.outline.parts:
        for fact in segment.imports:
            if not fact.flags & (Flag.TYPING | Flag.CONDITIONAL) or fact.scope:
                (inner if fact.scope else top)[fact.module, fact.level, fact.name] = offset + fact.line
    return top, inner


def _levels(path: str, side: Side, moved: list[Key], top: dict[Key, int], inner: dict[Key, int]) -> Break:
    names = [key[2] or key[0] for key in moved]
    return Break(
        code="GRD305",
        path=path,
        symbol="<module>",
        subject=names[0],
        line=top[moved[0]],
        message=f"{side.value} moved the import of {', '.join(f'`{name}`' for name in names[:6])} into a function; "
        "merged imports at the top as well, which undoes the move",
        severity=Severity.WARNING,
        related=tuple(Related(path, inner[key], "the import inside a function") for key in moved[:10]),
        lost_side=side,
        reader=names[0],
        definition=names[0],
        detail="levels",
    )


def registered_twice(comparison: Comparison) -> Iterator[Break]:
    """Registrations of one kind in one function, of which each side added one of its own."""
    worlds = comparison.worlds
    for path in worlds.paths:
        groups: dict[tuple[str, str], list[Reach]] = {}
        for found in comparison.calls.of("merged", path):
            if found.call.flags & Flag.STATEMENT and _REGISTERS.fullmatch(last_name(found.call)) and found.call.scope:
                groups.setdefault((found.call.scope, last_name(found.call)), []).append(found)
        for (scope, name), calls in groups.items():
            if len(calls) < 2:
                continue
            base, ours, theirs = (
                Counter(shape(one.call) for one in comparison.calls.in_scope(tree, path, calls[0].call))
                for tree in ("base", "ours", "theirs")
            )
            by_ours, by_theirs = ours - base, theirs - base
            here = Counter(shape(one.call) for one in calls) - base
            if by_ours.total() == by_theirs.total() == 1 and by_ours != by_theirs and here == by_ours + by_theirs:
                added = [one for one in calls if shape(one.call) in here]
                yield Break(
                    code="GRD305",
                    path=path,
                    symbol=scope,
                    subject=name,
                    line=added[-1].line,
                    message=f"each side added a `{name}` of its own to `{scope}`, and both run in merged",
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    related=(Related(path, added[0].line, "the other registration"),),
                    reader=name,
                    definition=name,
                )
