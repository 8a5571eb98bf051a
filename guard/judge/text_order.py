"""Order of units where it counts: what one side moved and merged has where the base had it.

Units are compared as a bag everywhere else, so that this is the one place that reads their order. A unit takes part
where each of the four trees has it just once in its scope and block: then there is no doubt which one it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from guard.documents.units import Document, Key

_MOST_MOVED = 200  # units of one block; a file that was sorted anew is no change of single places


def moved_back(
    documents: Mapping[str, Document], counts: Mapping[str, Counter[Key]], made: str, other: str
) -> Iterator[tuple[Key, Key]]:
    """Units that a side moved inside their block and that merged has as the base: (unit, one that it was moved past).

    Arguments:
        documents: of the four trees, by name.
        counts: how many units of each key they hold.
        made, other: the side that moved, and the other one.
    """
    common = {
        key for key, count in counts["base"].items() if count == 1 and all(held[key] == 1 for held in counts.values())
    }
    orders = {name: _order(document, common) for name, document in documents.items()}
    for place, base in orders["base"].items():
        mine = orders[made][place]
        if mine == base:
            continue
        index = {key: position for position, key in enumerate(base)}
        moved = _out_of_order([index[key] for key in mine])
        if len(moved) > _MOST_MOVED:
            continue
        at = {name: {key: n for n, key in enumerate(order[place])} for name, order in orders.items()}
        for key in (base[position] for position in sorted(moved)):
            past = [
                crossed
                for crossed in base
                if index[crossed] not in moved and (at[made][key] < at[made][crossed]) != (index[key] < index[crossed])
            ]
            back = all(
                (at[name][key] < at[name][crossed]) == (index[key] < index[crossed])
                for crossed in past
                for name in (other, "merged")
            )
            if past and back:
                yield key, past[0]


def _order(document: Document, common: set[Key]) -> dict[tuple[str, str], list[Key]]:
    """The common units of each scope and block, in order."""
    found: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for unit in document.units:
        if unit.key in common:
            found[unit.scope, unit.block].append(unit.key)
    return found


def _out_of_order(numbers: Sequence[int]) -> set[int]:
    """The fewest numbers whose removal leaves the rest in ascending order."""
    tails: list[int] = []
    positions: list[int] = []
    before: list[int] = []
    for position, number in enumerate(numbers):
        place = bisect_left(tails, number)
        before.append(positions[place - 1] if place else -1)
        if place == len(tails):
            tails.append(number)
            positions.append(position)
        else:
            tails[place], positions[place] = number, position
    kept = set()
    position = positions[-1] if positions else -1
    while position >= 0:
        kept.add(numbers[position])
        position = before[position]
    return set(numbers) - kept
