"""What both sides brought once and merged has twice: a section, an option, a link, an entry of a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from guard.documents.units import Document, Key, Unit

# Letters and digits of a unit that says enough to be the same one; a shorter one counts beside such a one only.
DISTINCTIVE = 12


def doubled_units(parents: Sequence[Document], merged: Document) -> list[tuple[Unit, Unit]]:
    """Units that each side has once and merged has twice, with the copy: (first, second), in order.

    In a script or program they count where they say something of their own, and short ones in a run with such ones: a
    `break` that two sides added at two places is no copy.

    Arguments:
        parents: the documents of ours and theirs.
    """
    counts = [Counter(unit.key for unit in parent.units) for parent in parents]
    places: dict[Key, list[int]] = {}
    for index, unit in enumerate(merged.units):
        places.setdefault(unit.key, []).append(index)
    twice = {
        key: found for key, found in places.items() if len(found) == 2 and all(count[key] == 1 for count in counts)
    }
    second = sorted(found[1] for found in twice.values())
    kept: list[tuple[Unit, Unit]] = []
    for run in _runs(second):
        units = [merged.units[index] for index in run]
        if any(sum(map(str.isalnum, unit.text)) >= DISTINCTIVE for unit in units) or merged.kind == "data":
            kept += [(merged.units[twice[unit.key][0]], unit) for unit in units]
    return kept


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Neighbouring numbers together."""
    run: list[int] = []
    for number in numbers:
        if run and number != run[-1] + 1:
            yield run
            run = []
        run.append(number)
    if run:
        yield run
