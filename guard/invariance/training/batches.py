"""Global batches: cut into samples and put together again, and one with unequal lengths to try a step on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from guard.invariance.case import Cut

IGNORED = -100  # torch.nn.functional.cross_entropy leaves labels of this value out (`ignore_index`)

Batch = Mapping[str, torch.Tensor] | Sequence[Any]
Collate = Callable[[Sequence[Any]], Any]


class CutError(ValueError):
    """The batch cannot be cut as asked."""


def padded_batch(
    lengths: Sequence[int], *, length: int | None = None, vocabulary: int = 64, padding: int = 0, seed: int = 0
) -> dict[str, torch.Tensor]:
    """A batch of random token sequences of unequal lengths, padded on the right.

    Arguments:
        lengths: valid tokens of each sequence; unequal ones are what tells a mean of means from a mean over tokens.
        length: length L of the padded sequences; the longest of `lengths` by default.
        vocabulary: ids run from 1 to `vocabulary - 1`.
        padding: id of a padded position.

    Returns:
        `input_ids`, `attention_mask` and `labels`, each int64 [len(lengths), L]. `labels` are the ids, unshifted, with
        -100 where a position is padding: as models of Hugging Face take them.

    Raises:
        CutError: no sequence, one without a token, or one longer than `length`.
    """
    total = max(lengths, default=0) if length is None else length
    if not lengths or min(lengths) < 1 or max(lengths) > total:
        raise CutError(f"lengths must be 1..{total} and at least one, got {list(lengths)}")
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, vocabulary, (len(lengths), total), generator=generator)
    mask = (torch.arange(total)[None, :] < torch.tensor(list(lengths))[:, None]).long()
    return {
        "input_ids": torch.where(mask.bool(), ids, padding),
        "attention_mask": mask,
        "labels": torch.where(mask.bool(), ids, IGNORED),
    }


def size(batch: Batch) -> int:
    """Samples in a batch: the first dimension of its tensors, which must agree, or the length of a sequence.

    Raises:
        CutError: tensors of several first dimensions, or nothing at all.
    """
    if not isinstance(batch, Mapping):
        count = len(batch)
    else:
        counts = {name: len(tensor) for name, tensor in batch.items()}
        if len(set(counts.values())) > 1:
            raise CutError(f"the tensors of the batch differ in their first dimension: {counts}")
        count = next(iter(counts.values()), 0)
    if not count:
        raise CutError("the batch holds no sample")
    return count


def choose(batch: Batch, indices: Sequence[int], collate: Collate | None) -> Any:
    """The samples at `indices` as one micro-batch: rows of the tensors, or what `collate` makes of the samples."""
    if isinstance(batch, Mapping):
        rows = {name: tensor[list(indices)] for name, tensor in batch.items()}
        return collate([{name: t[i] for name, t in rows.items()} for i in range(len(indices))]) if collate else rows
    samples = [batch[i] for i in indices]
    return collate(samples) if collate else samples


def accumulation(cut: Cut, total: int) -> int:
    """Micro-batches that each data-parallel rank runs before the optimizer steps.

    Raises:
        CutError: a size other than DP and MBS is cut, or the batch does not divide.
    """
    if (cut.cp, cut.tp, cut.ep) != (1, 1, 1):
        raise CutError(f"a step of one's own is cut over DP and micro-batches only, not {cut.label()}")
    if cut.dp < 1 or cut.mbs < 1 or total % (cut.dp * cut.mbs):
        raise CutError(f"{total} samples do not divide into {cut.label()}")
    return total // (cut.dp * cut.mbs)


def indices_of(cut: Cut, total: int, rank: int) -> list[list[int]]:
    """Sample indices of each micro-batch of one rank: ranks hold contiguous shares, in order."""
    share = total // cut.dp
    return [list(range(start, start + cut.mbs)) for start in range(rank * share, (rank + 1) * share, cut.mbs)]


def default_cuts(total: int) -> tuple[Cut, ...]:
    """Every cut over accumulation, over DP, and over both, that the batch divides into with at most two ranks."""
    wanted = [Cut(mbs=1), Cut(mbs=2), Cut(dp=2, mbs=1), Cut(dp=2, mbs=2), Cut(dp=2, mbs=total // 2)]
    return tuple(dict.fromkeys(c for c in wanted if c.mbs and total % (c.dp * c.mbs) == 0 and c != Cut(mbs=total)))
