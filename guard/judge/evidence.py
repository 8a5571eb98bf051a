"""What a person needs to see of a lost statement: the text in the four trees, the place, the name it is about."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guard.documents.definitions import Definition, SourceFile
from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.changes import LostEdit
from guard.judge.doubts import CONTESTED, NEIGHBOUR_CHANGED, SURROUNDINGS_GONE
from guard.judge.outcomes import EditOutcome, Hunk, told
from guard.judge.registry import is_on
from guard.judge.verdicts import Alignment
from guard.model import Evidence, Side

_NAME = re.compile(r"[A-Za-z_]\w*$")
LONGEST_EXCERPT = 12  # lines of one statement that evidence shows


@dataclass(frozen=True, slots=True)
class Files:
    """The files that hold the four forms of one definition; different ones where it moved."""

    base: SourceFile
    side: SourceFile
    other: SourceFile
    merged: SourceFile


def pieces_of(hunk: Hunk, four: Alignment, files: Files, side: Side, now: Definition) -> Iterator[LostEdit]:
    """The lost statements of one run, each with its evidence.

    Arguments:
        now: the definition in merged.
    """
    doubts = (
        (CONTESTED, hunk.contested),
        (NEIGHBOUR_CHANGED, hunk.neighbour_changed),
        (SURROUNDINGS_GONE, hunk.surroundings_gone),
    )
    side_file, other_file, merged = files.side, files.other, files.merged
    for fate in hunk.lost or hunk.superseded:
        old = four.base[fate.old] if fate.old >= 0 else None
        new = four.side[fate.new] if fate.new >= 0 else None
        at = four.merged[fate.merged] if fate.merged >= 0 else None
        other = _other(four, fate)
        missing, back = fate.missing, fate.back
        if not missing and not back:
            missing = (told(new),) if new is not None else ()
            back = (told(at),) if new is None and at is not None else ()
        words = fate.touched or (new or old or at).tokens  # type: ignore[union-attr]
        texts = {
            "base": _excerpt(files.base, old),
            side.value: _excerpt(side_file, new),
            side.other.value: _excerpt(other_file, other),
            "merged": _excerpt(merged, at),
        }
        line = fate.row or (at.line if at else _would_stand(four, fate, now))
        removed = old if fate.verdict.value in ("revived", "reverted", "partly") else None
        surplus = _lines(merged, at) if old is None and new is None else ()
        yield LostEdit(
            verdict=fate.verdict,
            missing=missing,
            back=back,
            words=tuple(words),
            missing_lines=_rows(side_file, fate.new_rows) or (() if fate.touched else _lines(side_file, new)),
            back_lines=surplus
            or _rows(files.base, fate.old_rows)
            or (() if fate.touched else _lines(files.base, removed)),
            line=line,
            end_line=max(line, at.end_line if at else line),
            evidence=Evidence(**texts),
            other_lines=_lines(files.base, old) or _lines(other_file, other),
            doubts=frozenset(doubt.name for doubt, holds in doubts if holds and is_on(doubt)),
            because=fate.because,
            precise=fate.precise,
            imported=(new or old or at).kind == "import",  # type: ignore[union-attr]
            subject=_subject(fate, new, old),
            where=fate.where,
        )


def _other(four: Alignment, fate: EditOutcome) -> Statement | None:
    if fate.old >= 0:
        k = four.base_other[fate.old]
        k = k if k >= 0 else four.became.get(fate.old, -1)
        return four.other[k] if k >= 0 else None
    return None


def _excerpt(file: SourceFile, statement: Statement | None) -> str | None:
    if statement is None:
        return None
    return file.excerpt(statement.line, min(statement.end_line, statement.line + LONGEST_EXCERPT - 1))


def _lines(file: SourceFile, statement: Statement | None) -> tuple[str, ...]:
    if statement is None:
        return ()
    return tuple(filter(None, (line.strip() for line in file.lines[statement.line - 1 : statement.end_line])))


def _rows(file: SourceFile, rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(filter(None, (file.lines[row - 1].strip() for row in dict.fromkeys(rows))))


def _would_stand(four: Alignment, fate: EditOutcome, now: Definition) -> int:
    """The line of merged after the nearest statement before the place that both have."""
    if fate.new >= 0:
        partners, index = four.side_merged, fate.new
    else:
        partners, index = four.base_merged, fate.old
    for j in range(index - 1, -1, -1):
        if partners[j] >= 0:
            return min(four.merged[partners[j]].end_line + 1, max(now.end_line, now.line))
    return now.line


def _subject(fate: EditOutcome, new: Statement | None, old: Statement | None) -> str | None:
    """The identifier that the edit is about: the argument it stands in, the name it assigns or calls."""
    statement = new or old
    if statement is None:
        return None
    if fate.touched and new is not None:
        inside = _argument(new.tokens, fate.touched)
        if inside:
            return inside
    words: Sequence[str] = fate.touched or statement.tokens
    if statement.kind == "import":
        return statement.tokens[-1].rsplit(".", 1)[-1]
    if not fate.touched and "=" in statement.tokens:
        words = statement.tokens[: statement.tokens.index("=")][::-1]
    for word in (*words, *statement.tokens):
        if _NAME.match(word) and not keyword.iskeyword(word) and word not in ("self", "cls"):
            return word
    return None


def _argument(words: Sequence[str], touched: Sequence[str]) -> str | None:
    """The keyword of the argument that holds the first touched token."""
    wanted = touched[0]
    depth = 0
    holder: dict[int, str] = {}
    for index, word in enumerate(words):
        if word in "([{":
            depth += 1
            holder.pop(depth, None)
        elif word in ")]}":
            depth -= 1
        elif word == ",":
            holder.pop(depth, None)
        elif word == "=" and depth and index and _NAME.match(words[index - 1]):
            holder[depth] = words[index - 1]
        elif word == wanted and holder.get(depth) and tokens.is_content(word):
            return holder[depth]
    return None
