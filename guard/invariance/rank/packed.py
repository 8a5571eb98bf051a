"""Packed sequences under context parallelism: each sequence is rolled and rotated by itself, in its own two chunks."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.shard import Shard, global_tensor, whole
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

# Multiples of 8, so that four context-parallel ranks hold two whole chunks of every sequence.
LENGTHS = (16, 8, 24)
WIDTH = 8


def _mine(world: World) -> list[int]:
    """Global positions that this rank holds: its two chunks of each sequence, sequence after sequence."""
    start, found = 0, []
    for length in LENGTHS:
        found += [start + position for position in world.positions(length, "zigzag")]
        start += length
    return found


def packed(world: World, settings: dict[str, Any]) -> list[Shard]:
    """`kind` roll: ids one position ahead in each sequence and their sum; rope: rotated states of each sequence.

    With `expected`, what the definition gives without the tree. Every rank's part is a tensor of its own name.
    """
    bounds = torch.tensor([0, *torch.tensor(LENGTHS).cumsum(0).tolist()], dtype=torch.int32)
    form = _roll if settings["kind"] == "roll" else _rope
    return [
        whole(f"{name} of context rank {world.cp_rank}", part) for name, part in form(world, settings, bounds).items()
    ]


def _roll(world: World, settings: dict[str, Any], bounds: torch.Tensor) -> dict[str, torch.Tensor]:
    ids = torch.arange(1, sum(LENGTHS) + 1).float()
    mine = _mine(world)
    if settings.get("expected"):
        rolled = torch.cat([torch.cat([part[1:], part.new_zeros(1)]) for part in ids.split(list(LENGTHS))])
        return {"rolled": rolled[mine], "sum": rolled[mine].sum()}
    roll: Any = member("megatron.core.transformer.multi_token_prediction", "roll_tensor")
    params: Any = member("megatron.core.packed_seq_params", "PackedSeqParams")
    state: Any = member("megatron.core", "parallel_state")
    given = {"cp_group": state.get_context_parallel_group(), "packed_seq_params": _params(params, bounds)}
    if set(adapt.accepted(roll, given)) != set(given):
        raise UnavailableError("roll_tensor of this tree takes no packed sequences")
    mine_of_ids = ids[mine].unsqueeze(0)
    if "tensors" in inspect.signature(roll).parameters:
        (rolled,) = roll([mine_of_ids], shifts=-1, dims=-1, **given)
        total = rolled.sum()
    else:
        rolled, total = roll(mine_of_ids, shifts=-1, dims=-1, **given)
    return {"rolled": rolled.squeeze(0), "sum": total}


def _params(cls: Any, bounds: torch.Tensor) -> Any:
    longest = max(LENGTHS)
    fields = {"qkv_format": "thd", "cu_seqlens_q": bounds, "cu_seqlens_kv": bounds}
    return cls(**fields, max_seqlen_q=longest, max_seqlen_kv=longest)


def _rope(world: World, settings: dict[str, Any], bounds: torch.Tensor) -> dict[str, torch.Tensor]:
    states = global_tensor("packed", (sum(LENGTHS), 1, WIDTH), 1.0)
    mine = _mine(world)
    speed = 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
    if settings.get("expected"):
        place = torch.cat([torch.arange(length) for length in LENGTHS]).double()
        angle = (place.unsqueeze(1) * speed).unsqueeze(1)
        first, second = states.double().chunk(2, dim=-1)
        turned = [first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()]
        return {"rotated": torch.cat(turned, dim=-1)[mine]}
    utils = "megatron.core.models.common.embeddings.rope_utils"
    rotate: Any = member(utils, "_apply_rotary_pos_emb_thd")
    state: Any = member("megatron.core", "parallel_state")
    angles = (torch.arange(max(LENGTHS)).double().unsqueeze(1) * speed).float()
    table = torch.cat([angles, angles], dim=-1).view(-1, 1, 1, WIDTH)
    more = {"cp_group": state.get_context_parallel_group(), "max_seqlen": max(LENGTHS)}
    given = adapt.accepted(rotate, more)
    return {"rotated": rotate(states[mine].contiguous(), bounds, table, **given)}
