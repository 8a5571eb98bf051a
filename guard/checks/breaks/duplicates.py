"""Duplicates: merged binds twice in one block what each parent binds once.

Reason: both sides added the same thing at different places (a port, a cherry-pick), and a merge keeps both copies
without a conflict. Python takes the last one silently; linters say nothing of fields, constants and helpers whose
first copy is used before the second. Not counted: overloads, property setters, registrations by decorator,
`try`/`except` and `if`/`else` twins (they stand in different blocks), and names that are assigned step by step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.modules import ModuleView
from guard.documents.outline import Binding, Flag
from guard.model import Confidence, Related, Severity

_KINDS = {"def": "function", "class": "class", "field": "field", "import": "import", "assign": "constant"}
_MANY = {"overload", "setter", "getter", "deleter", "register", "dispatch", "singledispatch"}


class Slot(NamedTuple):
    """Where one definition should stand."""

    scope: str
    block: str
    name: str
    kind: str


class Copy(NamedTuple):
    """One definition that stands in a slot."""

    line: int
    text: str


def duplicate_definitions(comparison: Comparison) -> Iterator[Break]:
    """Breaks for definitions, imports, options and dictionary keys."""
    worlds = comparison.worlds
    for path in worlds.paths:
        view = worlds.merged.view(path)
        if view is None or view.outline.error:
            continue
        others = [_view(worlds, tree, path) for tree in PARENTS]
        if not any(others):
            continue
        yield from _definitions(worlds, path, view, others)
        yield from _options(path, view, others)
        yield from _keys(path, view, others)


def slots(view: ModuleView) -> dict[Slot, list[Copy]]:
    """All definitions of a file by the slot they fill."""
    found: dict[Slot, list[Copy]] = {}
    for offset, segment in view.outline.parts:
        for binding in segment.bindings:
            if _counts(binding):
                block = f"{offset}{binding.block}" if binding.block else ""  # blocks are told apart inside a segment
                slot = Slot(binding.scope, block, _name(binding), binding.kind)
                found.setdefault(slot, []).append(Copy(offset + binding.line, binding.text))
    return found


def _name(binding: Binding) -> str:
    """What a slot is told apart by: a star is the name of no definition, only of the module it opens."""
    return binding.text.replace(":", ".") if binding.name == "*" else binding.name


def _counts(binding: Binding) -> bool:
    if binding.kind not in _KINDS or binding.flags & Flag.TYPING or binding.name == "_":
        return False
    if binding.kind in {"def", "class"}:
        said = {decorator.rpartition(".")[2] for decorator in binding.text.split()}
        return not (said & _MANY) and not any(
            decorator.startswith(binding.name + ".") for decorator in binding.text.split()
        )
    return True


def _definitions(worlds: FourWorlds, path: str, view: ModuleView, others: list[ModuleView | None]) -> Iterator[Break]:
    several = [item for item in slots(view).items() if len(item[1]) > 1]
    if not several:
        return
    before = [_by_name(slots(other)) if other else Counter() for other in others]
    reads = _steps(view)
    groups: dict[tuple[str, str], list[tuple[Slot, list[Copy]]]] = {}
    twice: set[str] = set()  # what stands twice because its scope does is told with the scope
    for slot, copies in sorted(several, key=lambda item: item[0].scope.count(".") + bool(item[0].scope)):
        if not _new(slot, len(copies), before):
            continue
        if any(slot.scope == scope or slot.scope.startswith(scope + ".") for scope in twice):
            continue
        if slot.kind in {"def", "class"}:
            twice.add(f"{slot.scope}.{slot.name}" if slot.scope else slot.name)
        if slot.kind == "assign" and (slot.name in reads or not _constant(copies)):
            continue
        if slot.kind in {"def", "class"}:
            yield _duplicate(path, slot, copies)
        else:
            groups.setdefault((slot.scope, slot.kind), []).append((slot, copies))
    for (scope, kind), group in groups.items():
        yield _imports(path, scope, group) if kind == "import" else _values(path, scope, kind, group)


def _by_name(found: dict[Slot, list[Copy]]) -> Counter[tuple[str, str, str]]:
    """The largest number of copies in one block, by scope, name and kind: blocks have no name that lasts."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for slot, copies in found.items():
        key = (slot.scope, slot.name, slot.kind)
        counts[key] = max(counts[key], len(copies))
    return counts


def _new(slot: Slot, count: int, before: list[Counter[tuple[str, str, str]]]) -> bool:
    key = (slot.scope, slot.name, slot.kind)
    return count > max(counts[key] for counts in before) and any(counts[key] for counts in before)


def _steps(view: ModuleView) -> frozenset[str]:
    """Module-level names read in module-level code: assigning them twice may well be meant."""
    return frozenset(
        read.name
        for _, segment in view.outline.parts
        for read in segment.reads
        if not read.scope and not read.flags & Flag.TYPING
    )


