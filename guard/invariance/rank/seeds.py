"""Which ranks draw the same random numbers after the tree has seeded them."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.rank.adapt import kept_random_fork
from guard.invariance.rank.shard import Shard, whole
from guard.invariance.rank.tree import member
from guard.invariance.rank.world import World

DRAWS = 16


def seeds(world: World, settings: dict[str, Any]) -> list[Shard]:
    """For each state, 1 + the first rank that draws what a rank draws, for all ranks.

    States (docstring of `model_parallel_cuda_manual_seed`): the default one is the same among the ranks of a model; the
    tensor-parallel one differs among tensor-parallel ranks and is the same over data and context parallel ones; the
    expert one differs among expert and expert-tensor ranks and is the same over expert-data ones. With `expected` that
    is what is returned.
    """
    kinds = {
        "default": (),
        "model-parallel-rng": (world.tp_rank,),
        "expert-parallel-rng": (world.ep_rank, world.etp_rank),
    }
    if settings.get("expected"):
        return [
            _first_alike(f"first:{name}", torch.tensor([float(one) for one in (0, *kind)]))
            for name, kind in kinds.items()
        ]
    random: Any = member("megatron.core.tensor_parallel", "random")
    random.model_parallel_cuda_manual_seed(1234)
    tracker = random.get_cuda_rng_tracker()
    drawn = {"default": torch.rand(DRAWS, device=world.device)}
    for name in ("model-parallel-rng", "expert-parallel-rng"):
        with kept_random_fork(tracker, name):
            drawn[name] = torch.rand(DRAWS, device=world.device)
    # What a fork has drawn must leave the default state where it was.
    after = torch.rand(DRAWS, device=world.device)
    torch.manual_seed(1234)
    straight = torch.rand(2 * DRAWS, device=world.device)[DRAWS:]
    shards = [_first_alike(f"first:{name}", tensor.cpu()) for name, tensor in drawn.items()]
    return shards if torch.equal(after.cpu(), straight.cpu()) else [*shards, whole("first:forked", after)]


def _first_alike(name: str, mine: torch.Tensor) -> Shard:
    every = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(every, mine.contiguous())
    first = [1.0 + next(other for other, tensor in enumerate(every) if torch.equal(tensor, each)) for each in every]
    return whole(name, torch.tensor(first))
