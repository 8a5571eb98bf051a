"""The proof by counting: a joined text has what both sides put in and has not what they took out, token by token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from guard.judge.tokens import edits


def unaccounted(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], joined: Sequence[str]
) -> tuple[str, ...]:
    """The tokens whose count in the joined text is not explained by what the sides did.

    Each token's count must differ from the base's by the sum of both sides' differences. Where both sides put in (or
    took out) the same token, that may be one change made twice, which stands once.

    Arguments:
        base, ours, theirs, joined: canonical tokens (names, numbers, operators; brackets and commas do not count).
    """
    counts = [Counter(tokens) for tokens in (base, ours, theirs, joined)]
    put_in, taken_out = [], []
    for side in (ours, theirs):
        added, removed = _turnover(base, side)
        put_in.append(added)
        taken_out.append(removed)
    wrong = []
    for token in set().union(*counts):
        before, mine, yours, now = (count[token] for count in counts)
        wanted = mine + yours - before
        least = wanted - min(put_in[0][token], put_in[1][token])
        most = wanted + min(taken_out[0][token], taken_out[1][token])
        if not least <= now <= most and token not in _SILENT:
            wrong.append(token)
    return tuple(sorted(wrong))


_SILENT = frozenset(["(", ")", "[", "]", "{", "}", ",", ":", "pass"])


def _turnover(base: Sequence[str], side: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    added: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for edit in edits(base, side):
        removed.update(base[edit.start : edit.end])
        added.update(side[edit.new_start : edit.new_end])
    return added, removed
