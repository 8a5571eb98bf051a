"""The MTP loss once more: dense, in float64, on one rank, independent of the tree's own loss code."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import gpt
from guard.invariance.rank.shard import Shard, whole
from guard.invariance.rank.world import World


def mtp_dense(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradient of the output weight from a dense float64 MTP loss on the model's own hidden states.

    The objective (Megatron-Core's documentation of `mtp_loss_scaling_factor`): factor / depths times the sum over
    depths of the mean cross-entropy of the token k + 1 ahead, over positions whose rolled mask counts. Micro-batches
    weigh alike where the loss is a mean, and by their valid tokens where it is per token.
    """
    config = gpt.configuration(world, settings)
    model = gpt.build(world, config, settings)
    weight = model.output_layer.weight.detach().double().requires_grad_()
    seen: list[torch.Tensor] = []
    model.mtp.register_forward_hook(lambda _module, _inputs, output: seen.append(output))
    batches = [gpt.share(world, settings, sequences) for sequences in world.sequences(gpt.SEQUENCES)]
    total = torch.zeros((), dtype=torch.float64, device=world.device)
    tokens_seen = sum(float(item["loss_mask"].sum()) for item in batches)
    for item in batches:
        gpt.forward(world, settings, model, item)
        states = seen.pop()
        states = torch.cat(list(states)) if isinstance(states, (list, tuple)) else states
        chunks = states.detach().double().chunk(1 + settings["mtp"], dim=0)[1:]
        labels, mask = item["labels"], item["loss_mask"].double()
        valid = float(mask.sum())
        share_of = valid / tokens_seen if settings["ptl"] else 1 / len(batches)
        for chunk in chunks:
            labels, mask = _ahead(labels), _ahead(mask)
            losses = torch.nn.functional.cross_entropy(
                (chunk @ weight.t()).flatten(0, 1), labels.t().flatten(), reduction="none"
            )
            mean = (losses * mask.t().flatten()).sum() / mask.sum().clamp(min=1)
            total = total + share_of * mean / settings["mtp"]
    total.backward()
    assert weight.grad is not None
    return [whole("grad:output_layer.weight", weight.grad)]


def _ahead(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor one position on along the sequence, with nothing after the end."""
    rolled = torch.roll(tensor, -1, dims=-1)
    rolled[..., -1] = 0
    return rolled
