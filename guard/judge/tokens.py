"""Edits inside one statement: what was put in, what was taken out, and whether another text has the same done to it."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guard.documents.statements import Statement
from guard.judge import arguments
from guard.judge.alignment import align, hunks, inverse

_WORD = re.compile(r"[\"']|[A-Za-z_]")  # begins a name or a string
_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", ",", ".", ":", "=", ",)"])


@dataclass(frozen=True, slots=True)
class TokenEdit:
    """Base tokens `start`..`end` became the side's tokens `new_start`..`new_end` (ends exclusive)."""

    start: int
    end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class EditFate:
    """What became of one edit in another text.

    Attributes:
        missing: indices (in the side's tokens) of what was put in and is not there.
        back: indices (in the base's tokens) of what was taken out and is there.
        done: whether any token of the edit is as the side made it.
    """

    edit: TokenEdit
    missing: tuple[int, ...]
    back: tuple[int, ...]
    done: bool

    @property
    def kept(self) -> bool:
        """Whether the whole edit is there."""
        return not self.missing and not self.back


def is_content(token: str) -> bool:
    """Whether a token says something by itself: a name, a value, an operator; not a bracket or a comma."""
    return token not in _PUNCTUATION


def content(tokens: Iterable[str]) -> list[str]:
    """The tokens that say something by themselves."""
    return [token for token in tokens if token not in _PUNCTUATION]


def similarity(one: Statement, other: Statement) -> float:
    """Shared part of the content tokens, 0 to 1 (Dice's coefficient over counts)."""
    return overlap(bag(one), bag(other))


def bag(statement: Statement) -> Counter[str]:
    """The content tokens of a statement by count. Not to be changed: equal statements share one."""
    return _bag(statement.tokens)


@functools.lru_cache(maxsize=100_000)
def _bag(tokens: tuple[str, ...]) -> Counter[str]:
    return Counter(content(tokens))


def most_overlap(one: Counter[str], other: Counter[str]) -> float:
    """An upper bound of `overlap`, from the sizes alone."""
    first, second = one.total(), other.total()
    return 2 * min(first, second) / (first + second) if first or second else 1.0


def overlap(one: Counter[str], other: Counter[str]) -> float:
    """Dice's coefficient of two bags."""
    total = one.total() + other.total()
    if not total:
        return 1.0
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    return 2 * sum(min(count, large[token]) for token, count in small.items() if token in large) / total


def edits(base: Sequence[str], side: Sequence[str]) -> list[TokenEdit]:
    """The token edits that make `side` of `base`."""
    return [TokenEdit(*hunk) for hunk in hunks(align(base, side), len(side))]


def fates(base: Statement, side: Statement, merged: Statement) -> list[EditFate]:
    """What became of each edit of a side in the merged statement.

    A token counts as there when it is aligned, or when merged has as many of it as the side has: the order of
    operands does not matter. In an argument of a call it must be in that argument of merged, where merged has it.
    """
    in_merged = align(side.tokens, merged.tokens)
    from_side = inverse(in_merged, len(merged.tokens))
    base_in_merged = align(base.tokens, merged.tokens)
    kept_by_side = align(base.tokens, side.tokens)
    have, want, had = Counter(merged.tokens), Counter(side.tokens), Counter(base.tokens)
    # What the other side took out of the rest of the statement is not missing from this side's edits.
    for index, token in enumerate(base.tokens):
        if kept_by_side[index] >= 0 and base_in_merged[index] < 0:
            want[token] -= 1
            had[token] -= 1
    result = []
    for edit in (TokenEdit(*hunk) for hunk in hunks(kept_by_side, len(side.tokens))):
        new = range(edit.new_start, edit.new_end)
        old = range(edit.start, edit.end)
        told = [index for index in new if is_content(side.tokens[index])]
        taken = [index for index in old if is_content(base.tokens[index])]
        if not told and not taken:
            told, taken = list(new), list(old)
        missing, done = [], False
        for index in told:
            token = side.tokens[index]
            if _anchored(side.tokens, index, in_merged, want, have):
                done = True
            elif is_content(token) and arguments.misplaced(base.tokens, side.tokens, merged.tokens, index):
                missing.append(index)
            elif have[token] >= want[token] > had[token] or (in_merged[index] >= 0 and have[token] >= want[token]):
                done = True
            elif in_merged[index] < 0 or want[token] > had[token]:
                missing.append(index)
        back = []
        for index in taken:
            token = base.tokens[index]
            place = base_in_merged[index]
            if have[token] <= want[token]:
                done = done or not told
            elif place >= 0 and from_side[place] < 0:
                back.append(index)
        result.append(EditFate(edit, tuple(missing), tuple(back), done))
    return result


def _anchored(
    side: Sequence[str], index: int, in_merged: Sequence[int], want: Counter[str], have: Counter[str]
) -> bool:
    """Whether a token stands in merged right behind the same word, and both have that word once: its place is known."""
    place, at = in_merged[index], index
    while place > 0 and at > 0:
        at, place = at - 1, place - 1
        if in_merged[at] != place:
            return False
        if _WORD.match(side[at]):
            return want[side[at]] == have[side[at]] == 1
    return False


def overlaps(edit: TokenEdit, others: Iterable[TokenEdit]) -> bool:
    """Whether another edit of the same base removed or rewrote the very tokens that this one stands on.

    Something put in between two tokens is rewritten only where both of them went in one edit.
    """
    for other in others:
        if edit.start < edit.end:
            if other.start < edit.end and edit.start < other.end:
                return True
        elif other.start < edit.start < other.end:
            return True
    return False


def shown(tokens: Sequence[str]) -> str:
    """Tokens as a person writes them, roughly: for messages."""
    text = " ".join(tokens)
    text = re.sub(r" ?([.()\[\]]) ?", r"\1", text)
    text = re.sub(r" ([,:])", r"\1", text)
    text = re.sub(r"(\w) = (\S)", r"\1=\2", text)
    return text.strip()
