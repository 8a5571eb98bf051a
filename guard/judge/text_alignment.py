"""Alignment of the units of two documents: runs of edits, and which unit became which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from guard.documents.units import Document, Unit

ALIKE = 0.5  # at least this similar: one unit became the other
_LONG, _MOST_PAIRS = 20_000, 2_000_000  # units, pairs of equal units: beyond, the exact alignment takes seconds

Name = tuple[str, str]


def edited_units(before: Document, after: Document) -> list[tuple[int, int]]:
    """What changed between two documents, in order: indices of a unit before and after, -1 where there is none."""
    found: list[tuple[int, int]] = []
    data = before.kind == "data"
    for start, end, first, last in runs(before, after, data):
        pairs = pairs_of(list(before.units[start:end]), list(after.units[first:last]), data)
        found += [(start + pairs[k] if k in pairs else -1, first + k) for k in range(last - first)]
        replaced = {start + old for old in pairs.values()}
        found += [(i, -1) for i in range(start, end) if i not in replaced]
    return found


def runs(before: Document, after: Document, data: bool) -> Iterator[tuple[int, int, int, int]]:
    """The runs of edits between two documents: (start, end) before and (first, last) after, half open.

    Arguments:
        data: they are data, where the scope tells a unit from its equals.
    """
    for tag, start, end, first, last in matcher(before, after, data).get_opcodes():
        if tag != "equal":
            yield start, end, first, last


def matcher(before: Document, after: Document, data: bool) -> SequenceMatcher[tuple[str, ...]]:
    """The alignment of two documents' units, exact where they are not too long for it."""
    one, other = (
        [unit.key if data else (unit.label, unit.text, unit.block) for unit in source.units]
        for source in (before, after)
    )
    often = Counter(other)
    # The exact alignment visits each pair of equal units.
    work = sum(count * often[name] for name, count in Counter(one).items())
    return SequenceMatcher(None, one, other, autojunk=work > _MOST_PAIRS or max(len(one), len(other)) > _LONG)


def pairs_of(old: list[Unit], new: list[Unit], data: bool) -> dict[int, int]:
    """Which removed unit became which added one: offset in `new` to offset in `old`."""
    pairs: dict[int, int] = {}
    if len(old) * len(new) > 10_000:
        return {k: k for k in range(min(len(old), len(new)))}
    free = set(range(len(old)))
    scored = []
    for k, unit in enumerate(new):
        for n, before in enumerate(old):
            if data and before.scope != unit.scope:
                continue
            single = data and sum(item.scope == unit.scope for item in old) == 1
            score = 1.0 if single else ratio(before.text, unit.text)
            if score >= ALIKE:
                scored.append((-score, abs(k - n), k, n))
    for _, _, k, n in sorted(scored):
        if k not in pairs and n in free:
            pairs[k] = n
            free.discard(n)
    if not data and len(old) == len(new):
        for k in range(len(new)):
            if k not in pairs and k in free:
                pairs[k] = k
                free.discard(k)
    return pairs


def name_of(unit: Unit) -> Name:
    """What makes two units the same wherever they stand."""
    return unit.label, unit.text


def ratio(one: str, other: str) -> float:
    """How alike two texts are, by words; by characters where they are short; 0 where they are less than `ALIKE`."""
    if one == other:
        return 1.0
    first, second = one.split(), other.split()
    short = len(first) < 3 or len(second) < 3
    found = SequenceMatcher(None, one, other, False) if short else SequenceMatcher(None, first, second, False)
    return found.ratio() if found.real_quick_ratio() >= ALIKE else 0.0
