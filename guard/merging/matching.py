"""Which statement of one version is which of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from guard.judge.tokens import most_overlap, overlap
from guard.merging.syntax import Node

_ALIKE = 0.6  # Dice's coefficient of the tokens, above which a statement counts as changed and not as another one
_MOST_PAIRS = 2500


def identities(*versions: Sequence[Node]) -> list[list[int]]:
    """A number for what each statement says: equal where the syntax is. Syntax is only compared where texts differ."""
    everywhere = set.intersection(*({node.text for node in nodes} for nodes in versions))
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for nodes in versions:
        ids = []
        for node in nodes:
            # A definition is known by its name, so that large ones need not be compared here.
            whole = node.text in everywhere or (node.key is not None and node.key[0] == "definition")
            name = ("text", node.text) if whole else ("code", node.code)
            ids.append(numbers.setdefault(name, len(numbers)))
        found.append(ids)
    return found


def match(base: Sequence[Node], side: Sequence[Node], base_ids: Sequence[int], side_ids: Sequence[int]) -> list[int]:
    """The partner of each statement of the base in the side, in order: equal ones, else by key, else the most alike.

    Returns:
        An index for each statement of the base; -1 where there is none.
    """
    partners = [-1] * len(base)
    position = other = 0
    for block in SequenceMatcher(None, base_ids, side_ids, autojunk=False).get_matching_blocks():
        _fill(base, side, (position, block.a), (other, block.b), partners)
        for step in range(block.size):
            partners[block.a + step] = block.b + step
        position, other = block.a + block.size, block.b + block.size
    return partners


def _fill(
    base: Sequence[Node], side: Sequence[Node], mine: tuple[int, int], yours: tuple[int, int], partners: list[int]
) -> None:
    """Pair what stands between two equal statements."""
    if mine[0] == mine[1] or yours[0] == yours[1]:
        return
    keys = [[nodes[k].key for k in range(*span)] for nodes, span in ((base, mine), (side, yours))]
    counts = [Counter(key for key in found if key is not None) for found in keys]
    anchors: list[tuple[int, int]] = []
    floor = yours[0]
    for index in range(*mine):
        key = base[index].key
        if key is None or counts[0][key] != 1 or counts[1].get(key) != 1:
            continue
        partner = yours[0] + keys[1].index(key)
        if partner >= floor:
            anchors.append((index, partner))
            floor = partner + 1
    position, other = mine[0], yours[0]
    for index, partner in [*anchors, (mine[1], yours[1])]:
        _alike(base, side, (position, index), (other, partner), partners)
        if index < mine[1]:
            partners[index] = partner
        position, other = index + 1, partner + 1


def _alike(
    base: Sequence[Node], side: Sequence[Node], mine: tuple[int, int], yours: tuple[int, int], partners: list[int]
) -> None:
    """Pair statements of one kind that share most of their tokens, best first, never across each other."""
    if (mine[1] - mine[0]) * (yours[1] - yours[0]) > _MOST_PAIRS:
        return
    found = []
    for one in range(*mine):
        for other in range(*yours):
            first, second = base[one], side[other]
            if type(first.only) is not type(second.only) or first.only is None:
                continue
            if first.key and second.key and first.key != second.key and first.key[0] in _NAMED:
                continue
            if most_overlap(first.bag, second.bag) >= _ALIKE:
                found.append((-overlap(first.bag, second.bag), one, other))
    pairs: list[tuple[int, int]] = []
    for score, one, other in sorted(found):
        if -score < _ALIKE:
            break
        if all((one < a and other < b) or (one > a and other > b) for a, b in pairs):
            pairs.append((one, other))
    for one, other in pairs:
        partners[one] = other


# Statements of these kinds are told apart by their names, however alike they look.
_NAMED = frozenset(["definition", "from", "import", "registration"])
