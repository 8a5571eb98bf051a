"""Which shard of the padding mask the tree's `GPTModel` hands to a rank whose tensor-parallel group was given to it."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.rank import gpt
from guard.invariance.rank.shard import Shard, global_tensor
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

LENGTH = 16


def padding(world: World, settings: dict[str, Any]) -> list[Shard]:
    """The mask shard after `_preprocess`, on tensor-parallel groups other than the global ones.

    The global groups join neighbouring ranks, the given ones ranks that are two apart. Setting `expected` gives the
    shard of the given group instead of the tree's.
    """
    number = dist.get_rank()
    given: Any = None
    for members in ([0, 2], [1, 3]):
        group = dist.new_group(members)
        if number in members:
            given = group
    place = dist.get_rank(given)
    mask = global_tensor("padding", (gpt.SEQUENCES, LENGTH), 1.0) > 0
    if settings.get("expected"):
        return [Shard("mask", mask.chunk(2, dim=1)[place].double(), 1, place, 2)]
    collection: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    groups = collection.use_mpu_process_groups()
    groups.tp = given
    configured = {"length": LENGTH, "ptl": True, "mask": "none", "experts": 4}
    config = gpt.configuration(world, configured)
    model = gpt.build(world, config, configured, groups)
    if not hasattr(model, "_preprocess"):
        raise UnavailableError("GPTModel of this tree has no _preprocess")
    text = gpt.tokens(LENGTH)[:, :-1].to(world.device)
    positions = torch.arange(LENGTH, device=world.device).expand_as(text)
    prepared = model._preprocess(input_ids=text, position_ids=positions, padding_mask=mask.to(world.device))
    masks = [part for part in prepared if isinstance(part, torch.Tensor) and part.dtype == torch.bool]
    if not masks:
        raise UnavailableError("_preprocess of this tree returns no padding mask")
    return [Shard("mask", masks[0].double().cpu(), 1, place, 2)]