def _constant(copies: list[Copy]) -> bool:
    """Whether the copies say the same, or each is a plain value."""
    values = [copy.text.partition("=")[2].strip() for copy in copies]
    return len(set(values)) == 1 or all(value[:1] in "\"'-0123456789[({NTF" for value in values)


def _duplicate(path: str, slot: Slot, copies: list[Copy]) -> Break:
    owner = f" of `{slot.scope}`" if slot.scope else ""
    return Break(
        code="GRD305",
        path=path,
        symbol=f"{slot.scope}.{slot.name}" if slot.scope else slot.name,
        subject=slot.name,
        line=copies[-1].line,
        message=f"{_KINDS[slot.kind]} `{slot.name}`{owner} is defined {len(copies)} times in merged and once on each "
        "side; the last one wins",
        severity=Severity.WARNING,
        related=tuple(Related(path, copy.line, "an earlier copy, which is dead") for copy in copies[:-1]),
        reader=slot.name,
        definition=slot.name,
    )


def _values(path: str, scope: str, kind: str, group: list[tuple[Slot, list[Copy]]]) -> Break:
    """Fields or constants of one scope that stand twice: one finding, since one merge step made them."""
    names = [slot.name for slot, _ in group]
    differ = [slot.name for slot, copies in group if len({copy.text for copy in copies}) > 1]
    told = f"; the copies of {_listed(differ)} differ, the last one wins" if differ else ""
    owner = f" of `{scope}`" if scope else ""
    return Break(
        code="GRD305",
        path=path,
        symbol=scope or "<module>",
        subject=names[0],
        line=group[0][1][-1].line,
        message=f"{_KINDS[kind]} {_listed(names)}{owner} stands twice in merged and once on each side{told}",
        severity=Severity.WARNING,
        related=tuple(Related(path, copies[0].line, f"the other `{slot.name}`") for slot, copies in group[:20]),
        reader=names[0],
        definition=names[0],
        detail=",".join(names[1:]),
    )


def _imports(path: str, scope: str, group: list[tuple[Slot, list[Copy]]]) -> Break:
    names = [slot.name for slot, _ in group]
    clash = [slot.name for slot, copies in group if len({copy.text for copy in copies}) > 1]
    told = f"; {_listed(clash)} from two different modules, the last one wins" if clash else ""
    return Break(
        code="GRD305",
        path=path,
        symbol=scope or "<module>",
        subject=names[0],
        line=min(copies[-1].line for _, copies in group),
        message=f"imported twice, one copy from each side: {_listed(names)}{told}",
        severity=Severity.WARNING,
        related=tuple(
            Related(path, copies[0].line, f"the other import of `{slot.name}`") for slot, copies in group[:20]
        ),
        reader=names[0],
        definition=names[0],
        detail=",".join(names[1:]),
    )


def _listed(names: list[str]) -> str:
    said = ", ".join(f"`{name}`" for name in names[:6])
    return said + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _options(path: str, view: ModuleView, others: list[ModuleView | None]) -> Iterator[Break]:
    """Options of a parser that a function adds twice: argparse raises when it runs."""
    now = _option_lines(view)
    before = [_option_lines(other) if other else {} for other in others]
    for (scope, dest), lines in now.items():
        most = max(len(counts.get((scope, dest), ())) for counts in before)
        if len(lines) > 1 and len(lines) > most and most:
            yield Break(
                code="GRD305",
                path=path,
                symbol=scope or "<module>",
                subject=dest,
                line=lines[-1],
                message=f"option `{dest}` is added {len(lines)} times to the parser; argparse refuses the second",
                related=tuple(Related(path, line, "an earlier copy") for line in lines[:-1]),
                reader=dest,
                definition=dest,
            )


def _option_lines(view: ModuleView) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for offset, segment in view.outline.parts:
        for dest, scope, line in segment.options:
            found.setdefault((scope, dest), []).append(offset + line)
    return found


def _keys(path: str, view: ModuleView, others: list[ModuleView | None]) -> Iterator[Break]:
    """Keys that one dictionary display holds twice: the first value is dead."""
    known = {
        (key, scope)
        for other in others
        for _, segment in (other.outline.parts if other else ())
        for key, scope, _ in segment.repeated_keys
    }
    for offset, segment in view.outline.parts:
        for key, scope, line in segment.repeated_keys:
            if (key, scope) not in known:
                yield Break(
                    code="GRD305",
                    path=path,
                    symbol=scope or "<module>",
                    subject=key.strip("'\""),
                    line=offset + line,
                    message=f"key {key} stands twice in one dictionary; the first value is dead",
                    confidence=Confidence.HIGH,
                    reader=key.strip("'\""),
                    definition=key.strip("'\""),
                )


def _view(worlds: FourWorlds, tree: str, path: str) -> ModuleView | None:
    there = worlds.path_in(tree, path)
    return worlds[tree].view(there) if there else None
