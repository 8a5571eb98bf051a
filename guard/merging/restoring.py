"""Bring one edit of a side back into merged: a three-way merge of the base, the base with just that edit, and merged.

Edits that do not touch each other are joined, by lines first and by tokens where both change one line. What really
clashes is not guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_TOKEN = re.compile(r"\n|[^\S\n]+|\w+|[^\w\s]")
_MOST_TOKENS = 4000

Resolve = Callable[[list[str], list[str], list[str]], list[str] | None]


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines `start`..`end` of the base (0-based, half open) become lines `first`..`last` of the side."""

    start: int
    end: int
    first: int
    last: int


def split_lines(data: bytes) -> list[str]:
    """A text as lines without their ends; the last one is empty where the text ends with a line end."""
    return [line.removesuffix("\r") for line in data.decode("utf-8", "surrogateescape").split("\n")]


def line_edits(base: Sequence[str], side: Sequence[str]) -> list[LineEdit]:
    """What a side changed, as runs of lines."""
    codes = SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
    return [LineEdit(start, end, first, last) for tag, start, end, first, last in codes if tag != "equal"]


def line_by_line(edits: Iterable[LineEdit]) -> Iterator[LineEdit]:
    """The same edits, those that replace as many lines as they bring split into single lines."""
    for edit in edits:
        if edit.end - edit.start == edit.last - edit.first:
            yield from (
                LineEdit(edit.start + k, edit.start + k + 1, edit.first + k, edit.first + k + 1)
                for k in range(edit.end - edit.start)
            )
        else:
            yield edit


def reapply(base: bytes, side: bytes, merged: bytes, edits: Iterable[LineEdit]) -> bytes | None:
    """Merged with some of a side's edits made on it.

    Arguments:
        edits: some of `line_edits` of base and side, or parts of them.

    Returns:
        The text, with the line ends of merged; None where an edit clashes with what merged has there. Edits that are
        there already change nothing.
    """
    before, made, now = split_lines(base), split_lines(side), split_lines(merged)
    chosen = sorted(set(edits), key=lambda item: (item.start, item.end, item.first))
    if any(one.end > other.start for one, other in pairwise(chosen)):
        return None
    wanted: list[str] = []
    without: list[str] = []
    position = 0
    for edit in chosen:
        wanted += [*before[position : edit.start], *made[edit.first : edit.last]]
        position = edit.end
    wanted += before[position:]
    position = 0
    for edit in chosen:
        without += [*made[position : edit.first], *before[edit.start : edit.end]]
        position = edit.last
    without += made[position:]
    # Two ways to the same end; where both sides added a whole file, the base alone gives no hold.
    ways = (three_way(before, wanted, now, _by_tokens), three_way(without, made, now, _by_tokens))
    joined = [way for way in ways if way is not None and way != now]
    if not joined:
        return None if all(way is None for way in ways) else merged
    return _with_line_ends(min(joined, key=lambda lines: _distance(now, lines)), merged, now)


def _distance(before: list[str], after: list[str]) -> int:
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(end - start + last - first for tag, start, end, first, last in codes if tag != "equal")


def three_way(base: list[str], one: list[str], other: list[str], resolve: Resolve) -> list[str] | None:
    """Join the edits that two sequences make on a third.

    Arguments:
        resolve: (base, one, other) of a place where edits of both overlap gives the joined form, or None.
    """
    joined: list[str] = []
    position = 0
    for start, end, mine, yours in _clusters(_edits(base, one), _edits(base, other)):
        joined += base[position:start]
        position = end
        form_one, form_other = _form(base, one, start, end, mine), _form(base, other, start, end, yours)
        if not yours or form_one == form_other:
            joined += form_one
        elif not mine:
            joined += form_other
        else:
            resolved = _insertions(start, end, form_one, form_other)
            if resolved is None:
                resolved = resolve(base[start:end], form_one, form_other)
            if resolved is None:
                return None
            joined += resolved
    return joined + base[position:]


