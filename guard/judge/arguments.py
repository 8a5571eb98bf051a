"""In which argument of which call a token of a statement stands."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Slot = tuple[tuple[str, str], ...]  # brackets from the outside in: (what stands before one, which argument in it)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NAME = re.compile(r"[A-Za-z_]\w*$")


@dataclass(slots=True)
class _Bracket:
    before: str
    position: int = 0
    keyword: str = ""


@functools.lru_cache(maxsize=20_000)
def slots(tokens: tuple[str, ...]) -> tuple[Slot, ...]:
    """The argument that each token stands in; `()` outside of every bracket.

    An argument is named by its keyword, or by its position and how many positional ones there are.
    """
    stack: list[_Bracket] = []
    paths: list[list[tuple[_Bracket, str]]] = []
    for index, token in enumerate(tokens):
        if token in _CLOSING and stack:
            stack.pop()
        elif token == "," and stack:
            stack[-1].position += not stack[-1].keyword
            stack[-1].keyword = ""
        elif _names_argument(tokens, index) and stack:
            stack[-1].keyword = token
        paths.append([(bracket, bracket.keyword or str(bracket.position)) for bracket in stack])
        if token in _OPENING:
            stack.append(_Bracket(tokens[index - 1] if index else ""))
    return tuple(
        tuple(
            (bracket.before, which if not which.isdigit() else f"{which} of {bracket.position}")
            for bracket, which in path
        )
        for path in paths
    )


def misplaced(base: tuple[str, ...], side: tuple[str, ...], merged: tuple[str, ...], index: int) -> bool:
    """Whether token `index` that a side put into an argument is not in that argument of merged, which merged has.

    Arguments that merged has in another form (another call around them, other positions, another operand) are not
    looked into: nothing is said of those.
    """
    slot = slots(side)[index]
    wanted, had, have = (_inside(tokens, slot) for tokens in (side, base, merged))
    if not slot or have is None or wanted is None:
        return False
    token = side[index]
    before = had or Counter[str]()
    untouched = not (before & wanted) - have  # the other side took nothing out of the argument that the side left in
    if slot[-1][1][:1].isdigit() and not (before & wanted and untouched):
        return False
    return have[token] < wanted[token] - (0 if untouched else before[token])


def _inside(tokens: tuple[str, ...], slot: Slot) -> Counter[str] | None:
    """The tokens of an argument, those of calls inside it included; None where there is no such argument."""
    found = [t for t, where in zip(tokens, slots(tokens), strict=True) if where[: len(slot)] == slot]
    return Counter(found) if found else None


def _names_argument(tokens: Sequence[str], index: int) -> bool:
    return (
        index > 0
        and index + 1 < len(tokens)
        and tokens[index + 1] == "="
        and tokens[index - 1] in ("(", ",")
        and bool(_NAME.match(tokens[index]))
    )
