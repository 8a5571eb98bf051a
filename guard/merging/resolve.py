"""Resolve the conflict hunks of a Python file: those that the syntax can join, each proven; the rest stay as they are.

Every hunk is filled as the base, ours and theirs have it, which gives three programs that differ in the hunks alone;
these are joined by syntax. A hunk that holds a conflict stays open: it is filled alike in all three, and the rest is
joined again. So what git merged cleanly is kept byte for byte unless it shares a statement with a hunk.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guard.documents.gc_paused import gc_paused
from guard.merging.blocks import BlockMerge
from guard.merging.conserve import bound_twice, unaccounted
from guard.merging.hunks import Hunk, Lines, Segment, filled, lines_of, tidy
from guard.merging.pieces import VERSIONS, Piece, Place
from guard.merging.syntax import Block, read

_MOST_ROUNDS = 8
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class HunkOutcome:
    """What became of one hunk.

    Attributes:
        hunk: the hunk.
        number: its place among the hunks of the file, from 0.
        resolved: whether it was joined.
        reason: how, or why not.
        lines: the lines (0-based, half open) that hold it in `FileResolution.program`.
    """

    hunk: Hunk
    number: int
    resolved: bool
    reason: str
    lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class FileResolution:
    """One file with the hunks that could be joined.

    Attributes:
        segments: clean text (with what was resolved) and the hunks that are open.
        outcomes: one for each hunk of the conflict, in order.
        fill: the side whose form of the open hunks gives a program ("ours" or "theirs").
    """

    segments: tuple[Segment, ...]
    outcomes: tuple[HunkOutcome, ...]
    fill: str = "ours"

    @property
    def program(self) -> str:
        """The file with its open hunks as one side has them."""
        return filled(self.segments, self.fill)

    @property
    def open(self) -> tuple[HunkOutcome, ...]:
        """The hunks that are left to a person."""
        return tuple(outcome for outcome in self.outcomes if not outcome.resolved)


def resolve_python(segments: Sequence[Segment], keep_open: Mapping[int, str]) -> FileResolution:
    """Join the hunks of a Python file.

    Arguments:
        segments: the file as git joined it.
        keep_open: numbers of hunks that are not to be resolved, with the reason.
    """
    with gc_paused():
        return _Resolver(segments).resolve(dict(keep_open))


class _Resolver:
    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = tuple(segments)
        self.numbers = [n for n, part in enumerate(segments) if isinstance(part, Hunk)]
        self.hunks = [part for part in segments if isinstance(part, Hunk)]
        self.memo: dict[str, ast.Module] = {}

    def resolve(self, refused: dict[int, str]) -> FileResolution:
        everything = range(len(self.hunks))
        open_hunks = dict(refused)
        made = self._settle(open_hunks)
        if made is None:
            # The hunks do not give programs when filled together: one at a time, then those together that went.
            reasons: dict[int, str] = {}
            for number in everything:
                alone = {n: "" for n in everything if n != number}
                if number in refused or self._settle(alone) is None or number in alone:
                    reasons[number] = refused.get(number) or alone.get(number) or _NO_PROGRAM
            open_hunks = reasons
            made = self._settle(open_hunks) if len(reasons) < len(self.hunks) else None
        if made is None:
            return self._kept(open_hunks)
        return made

    def _kept(self, reasons: dict[int, str]) -> FileResolution:
        outcomes = [
            HunkOutcome(hunk, n, False, reasons.get(n) or _NO_PROGRAM, _lines_of_hunk(self.segments, n))
            for n, hunk in enumerate(self.hunks)
        ]
        return FileResolution(self.segments, tuple(outcomes))

    def _settle(self, open_hunks: dict[int, str]) -> FileResolution | None:
        """Join all hunks but the open ones; hunks that turn out to conflict are added to these.

        Returns:
            The file; None where nothing can be joined.
        """
        for _ in range(_MOST_ROUNDS):
            if len(open_hunks) == len(self.hunks):
                return None
            joined = None
            for fill in ("ours", "theirs"):
                joined = self._try(open_hunks, fill)
                if joined is not None:
                    break
            if joined is None:
                return None
            merge, pieces = joined
            found = self._hit(merge.conflicts, open_hunks, fill)
            if found is None:
                return None
            if not found:
                segments, lost = self._with_open(pieces, open_hunks, fill)
                if not lost and (reason := self._disproved(segments, open_hunks, fill)):
                    lost = {n: reason for n in range(len(self.hunks)) if n not in open_hunks}
                if not lost:
                    return self._resolution(segments, merge, pieces, open_hunks, fill)
                found = lost
            open_hunks.update(found)
        return None

    def _resolution(
        self,
        segments: tuple[Segment, ...],
        merge: BlockMerge,
        pieces: Sequence[Piece],
        open_hunks: dict[int, str],
        fill: str,
    ) -> FileResolution:
        reasons = self._hit(merge.joined, open_hunks, fill) or {}
        lines = self._lines(pieces, open_hunks, fill)
        outcomes = [
            HunkOutcome(hunk, n, n not in open_hunks, open_hunks.get(n) or reasons.get(n, _ONE_SIDE), lines[n])
            for n, hunk in enumerate(self.hunks)
        ]
        return FileResolution(segments, tuple(outcomes), fill)

    def _lines(self, pieces: Sequence[Piece], open_hunks: dict[int, str], fill: str) -> list[tuple[int, int]]:
        """The lines of the joined program that each hunk became."""
        spans = {version: self._spans(version, open_hunks, fill) for version in VERSIONS}
        found: list[list[int]] = [[] for _ in self.hunks]
        position = 0
        for piece in _ended(pieces):
            count = len(lines_of(piece.text))
            for number in range(len(self.hunks)):
                if piece.version:
                    start, end = spans[piece.version][number]
                    first, last = max(start, piece.start), min(end, piece.end)
                    if first <= last:
                        found[number] += [position + first - piece.start, position + last - piece.start]
                elif any(_meet(span, spans[version][number]) for version, span in piece.made_of):
                    found[number] += [position, position + count]
            position += count
        return [(min(places), max(places)) if places else (0, 0) for places in found]

    def _spans(self, version: str, open_hunks: dict[int, str], fill: str) -> list[tuple[int, int]]:
        """The lines of each hunk in one version."""
        spans = []
        position = 0
        number = 0
        for part in self.segments:
            lines = self._form(part, number, version, open_hunks, fill)
            if isinstance(part, Hunk):
                spans.append((position, position + len(lines)))
                number += 1
            position += len(lines)
        return spans

    def _form(self, part: Segment, number: int, version: str, open_hunks: dict[int, str], fill: str) -> Lines:
        if not isinstance(part, Hunk):
            return part
        return part.of(fill if number in open_hunks else version)

    def _text(self, version: str, open_hunks: dict[int, str], fill: str) -> str:
        number = 0
        lines: list[str] = []
        for part in self.segments:
            lines += self._form(part, number, version, open_hunks, fill)
            number += isinstance(part, Hunk)
        return "".join(lines)

    def _try(self, open_hunks: dict[int, str], fill: str) -> tuple[BlockMerge, list[Piece]] | None:
        try:
            blocks = [self._read(self._text(version, open_hunks, fill)) for version in VERSIONS]
            merge = BlockMerge()
            return merge, merge.block(blocks[0], blocks[1], blocks[2], "module")
        except UNREADABLE:
            return None

    def _read(self, text: str) -> Block:
        return read(text, self.memo)

    def _hit(self, places: Sequence[Place], open_hunks: dict[int, str], fill: str) -> dict[int, str] | None:
        """The hunks that places lie in, with their reasons; None where a place lies in none."""
        spans = {version: self._spans(version, open_hunks, fill) for version in VERSIONS}
        found: dict[int, str] = {}
        for place in places:
            near = [
                number
                for number in range(len(self.hunks))
                if number not in open_hunks
                and any(_meet(span, spans[version][number]) for version, span in place.spans)
            ]
            if not near:
                return None
            for number in near:
                found.setdefault(number, place.reason)
        return found

    def _with_open(
        self, pieces: Sequence[Piece], open_hunks: dict[int, str], fill: str
    ) -> tuple[tuple[Segment, ...], dict[int, str]]:
        """The joined text with the open hunks put back, or the hunks that stand in the way of that."""
        spans = {version: self._spans(version, open_hunks, fill) for version in VERSIONS}
        ended = _ended(pieces)
        lines = [line for piece in ended for line in lines_of(piece.text)]
        cuts: list[tuple[int, int, int]] = []
        for number in open_hunks:
            place = _place(ended, {version: spans[version][number] for version in VERSIONS})
            if place is None:
                return (), self._in_the_way(ended, number, open_hunks, spans)
            cuts.append((*place, number))
        segments: list[Segment] = []
        position = 0
        for start, end, number in sorted(cuts):
            segments += [tuple(lines[position:start]), self.hunks[number]]
            position = end
        return tuple(tidy([*segments, tuple(lines[position:])])), {}

    def _in_the_way(
        self,
        pieces: Sequence[Piece],
        number: int,
        open_hunks: dict[int, str],
        spans: dict[str, list[tuple[int, int]]],
    ) -> dict[int, str]:
        """The hunks that share a joined statement with an open one; all of them where none is known to."""
        others = [n for n in range(len(self.hunks)) if n not in open_hunks]
        near = [
            n
            for piece in pieces
            if any(_meet(span, spans[version][number]) for version, span in piece.made_of)
            for n in others
            if any(_meet(span, spans[version][n]) for version, span in piece.made_of)
        ]
        return dict.fromkeys(near or others, "an open hunk shares a statement with it")

    def _disproved(self, segments: Sequence[Segment], open_hunks: dict[int, str], fill: str) -> str:
        """Why the joined file is not to be trusted; empty where it is."""
        text = filled(segments, fill)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(text, "joined", "exec", dont_inherit=True)
            forms = [*(self._read(self._text(version, open_hunks, fill)) for version in VERSIONS), self._read(text)]
        except UNREADABLE:
            return "the joined file would not compile"
        shared = set.intersection(*({node.text for node in form.nodes} for form in forms))
        tokens = [[t for node in form.nodes if node.text not in shared for t in node.tokens] for form in forms]
        twice = bound_twice(forms[1], forms[2], forms[3])
        if twice:
            return f"the joined file would bind {twice[0]} twice"
        wrong = unaccounted(tokens[0], tokens[1], tokens[2], tokens[3])
        return f"the joined text would not hold what both sides changed: {', '.join(wrong[:5])}" if wrong else ""


def _place(pieces: Sequence[Piece], spans: dict[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Where the lines of an open hunk, the same in all versions, lie in the joined text; None where they are apart."""
    start, end = spans["ours"]
    position = 0
    found: list[tuple[int, int]] = []
    at = set()
    for piece in pieces:
        if piece.version:
            begin, stop = spans[piece.version]
            if begin == stop and piece.start <= begin <= piece.end:
                at.add(position + begin - piece.start)
            found += [
                (position + index - piece.start, index - begin)
                for index in range(max(begin, piece.start), min(stop, piece.end))
            ]
        position += len(lines_of(piece.text))
    if start == end:
        return (min(at), min(at)) if len(at) == 1 else None
    first = found[0][0] if found else 0
    return (first, first + end - start) if found == [(first + k, k) for k in range(end - start)] else None


def _lines_of_hunk(segments: Sequence[Segment], number: int) -> tuple[int, int]:
    """Where a hunk lies in the file with every hunk as ours has it."""
    position = seen = 0
    for part in segments:
        lines = part.ours if isinstance(part, Hunk) else part
        if isinstance(part, Hunk):
            if seen == number:
                return position, position + len(lines)
            seen += 1
        position += len(lines)
    raise IndexError(number)


_ONE_SIDE = "only one side changed each statement"
_NO_PROGRAM = "the versions of the hunk give no program that can be read"


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans share a line; an empty one meets what it lies in or borders on."""
    if one[0] == one[1] or other[0] == other[1]:
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]


def _ended(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, each but the last with a newline at its end: the last line of a file may have none."""
    filled = [piece for piece in pieces if piece.text]
    return [
        piece
        if piece.text.endswith("\n") or number + 1 == len(filled)
        else Piece(piece.version, piece.start, piece.end, piece.text + "\n")
        for number, piece in enumerate(filled)
    ]