Edit = tuple[int, int, int, int]


def _edits(base: list[str], form: list[str]) -> list[Edit]:
    codes = SequenceMatcher(None, base, form, autojunk=False).get_opcodes()
    return [(start, end, first, last) for tag, start, end, first, last in codes if tag != "equal"]


def _clusters(mine: list[Edit], yours: list[Edit]) -> Iterator[tuple[int, int, list[Edit], list[Edit]]]:
    """Edits of both, those that overlap put together: (start, end, edits of one, edits of the other)."""
    pending = sorted([(*edit, 0) for edit in mine] + [(*edit, 1) for edit in yours], key=lambda item: item[:2])
    group: list[tuple[int, int, int, int, int]] = []
    for item in pending:
        if group and not any(_overlap(item, known) for known in group):
            yield _cluster(group)
            group = []
        group.append(item)
    if group:
        yield _cluster(group)


def _overlap(one: tuple[int, int, int, int, int], other: tuple[int, int, int, int, int]) -> bool:
    if one[0] == one[1] or other[0] == other[1]:  # an insertion: inside the other, or at the same point
        return one[:2] == other[:2] or other[0] < one[0] < other[1] or one[0] < other[0] < one[1]
    return one[0] < other[1] and other[0] < one[1]


def _cluster(group: list[tuple[int, int, int, int, int]]) -> tuple[int, int, list[Edit], list[Edit]]:
    start, end = min(item[0] for item in group), max(item[1] for item in group)
    return start, end, [item[:4] for item in group if item[4] == 0], [item[:4] for item in group if item[4] == 1]


def _form(base: list[str], form: list[str], start: int, end: int, edits: list[Edit]) -> list[str]:
    """How a sequence has the base's `start`..`end`, with its edits there made."""
    made: list[str] = []
    position = start
    for first, last, low, high in sorted(edits):
        made += [*base[position:first], *form[low:high]]
        position = last
    return made + base[position:end]


def _insertions(start: int, end: int, one: list[str], other: list[str]) -> list[str] | None:
    """Two insertions at one point: the fuller one where it holds the other, else both."""
    if start != end:
        return None
    if _within(other, one):
        return one
    return other if _within(one, other) else [*one, *other]


def _partly_made(base: list[str], one: list[str], other: list[str]) -> bool:
    """Whether the other form is the first one's edit made in part, and nothing else."""
    kept, mine, told = set(base), set(one), set(other)
    return told <= kept | mine and bool(told & (mine - kept)) and mine & kept <= told


def _within(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)


def _by_tokens(base: list[str], one: list[str], other: list[str]) -> list[str] | None:
    """Join lines that both changed: the wanted edit where merged has a part of it, else token by token.

    Returns:
        None where both change the same tokens.
    """
    if _partly_made(base, one, other):
        return one
    forms = [_TOKEN.findall("\n".join(lines)) for lines in (base, one, other)]
    if not base or max(map(len, forms)) > _MOST_TOKENS or len({tuple(form) for form in forms}) < 2:
        return None
    before, wanted, now = forms
    joined = three_way(before, wanted, now, lambda _base, _one, _other: None)
    return None if joined is None else "".join(joined).split("\n") if joined else []


def _with_line_ends(lines: list[str], merged: bytes, now: list[str]) -> bytes:
    """Lines as bytes: those that merged has keep their line ends, new ones get what most lines of merged have."""
    raw = merged.decode("utf-8", "surrogateescape").split("\n")
    windows = 2 * sum(line.endswith("\r") for line in raw) > len(raw) - 1 > 0
    ended: list[str] = []
    for tag, start, end, first, last in SequenceMatcher(None, lines, now, autojunk=False).get_opcodes():
        if tag == "equal":
            ended += raw[first:last]
        else:
            ended += [
                line + "\r" if windows and k + 1 < len(lines) else line
                for k, line in enumerate(lines[start:end], start)
            ]
    return "\n".join(ended).encode("utf-8", "surrogateescape")
