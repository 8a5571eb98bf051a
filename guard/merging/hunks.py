"""A three-way merge of one file by lines, as git makes it: clean text, and hunks that both sides changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

Edit = tuple[int, int, int, int]
LineEdits = Sequence[Edit]
Lines = tuple[str, ...]

MARKER_SIZE = 7
_MARKER = re.compile(r"(<{7,}|\|{7,}|={7,}|>{7,})(?: (.*))?\n?$")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that both sides changed, with their line ends, as each version has them."""

    base: Lines
    ours: Lines
    theirs: Lines

    def of(self, version: str) -> Lines:
        """The lines of "base", "ours" or "theirs"."""
        lines: Lines = getattr(self, version)
        return lines


Segment = Lines | Hunk
"""Lines that git joined by itself, or a hunk."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What stands behind the markers of a conflict."""

    ours: str = "ours"
    base: str = "base"
    theirs: str = "theirs"


def lines_of(text: str) -> Lines:
    """A text as lines with their ends; only a newline ends a line, as for git."""
    lines = text.split("\n")
    last = lines.pop()
    return (*(line + "\n" for line in lines), *((last,) if last else ()))


def three_way(base: Lines, ours: Lines, theirs: Lines, by_ours: LineEdits, by_theirs: LineEdits) -> list[Segment]:
    """Join the edits of both sides as git's xdiff does at its default level with markers in the diff3 style.

    Arguments:
        by_ours, by_theirs: the edit scripts from the base to each side.

    Returns:
        Clean lines and hunks, in turn; edits that touch make one hunk, unless both sides made the same.
    """
    segments: list[Segment] = []
    clean: list[str] = []
    position = 0
    for mine, yours in _clusters(by_ours, by_theirs):
        edits = [*mine, *yours]
        start, end = min(edit[0] for edit in edits), max(edit[1] for edit in edits)
        clean += base[position:start]
        position = end
        form_ours = _form(base, ours, start, end, mine)
        form_theirs = _form(base, theirs, start, end, yours)
        if not yours or form_ours == form_theirs:
            clean += form_ours
        elif not mine:
            clean += form_theirs
        else:
            if clean:
                segments.append(tuple(clean))
                clean = []
            segments.append(Hunk(base[start:end], form_ours, form_theirs))
    clean += base[position:]
    if clean:
        segments.append(tuple(clean))
    return segments


def _clusters(mine: LineEdits, yours: LineEdits) -> Iterator[tuple[list[Edit], list[Edit]]]:
    """Edits of both sides, those that overlap or touch put together."""
    pending = sorted([(*edit, 0) for edit in mine] + [(*edit, 1) for edit in yours], key=lambda item: item[:2])
    group: list[tuple[int, int, int, int, int]] = []
    reach = -1
    for item in pending:
        if group and item[0] > reach:
            yield _by_side(group)
            group = []
        group.append(item)
        reach = max(reach, item[1])
    if group:
        yield _by_side(group)


def _by_side(group: list[tuple[int, int, int, int, int]]) -> tuple[list[Edit], list[Edit]]:
    return [item[:4] for item in group if item[4] == 0], [item[:4] for item in group if item[4] == 1]


def _form(base: Lines, side: Lines, start: int, end: int, edits: list[Edit]) -> Lines:
    """How a side has the base's lines `start`..`end`."""
    made: list[str] = []
    position = start
    for first, last, low, high in edits:
        made += [*base[position:first], *side[low:high]]
        position = last
    return (*made, *base[position:end])


def filled(segments: Iterable[Segment], version: str) -> str:
    """The text with every hunk as one version has it."""
    return "".join(line for part in segments for line in (part.of(version) if isinstance(part, Hunk) else part))


def marked(hunk: Hunk, labels: Labels, size: int = MARKER_SIZE, *, with_base: bool = True) -> str:
    """A hunk between git's markers, with the base in the middle as in git's diff3 style."""
    parts = [("<" * size + f" {labels.ours}\n", hunk.ours)]
    if with_base:
        parts.append(("|" * size + f" {labels.base}\n", hunk.base))
    parts.append(("=" * size + "\n", hunk.theirs))
    text = ""
    for marker, lines in parts:
        body = "".join(lines)
        text += marker + body + ("\n" if body and not body.endswith("\n") else "")
    return text + ">" * size + f" {labels.theirs}\n"


def tidy(segments: Iterable[Segment]) -> list[Segment]:
    """The same file with neighbouring clean parts joined and empty ones dropped."""
    joined: list[Segment] = []
    for is_hunk, run in groupby(segments, key=lambda part: isinstance(part, Hunk)):
        if is_hunk:
            joined += run
            continue
        lines = tuple(line for part in run if not isinstance(part, Hunk) for line in part)
        if lines:
            joined.append(lines)
    return joined


def read_markers(text: str) -> tuple[list[Segment], bool] | None:
    """Read a file with conflict markers.

    Returns:
        Its segments, and whether each hunk shows the base; a hunk without it has an empty base. None where the markers
        do not pair, or where a hunk holds further markers.
    """
    segments: list[Segment] = []
    clean: list[str] = []
    parts: list[list[str]] = []
    wanted = "<"
    with_base = True
    for line in lines_of(text):
        found = _MARKER.match(line)
        sign = found.group(1)[0] if found and len(found.group(1)) == MARKER_SIZE else ""
        if not parts and sign != "<":
            clean.append(line)
            continue
        if sign and sign not in wanted:
            return None
        if not sign:
            parts[-1].append(line)
        elif sign == ">":
            base = parts[1] if len(parts) == 3 else []
            with_base = with_base and len(parts) == 3
            segments += [tuple(clean), Hunk(tuple(base), tuple(parts[0]), tuple(parts[-1]))]
            clean, parts = [], []
        else:
            parts.append([])
        wanted = {"": wanted, "<": "|=", "|": "=", "=": ">", ">": "<"}[sign]
    if parts:
        return None
    return tidy([*segments, tuple(clean)]), with_base
