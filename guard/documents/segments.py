"""A file as segments: one a top-level definition, one for each run of other statements between them.

The four versions of a file that a merge compares share most of their definitions. A segment is parsed and surveyed
once, whichever versions hold it, so the cost of four trees is little more than that of one.
"""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from guard.documents.bindings import Methods
from guard.documents.decoding import decode
from guard.documents.methods import Parts, cut, join, parse_methods, stands
from guard.documents.outline import ModuleOutline
from guard.documents.survey import survey, survey_methods
from guard.errors import NotAnalysedError

_HEAD = re.compile(r"(?:async[ \t]+def|def|class)\b|@")
_DEFINITION = re.compile(r"^(?:class[ \t]+(\w+)|(?:async[ \t]+)?def\b)", re.MULTILINE)
_CONTINUES = (" ", "\t", "\f", "#", ")", "]", "}")
_BLANKS = " \t\f\n"  # what Python takes for nothing; other characters that look blank are errors
_WORD = re.compile(r"[A-Za-z_]\w*")

# A file that takes longer than this to parse is data; two of the four versions would use up the whole budget.
LARGEST = 2_000_000


class SegmentMemo:
    """What was surveyed so far, by its text.

    Attributes:
        parts: the segments of a top-level definition or run of statements, with their lines in it.
        methods: methods of a class, by the name of the class and their text.
        differing: classes that are not the same in all versions; these are surveyed method by method.
    """

    def __init__(self) -> None:
        self.parts: dict[str, Parts] = {}
        self.methods: dict[tuple[str, str], Methods] = {}
        self.differing: set[str] = set()


class _Refused(NamedTuple):
    """Why a file was not read."""

    reason: str


class _Cut(NamedTuple):
    """A file that can be read: its text, and the text in pieces with their 0-based lines."""

    text: str
    pieces: list[tuple[int, str]]


def outlines(versions: Sequence[bytes], memo: SegmentMemo) -> list[ModuleOutline]:
    """The facts of several versions of one file, see `outline`."""
    files = [_cut(data) for data in versions]
    texts: dict[str, set[str]] = {}
    for file in files:
        for _, chunk in file.pieces if isinstance(file, _Cut) else ():
            name = _class_name(chunk)
            if name:
                texts.setdefault(name, set()).add(chunk)
    memo.differing.update(name for name, chunks in texts.items() if len(chunks) > 1)
    return [_outline(file, memo) for file in files]


def outline(data: bytes, memo: SegmentMemo) -> ModuleOutline:
    """The facts of one file. Never raises for what is in the file: `error` says why it was not analysed.

    Arguments:
        data: the bytes of the file.
        memo: segments of other versions and files; what is new is added.
    """
    return _outline(_cut(data), memo)


def _cut(data: bytes) -> _Cut | _Refused:
    if len(data) > LARGEST:
        return _Refused(f"larger than {LARGEST} bytes")
    try:
        text = decode(data).text
    except NotAnalysedError as refused:
        return _Refused(refused.reason)
    return _Cut(text, split(text))


def _outline(file: _Cut | _Refused, memo: SegmentMemo) -> ModuleOutline:
    if isinstance(file, _Refused):
        return ModuleOutline(error=file.reason, error_line=1)
    try:
        parts = _parts(file, memo)
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        reason = getattr(problem, "msg", None) or str(problem)
        found = frozenset(_WORD.findall(file.text))
        return ModuleOutline(error=f"syntax error: {reason}", error_line=line, words=found)
    except (RecursionError, MemoryError) as problem:
        return ModuleOutline(error=f"too deeply nested: {type(problem).__name__}", error_line=1)
    return ModuleOutline(parts, words=frozenset(_WORD.findall(file.text)))


def speaking(data: bytes, word: str, memo: SegmentMemo) -> Parts:
    """The segments of a file that hold a word, with their lines; all of them where it cannot be cut without a doubt."""
    file = _cut(data)
    if isinstance(file, _Refused):
        return ()
    some = [(offset, chunk) for offset, chunk in file.pieces if word in chunk]
    if not any(chunk.count(quotes) % 2 for _, chunk in file.pieces for quotes in ('"""', "'''")):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return _surveyed(some, memo)
    return _outline(file, memo).parts


def words(data: bytes) -> frozenset[str]:
    """All words in a file; none where it cannot be read."""
    try:
        return frozenset(_WORD.findall(decode(data).text)) if len(data) <= LARGEST else frozenset()
    except NotAnalysedError:
        return frozenset()


def _parts(file: _Cut, memo: SegmentMemo) -> Parts:
    try:
        return _surveyed(file.pieces, memo)
    except SyntaxError:
        # A line of a multi-line string looked like a definition, or the file is broken: read it whole.
        return _surveyed([(0, file.text)], memo)


def _surveyed(pieces: Iterable[tuple[int, str]], memo: SegmentMemo) -> Parts:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for offset, chunk in pieces:
            known = memo.parts.get(chunk)
            if known is None:
                known = memo.parts[chunk] = _by_method(chunk, memo) or ((0, survey(ast.parse(chunk), chunk)),)
            found += [(offset + line, segment) for line, segment in known]
    return tuple(found)


def _by_method(chunk: str, memo: SegmentMemo) -> Parts | None:
    """The parts of a class that differs between the versions; None for anything else, and where it cannot be cut."""
    pieces = cut(chunk) if _class_name(chunk) in memo.differing else None
    if pieces is None:
        return None
    try:
        rest = ast.parse(pieces.rest)
        if not stands(rest, pieces):
            return None
        methods = [(line, _methods(pieces.owner, text, memo)) for line, text in pieces.methods]
    except SyntaxError:
        return None
    return join(survey(rest, pieces.rest), pieces.owner, methods)


def _methods(owner: str, text: str, memo: SegmentMemo) -> Methods:
    known = memo.methods.get((owner, text))
    if known is None:
        body, source = parse_methods(text)
        known = memo.methods[owner, text] = survey_methods(body, source, owner)
    return known


def _class_name(chunk: str) -> str:
    """The name of the class that a piece of a file is; empty for anything else."""
    found = _DEFINITION.search(chunk) if chunk.startswith(("class", "@")) else None
    return (found.group(1) or "") if found else ""


def split(text: str) -> list[tuple[int, str]]:
    """Cut a file at its top-level definitions: (0-based line, text), in order, blank segments left out."""
    lines = text.split("\n")
    starts = [0]
    inside = False
    decorated = False
    for number, line in enumerate(lines):
        if line.startswith(_CONTINUES) or not line.strip(_BLANKS):
            continue
        if _HEAD.match(line):
            if not decorated:
                starts.append(number)
            decorated = line.startswith("@")
            inside = True
        elif inside:
            if decorated:  # the second line of a decorator that does not indent
                continue
            starts.append(number)
            inside = False
    cuts = sorted(set(starts))
    pieces = []
    for start, end in zip(cuts, [*cuts[1:], len(lines)], strict=True):
        chunk = "\n".join(lines[start:end]).rstrip(_BLANKS)
        if chunk:
            pieces.append((start, chunk + "\n"))
    return pieces
