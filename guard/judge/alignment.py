"""Which elements of one sequence are which elements of another: patience first, longest blocks between the anchors."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

# Between anchors the block search is quadratic at worst; beyond this product only the anchors count.
LARGEST_PRODUCT = 4_000_000


def align(first: Sequence[str], second: Sequence[str]) -> list[int]:
    """For each element of `first`, the index of its partner in `second`, or -1.

    Partners are equal and in the same order. Method: common ends, then elements that are unique in both
    (patience diff, Bram Cohen), then longest common blocks (Ratcliff and Obershelp) inside what is left.
    """
    partners = [-1] * len(first)
    _fill(first, second, 0, len(first), 0, len(second), partners)
    return partners


def inverse(partners: Sequence[int], length: int) -> list[int]:
    """The alignment seen from the other sequence, which has `length` elements."""
    back = [-1] * length
    for index, partner in enumerate(partners):
        if partner >= 0:
            back[partner] = index
    return back


def hunks(partners: Sequence[int], length: int) -> list[tuple[int, int, int, int]]:
    """Runs without partners: (start, end) in the first sequence and (start, end) in the second, ends exclusive.

    Arguments:
        length: number of elements of the second sequence.
    """
    found, i, j = [], 0, 0
    for index in [*range(len(partners)), len(partners)]:
        partner = length if index == len(partners) else partners[index]
        if partner < 0:
            continue
        if index > i or partner > j:
            found.append((i, index, j, partner))
        i, j = index + 1, partner + 1
    return found


def _fill(
    first: Sequence[str], second: Sequence[str], lo: int, hi: int, lo2: int, hi2: int, partners: list[int]
) -> None:
    while lo < hi and lo2 < hi2 and first[lo] == second[lo2]:
        partners[lo] = lo2
        lo, lo2 = lo + 1, lo2 + 1
    while lo < hi and lo2 < hi2 and first[hi - 1] == second[hi2 - 1]:
        hi, hi2 = hi - 1, hi2 - 1
        partners[hi] = hi2
    if lo == hi or lo2 == hi2:
        return
    anchors = _anchors(first, second, lo, hi, lo2, hi2)
    if anchors:
        for index, partner in [*anchors, (hi, hi2)]:
            _fill(first, second, lo, index, lo2, partner, partners)
            if index < hi:
                partners[index] = partner
            lo, lo2 = index + 1, partner + 1
    elif (hi - lo) * (hi2 - lo2) <= LARGEST_PRODUCT:
        matcher = SequenceMatcher(None, first[lo:hi], second[lo2:hi2], autojunk=False)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                partners[lo + block.a + step] = lo2 + block.b + step


def _anchors(
    first: Sequence[str], second: Sequence[str], lo: int, hi: int, lo2: int, hi2: int
) -> list[tuple[int, int]]:
    """Elements that stand once in both parts, as the longest chain in the same order."""
    once = Counter(first[lo:hi])
    once_there = Counter(second[lo2:hi2])
    place = {second[j]: j for j in range(lo2, hi2) if once_there[second[j]] == 1}
    pairs = [(i, place[first[i]]) for i in range(lo, hi) if once[first[i]] == 1 and first[i] in place]
    tops: list[int] = []
    chain: list[int] = []
    before: list[int] = [-1] * len(pairs)
    for number, (_, j) in enumerate(pairs):
        position = bisect_left(tops, j)
        before[number] = chain[position - 1] if position else -1
        if position == len(tops):
            tops.append(j)
            chain.append(number)
        else:
            tops[position] = j
            chain[position] = number
    found, number = [], chain[-1] if chain else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
