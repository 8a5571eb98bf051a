"""A file as segments: one a top-level definition, one for each run of other statements between them.

The four versions of a file that a merge compares share most of their definitions. A segment is parsed and surveyed
once, whichever versions hold it, so the cost of four trees is little more than that of one.
"""

from __future__ import annotations

import ast
import re
import warnings

from guard.errors import NotAnalysedError
from guard.source.outline import ModuleOutline, Segment
from guard.source.survey import survey
from guard.source.text import decode

_HEAD = re.compile(r"(?:async[ \t]+def|def|class)\b|@")
_CONTINUES = (" ", "\t", "\f", "#", ")", "]", "}")
_WORD = re.compile(r"[A-Za-z_]\w*")

# A file that takes longer than this to parse is data; two of the four versions would use up the whole budget.
LARGEST = 2_000_000


class SegmentMemo(dict[str, Segment]):
    """Segments surveyed so far, by their text."""


def outline(data: bytes, memo: SegmentMemo) -> ModuleOutline:
    """The facts of one file. Never raises for what is in the file: `error` says why it was not analysed.

    Arguments:
        data: the bytes of the file.
        memo: segments of other versions of the file; what is new is added.
    """
    try:
        if len(data) > LARGEST:
            raise NotAnalysedError(f"larger than {LARGEST} bytes")
        text = decode(data).text
    except NotAnalysedError as refused:
        return ModuleOutline(error=refused.reason, error_line=1)
    try:
        parts = _parts(text, memo)
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None) or 1
        reason = getattr(problem, "msg", None) or str(problem)
        return ModuleOutline(error=f"syntax error: {reason}", error_line=line, words=frozenset(_WORD.findall(text)))
    except (RecursionError, MemoryError) as problem:
        return ModuleOutline(error=f"too deeply nested: {type(problem).__name__}", error_line=1)
    return ModuleOutline(tuple(parts), words=frozenset(_WORD.findall(text)))


def speaking(data: bytes, word: str, memo: SegmentMemo) -> tuple[tuple[int, Segment], ...]:
    """The segments of a file that hold a word, with their lines; all of them where it cannot be cut without a doubt."""
    try:
        pieces = split(decode(data).text)
    except NotAnalysedError:
        return ()
    if any(chunk.count(quotes) % 2 for _, chunk in pieces for quotes in ('"""', "'''")):
        return outline(data, memo).parts
    try:
        return tuple((offset, _segment(chunk, memo)) for offset, chunk in pieces if word in chunk)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return outline(data, memo).parts


def words(data: bytes) -> frozenset[str]:
    """All words in a file; none where it cannot be read."""
    try:
        return frozenset(_WORD.findall(decode(data).text)) if len(data) <= LARGEST else frozenset()
    except NotAnalysedError:
        return frozenset()


def _parts(text: str, memo: SegmentMemo) -> list[tuple[int, Segment]]:
    try:
        return [(offset, _segment(chunk, memo)) for offset, chunk in split(text)]
    except SyntaxError:
        # A line of a multi-line string looked like a definition, or the file is broken: read it whole.
        return [(0, _segment(text, memo))]


def _segment(chunk: str, memo: SegmentMemo) -> Segment:
    known = memo.get(chunk)
    if known is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(chunk)
        known = memo[chunk] = survey(tree, chunk)
    return known


def split(text: str) -> list[tuple[int, str]]:
    """Cut a file at its top-level definitions: (0-based line, text), in order, blank segments left out."""
    lines = text.split("\n")
    starts = [0]
    inside = False
    decorated = False
    for number, line in enumerate(lines):
        if line.startswith(_CONTINUES) or not line.strip():
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
        chunk = "\n".join(lines[start:end]).rstrip()
        if chunk:
            pieces.append((start, chunk + "\n"))
    return pieces
