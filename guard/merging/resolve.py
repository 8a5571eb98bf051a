"""Resolve the conflict hunks of one Python file: those that the syntax can join, each proven; the rest stay as they are.

Every hunk is filled as the base, ours and theirs have it, which gives three programs that differ in the hunks alone;
these are joined by syntax. A hunk that holds a conflict stays open: it is filled alike in all three, and the rest is
joined again. So what git merged cleanly is kept byte for byte unless it shares a statement with a hunk.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guard.documents.gc_paused import gc_paused
from guard.merging.blocks import VERSIONS, BlockMerge, Piece, Place
from guard.merging.conserve import unaccounted
from guard.merging.hunks import Hunk, Lines, Segment, lines_of, tidy
from guard.merging.syntax import Block, read, tokens_of

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
    """

    hunk: Hunk
    number: int
    resolved: bool
    reason: str


@dataclass(frozen=True, slots=True)
class FileResolution:
    """One file with the hunks that could be joined.

    Attributes:
        segments: clean text (with what was resolved) and the hunks that are open.
        outcomes: one for each hunk of the conflict, in order.
    """

    segments: tuple[Segment, ...]
    outcomes: tuple[HunkOutcome, ...]

    @property
    def open(self) -> tuple[HunkOutcome, ...]:
        """The hunks that are left to a person."""
        return tuple(outcome for outcome in self.outcomes if not outcome.resolved)


def resolve_python(segments: Sequence[Segment], keep_open: Iterable[int] = ()) -> FileResolution:
    """Join the hunks of a Python file.

    Arguments:
        segments: the file as git joined it.
        keep_open: numbers of hunks that are not to be resolved.
    """
    with gc_paused():
        return _Resolver(segments).resolve(dict.fromkeys(keep_open, "the judge finds a loss or a break in it"))


@dataclass(frozen=True, slots=True)
class _Joined:
    """A try that came to an end: the pieces in order and, for each version, where each segment lies."""

    pieces: tuple[Piece, ...]
    merge: BlockMerge


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
            kept = {number: open_hunks.get(number) or _NO_PROGRAM for number in everything}
            return FileResolution(self.segments, self._outcomes(kept, {}))
        segments, reasons_joined = made
        return FileResolution(segments, self._outcomes(open_hunks, reasons_joined))

    def _outcomes(self, open_hunks: dict[int, str], joined: dict[int, str]) -> tuple[HunkOutcome, ...]:
        return tuple(
            HunkOutcome(hunk, n, n not in open_hunks, open_hunks[n] if n in open_hunks else joined.get(n, _ONE_SIDE))
            for n, hunk in enumerate(self.hunks)
        )

    def _settle(self, open_hunks: dict[int, str]) -> tuple[tuple[Segment, ...], dict[int, str]] | None:
        """Join all hunks but the open ones; hunks that turn out to conflict are added to these.

        Returns:
            The file and the reasons by hunk; None where nothing can be joined.
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
                    return segments, self._hit(merge.joined, open_hunks, fill) or {}
                found = lost
            open_hunks.update(found)
        return None

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
            return merge, merge.block(*blocks, "module")
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
        segments: list[Segment] = []
        back = set(open_hunks)
        for piece in _ended(pieces):
            lines = lines_of(piece.text)
            if not piece.version:
                segments.append(lines)
                continue
            position = piece.start
            for number in sorted(back):
                start, end = spans[piece.version][number]
                inside = piece.start <= start and end <= piece.end
                if not inside or start < position or (start == end and start in (piece.start, piece.end) and start != end):
                    continue
                segments.append(lines[position - piece.start : start - piece.start])
                segments.append(self.hunks[number])
                back.discard(number)
                position = end
            segments.append(lines[position - piece.start :])
        if back:
            everything = (n for n in range(len(self.hunks)) if n not in open_hunks)
            return (), dict.fromkeys(everything, "an open hunk shares a statement with it")
        return tuple(tidy(segments)), {}

    def _disproved(self, segments: Sequence[Segment], open_hunks: dict[int, str], fill: str) -> str:
        """Why the joined file is not to be trusted; empty where it is."""
        text = "".join(line for part in segments for line in (part.of(fill) if isinstance(part, Hunk) else part))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
                compile(text, "joined", "exec", dont_inherit=True)
                forms = [ast.parse(self._text(version, open_hunks, fill)) for version in VERSIONS]
        except UNREADABLE:
            return "the joined file would not compile"
        tokens = [_tokens(form) for form in (*forms, tree)]
        wrong = unaccounted(*tokens)
        return f"the joined text would not hold what both sides changed: {', '.join(wrong[:5])}" if wrong else ""


_ONE_SIDE = "only one side changed each statement"
_NO_PROGRAM = "the versions of the hunk give no program that can be read"


def _tokens(tree: ast.Module) -> list[str]:
    """The content tokens of a program; an import is one token a name, so that splitting one up is no change."""
    found: list[str] = []
    for statement in tree.body:
        found += tokens_of([statement])
    return found


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
