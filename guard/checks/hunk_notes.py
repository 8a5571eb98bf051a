"""What a person has to know about a conflict hunk: who brings what into it, what a side would lose, how risky it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from guard.git import Repository
from guard.judge.numeric import is_numeric, is_test
from guard.merging.hunks import Hunk
from guard.merging.resolve import HunkOutcome
from guard.model import Origin, Side
from guard.provenance.blame import Strokes, of_both, origins, strokes, telling
from guard.provenance.merge_edits import merge_strokes
from guard.sync.topology import Sync

_MOST_COMMITS = 6
_NUMERIC_WEIGHT = 3.0


@dataclass(frozen=True, slots=True)
class Note:
    """What is known of one hunk.

    Attributes:
        ours, theirs: the commits behind the side's lines.
        would_lose: what taking the other side would lose, by side.
        numeric: whether both sides' or one side's edits bear on a computed number.
        rank: numeric × number of changes × lines.
    """

    ours: tuple[Origin, ...]
    theirs: tuple[Origin, ...]
    would_lose: tuple[tuple[str, str], ...]
    numeric: bool
    rank: float

    @property
    def facts(self) -> dict[str, Any]:
        """The fields as a hunk's record has them."""
        return {name: getattr(self, name) for name in self.__slots__}


Notes = dict[tuple[str, int], Note]


def hunk_notes(repository: Repository, sync: Sync, hunks: Sequence[tuple[str, HunkOutcome]]) -> Notes:
    """Ask history about the hunks of a conflict, each side in one walk.

    Arguments:
        hunks: path and outcome of each.
    """
    tips = {Side.OURS: sync.ours, Side.THEIRS: sync.theirs}
    paths = sorted({path for path, _ in hunks})
    asked = {side: {line for _, o in hunks for part in _edit(o.hunk, side) for line in part} for side in Side}

    def walked(side: Side) -> Strokes:
        known = strokes(repository, tips[side], sync.bases, asked[side], paths)
        silent = {line for line in asked[side] if telling(line) and not known.added[line] and not known.removed[line]}
        if silent:  # what only a merge's own edits account for
            more = merge_strokes(repository, tips[side], sync.bases, silent, paths)
            for line in silent:
                known.added[line] += more.added.get(line, ())
                known.removed[line] += more.removed.get(line, ())
        return known

    known = of_both(lambda side: walked(side) if paths else Strokes())
    shas = {(path, o.number, side): _commits(known[side], o.hunk, side, path) for path, o in hunks for side in Side}
    facts = origins(repository, (sha for found in shas.values() for sha in found))
    return {(path, o.number): _note(path, o.hunk, shas, facts, o.number) for path, o in hunks}


def _note(
    path: str,
    hunk: Hunk,
    shas: dict[tuple[str, int, Side], list[str]],
    facts: dict[str, Origin],
    number: int,
) -> Note:
    by_side = {side: tuple(facts[sha] for sha in shas[path, number, side] if sha in facts) for side in Side}
    numeric = {side: _is_numeric(hunk, side) and not is_test(path) for side in Side}
    lost = []
    for side in Side:
        added, removed = _edit(hunk, side)
        if added or removed:
            parts = [
                f"{plural(len(found))} {word}" for found, word in ((added, "put in"), (removed, "taken out")) if found
            ]
            kind = " numeric" if numeric[side] else ""
            lost.append((side.value, f"the{kind} edit of {side.value} ({', '.join(parts)})"))
    changes = max(1, sum(map(len, by_side.values())))
    size = max(1, len(hunk.ours), len(hunk.theirs), len(hunk.base))
    weight = _NUMERIC_WEIGHT if any(numeric.values()) else 1.0
    return Note(by_side[Side.OURS], by_side[Side.THEIRS], tuple(lost), any(numeric.values()), weight * changes * size)


def plural(count: int) -> str:
    """`1 line`, `2 lines`."""
    return f"{count} line{'s' * (count != 1)}"


def _edit(hunk: Hunk, side: Side) -> tuple[list[str], list[str]]:
    """The stripped lines that a side put in and took out."""
    before = [line.strip() for line in hunk.base]
    after = [line.strip() for line in hunk.of(side.value)]
    known, made = set(before), set(after)
    return [line for line in after if line and line not in known], [l for l in before if l and l not in made]  # noqa: E741


def _commits(known: Strokes, hunk: Hunk, side: Side, path: str) -> list[str]:
    """The commits behind a side's lines, those behind most of them first."""
    added, removed = _edit(hunk, side)
    votes: dict[str, int] = {}
    for table, lines in ((known.added, added), (known.removed, removed)):
        for line in lines:
            strokes_of = table.get(line, [])
            made = [stroke for stroke in strokes_of if stroke.path == path] or strokes_of
            if made:
                votes[made[0].commit] = votes.get(made[0].commit, 0) + 1
    return sorted(votes, key=lambda sha: (-votes[sha], sha))[:_MOST_COMMITS]


def _is_numeric(hunk: Hunk, side: Side) -> bool:
    import re

    return any(is_numeric(re.findall(r"\w+|[^\w\s]+", line)) for part in _edit(hunk, side) for line in part)
