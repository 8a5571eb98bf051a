"""Global batches and masks, the same in every process, and this rank's share of them."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from guard.invariance.rank.shard import global_tensor
from guard.invariance.rank.world import World


def lengths_mask(lengths: Sequence[int], length: int) -> torch.Tensor:
    """Valid positions [sequences, length]: the first `lengths[i]` of sequence i."""
    return torch.arange(length).unsqueeze(0) < torch.tensor(lengths).unsqueeze(1)


def mask(kind: str | Sequence[int], sequences: int, length: int) -> torch.Tensor | None:
    """Valid positions [sequences, length] of a named mask, or None for no mask at all.

    Kinds: `none`; `ones` (a mask that hides nothing); `equal` (every sequence hides its last quarter); `comb` (every
    fourth position hidden); `spread` (the same, shifted by sequence); `tail` (unequal padding at the end); `sft` (an
    unequal prompt is hidden, the last token counts); `last 5 18 10 13` (so many valid tokens at the end of each
    sequence); `one` (one valid token a sequence); or a list of valid lengths.
    """
    if kind == "none":
        return None
    if not isinstance(kind, str):
        return lengths_mask(kind, length)
    position = torch.arange(length).unsqueeze(0).expand(sequences, length)
    number = torch.arange(sequences).unsqueeze(1)
    if kind == "ones":
        return torch.ones(sequences, length, dtype=torch.bool)
    if kind == "equal":
        return position < length - length // 4
    if kind == "comb":
        return position % 4 != 3
    if kind.startswith("last "):
        return position >= length - torch.tensor([int(count) for count in kind.split()[1:]]).unsqueeze(1)
    if kind == "spread":
        return (position + number) % 4 != 3
    share = torch.tensor([0.9, 0.35, 0.7, 0.5])[torch.arange(sequences) % 4].unsqueeze(1)
    if kind == "tail":
        return position < (share * length).long()
    if kind == "sft":
        return position >= ((1 - share) * length).long()
    if kind == "one":
        # One lies at the start of a chunk, so that what is rolled by one leaves the context-parallel rank.
        place = torch.tensor([3, length // 4, 5 * length // 8, 5 * length // 16])[torch.arange(sequences) % 4]
        return position == place.unsqueeze(1)
    raise ValueError(f"unknown mask {kind!r}")


def hidden_states(kind: str, sequences: int, length: int, width: int, draw: int = 0) -> torch.Tensor:
    """Router inputs [length, sequences, width].

    Kinds: `distinct`; `identical` (every sequence the same); `halves` (identical, and each sequence repeats so that
    every contiguous quarter is the same); `constant` (every token the same). `draw` numbers independent draws.
    """
    name = f"hidden {draw}"
    if kind == "distinct":
        return global_tensor(name, (length, sequences, width), 1.0)
    if kind == "identical":
        return global_tensor(name, (length, 1, width), 1.0).expand(length, sequences, width).clone()
    if kind == "halves":
        part = global_tensor(name, (length // 4, 1, width), 1.0)
        return part.repeat(4, 1, 1).expand(length, sequences, width).clone()
    if kind == "constant":
        return global_tensor(name, (1, 1, width), 1.0).expand(length, sequences, width).clone()
    raise ValueError(f"unknown hidden states {kind!r}")


def pick(world: World, tensor: torch.Tensor, sequences: list[int], positions: list[int]) -> torch.Tensor:
    """Rows `sequences` and columns `positions` of a [sequences, length, …] tensor, on the rank's device."""
    return tensor[sequences][:, positions].contiguous().to(world.device)
