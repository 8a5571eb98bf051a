"""The tree's `TopKRouter` alone: gradient of its weight from one auxiliary loss."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt, batch
from guard.invariance.rank.shard import Shard, install
from guard.invariance.rank.step import LossFunction, Model, train_step
from guard.invariance.rank.tree import member
from guard.invariance.rank.world import World

SEQUENCES, LENGTH, WIDTH, EXPERTS = 4, 32, 16, 8


def configuration(world: World, settings: dict[str, Any]) -> Any:
    """A configuration whose only loss is the one under test."""
    loss = settings["loss"]
    fields: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": WIDTH,
        "num_attention_heads": 4,
        "num_moe_experts": EXPERTS,
        "moe_router_topk": settings.get("topk", 2),
        "moe_router_load_balancing_type": "none" if loss == "z_loss" else loss,
        "moe_aux_loss_coeff": 0.0 if loss == "z_loss" else 1e-2,
        "moe_z_loss_coeff": 1e-2 if loss == "z_loss" else None,
        "moe_router_dtype": "fp32",
        "calculate_per_token_loss": settings["ptl"],
        "tensor_model_parallel_size": world.cut.tp,
        "context_parallel_size": world.cut.cp,
        "expert_model_parallel_size": world.cut.ep,
        "sequence_parallel": world.cut.tp > 1,
        "add_bias_linear": False,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
    }
    return adapt.config(fields | settings.get("config", {}))


class _RouterModel(Model):
    def forward(self, hidden: torch.Tensor, padding: torch.Tensor | None) -> torch.Tensor:
        probs, _routing_map = self.router(hidden) if padding is None else self.router(hidden, padding)
        return probs


def router(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradient of the router weight.

    Settings: `loss` (aux_loss, seq_aux_loss, global_aux_loss, z_loss), `ptl` (calculate_per_token_loss), `hidden`
    (kind of hidden states), `draw` (number of the draw), `mask` (kind of mask), `callback` (3 or 2 values of the loss
    function).
    """
    cls: Any = member("megatron.core.transformer.moe.router", "TopKRouter")
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    config = configuration(world, settings)
    model = _RouterModel(config, router=cls(config, pg_collection=groups.use_mpu_process_groups()))
    model.router.set_layer_number(1)
    model.to(world.device).train()
    install(world, model)
    hidden = batch.hidden_states(settings["hidden"], SEQUENCES, LENGTH, WIDTH, settings.get("draw", 0))
    check_margin(hidden, model.router.weight, config.moe_router_topk)
    valid = batch.mask(settings["mask"], SEQUENCES, LENGTH)
    positions = world.positions(LENGTH, "contiguous")

    def share(sequences: list[int]) -> tuple[torch.Tensor, torch.Tensor | None, int]:
        mine = hidden[positions][:, sequences]
        counted = torch.ones(mine.shape[:2], dtype=torch.bool) if valid is None else valid.t()[positions][:, sequences]
        padding = None if valid is None else world.sequence_shard(~counted).contiguous().to(world.device)
        return world.sequence_shard(mine).contiguous().to(world.device), padding, int(counted.sum())

    def forward(chunk: Any, item: tuple[torch.Tensor, torch.Tensor | None, int]) -> tuple[torch.Tensor, LossFunction]:
        states, padding, tokens = item

        def loss_function(output: torch.Tensor) -> tuple[Any, ...]:
            loss = output.sum() * 0.0
            if settings.get("callback", 3) == 2:
                return loss, {}
            return loss, torch.tensor(tokens, dtype=torch.int, device=world.device), {}

        return chunk(states, padding), loss_function

    batches = [share(sequences) for sequences in world.sequences(SEQUENCES)]
    return train_step(world, config, model, batches, forward)


def check_margin(hidden: torch.Tensor, weight: torch.Tensor, topk: int) -> None:
    """Assert that the top-k choice of every token is clear, so that rounding cannot flip the routing."""
    scores = hidden.double() @ weight.detach().double().cpu().t()
    ordered = scores.sort(dim=-1, descending=True).values
    margin = (ordered[..., topk - 1] - ordered[..., topk]).min().item()
    assert margin > 1e-4, f"top-k margin {margin:.1e} is too small for a float32 run"
