"""Make an edit of a side in merged by syntax, where joining lines does not do it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from guard.merging.conserve import bound_twice
from guard.merging.hunks import lines_of, three_way
from guard.merging.resolve import UNREADABLE, resolve_python
from guard.merging.restoring import LineEdit, line_edits, split_lines
from guard.merging.syntax import read


def joined_by_syntax(base: bytes, side: bytes, merged: bytes, edits: Iterable[LineEdit]) -> bytes | None:
    """Merged with some of a side's edits made in it; None where they cannot be joined.

    Arguments:
        edits: some of the line edits from base to side.
    """
    before, made, now = split_lines(base), split_lines(side), split_lines(merged)
    wanted: list[str] = []
    position = 0
    for edit in sorted(set(edits), key=lambda item: (item.start, item.end, item.first)):
        if edit.start < position:
            return None
        wanted += [*before[position : edit.start], *made[edit.first : edit.last]]
        position = edit.end
    wanted += before[position:]
    texts = [lines_of("\n".join(lines)) for lines in (before, now, wanted)]
    scripts = [[(e.start, e.end, e.first, e.last) for e in line_edits(texts[0], form)] for form in texts[1:]]
    resolution = resolve_python(three_way(texts[0], texts[1], texts[2], scripts[0], scripts[1]), {})
    if resolution.open or not resolution.outcomes:
        return None
    text = resolution.program
    windows = merged.count(b"\r\n") * 2 > merged.count(b"\n") > 0
    return (text.replace("\n", "\r\n") if windows else text).encode("utf-8", "surrogateescape")


def doubles(side: bytes, merged: bytes, patched: bytes) -> list[str]:
    """Names that a patch makes merged define more often than merged or the side does."""
    memo: dict[str, ast.Module] = {}
    try:
        forms = [read(data.decode("utf-8", "surrogateescape"), memo) for data in (side, merged, patched)]
    except UNREADABLE:
        return []
    return bound_twice(forms[0], forms[1], forms[2])
