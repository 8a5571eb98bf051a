"""Join two edits of one sequence of lines, for text that is no code: comments and docstrings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_ENTRY = re.compile(r"\s+\*{0,2}([\w.-]+)\s*(\([^)]*\))?\s*:")

LineEdit = tuple[int, int, int, int]


def join_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """The lines with the edits of both sides.

    Returns:
        None where edits of both overlap or touch, unless both are the same, or both put in entries (`name: text`)
        under different names at one place.
    """
    pending = sorted([(*edit, 0) for edit in _edits(base, ours)] + [(*edit, 1) for edit in _edits(base, theirs)])
    joined: list[str] = []
    position = 0
    while pending:
        start, end, low, high, side = pending.pop(0)
        lines = list((theirs if side else ours)[low:high])
        if pending and pending[0][0] <= end:
            other_start, other_end, other_low, other_high, other_side = pending.pop(0)
            others = list((theirs if other_side else ours)[other_low:other_high])
            if (start, end, lines) != (other_start, other_end, others):
                if not start == end == other_start == other_end:
                    return None
                both = _entries(lines, others)
                if both is None:
                    return None
                lines = both
            if pending and pending[0][0] <= end:
                return None
        joined += [*base[position:start], *lines]
        position = end
    return [*joined, *base[position:]]


def _edits(base: Sequence[str], form: Sequence[str]) -> list[LineEdit]:
    codes = SequenceMatcher(None, base, form, autojunk=False).get_opcodes()
    return [(start, end, first, last) for tag, start, end, first, last in codes if tag != "equal"]


def _entries(one: list[str], other: list[str]) -> list[str] | None:
    """Two runs of entries, each under names of its own."""
    names = [[found.group(1) for line in lines if (found := _ENTRY.match(line))] for lines in (one, other)]
    starts = [bool(lines) and _ENTRY.match(lines[0]) is not None for lines in (one, other)]
    if not all(starts) or set(names[0]) & set(names[1]):
        return None
    first, second = sorted((one, other))
    return first + second
