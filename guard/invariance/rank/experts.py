"""The tree's `MoELayer` with sequential experts: gradients of every parameter, and the optimizer's norm of them."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.router import check_margin
from guard.invariance.rank.shard import Shard, global_tensor, install, whole
from guard.invariance.rank.step import LossFunction, Model, optimizer_norm, train_step
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

SEQUENCES, LENGTH, WIDTH, EXPERTS = 4, 16, 16, 4


def configuration(world: World, bias: bool = False) -> Any:
    """A configuration of one layer of experts without auxiliary losses."""
    cut = world.cut
    fields: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": WIDTH,
        "num_attention_heads": 4,
        "ffn_hidden_size": 2 * WIDTH,
        "moe_ffn_hidden_size": 2 * WIDTH,
        "num_moe_experts": EXPERTS,
        "moe_router_topk": 2,
        "moe_router_dtype": "fp32",
        "moe_router_load_balancing_type": "none",
        "moe_aux_loss_coeff": 0.0,
        "moe_token_dispatcher_type": "allgather",
        "calculate_per_token_loss": True,
        "tensor_model_parallel_size": cut.tp,
        "expert_model_parallel_size": cut.ep,
        "expert_tensor_parallel_size": world.etp,
        "sequence_parallel": cut.tp > 1,
        "add_bias_linear": bias,
        "bias_activation_fusion": False,
        "gradient_accumulation_fusion": False,
        "hidden_dropout": 0.0,
    }
    return adapt.config(fields)


def layer(config: Any) -> torch.nn.Module:
    """The layer from the tree's own specification, whatever form that has."""
    factory: Any = member("megatron.core.models.gpt.moe_module_specs", "get_moe_module_spec")
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    spec = factory(use_te=False, num_experts=EXPERTS, moe_grouped_gemm=False)
    given = {"config": config, "layer_number": 1, "pg_collection": groups.use_mpu_process_groups()}
    if hasattr(spec, "module"):
        build: Any = member("megatron.core.transformer.spec_utils", "build_module")
        built: torch.nn.Module = build(spec, **given)
        return built
    if not callable(spec):
        raise UnavailableError(f"get_moe_module_spec of this tree gives a {type(spec).__name__}")
    return spec(**given)


class ExpertModel(Model):
    """The layer in the form that the schedule asks for."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Hidden states [length, sequences, width] through the layer."""
        output, _bias = self.moe(hidden)
        return output


def experts(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradients of the sum of output · weights over all tokens. Settings: `norm` (the optimizer's), `draw`."""
    config = configuration(world)
    model = ExpertModel(config, moe=layer(config))
    model.to(world.device).train()
    install(world, model)
    hidden = global_tensor(f"hidden {settings.get('draw', 0)}", (LENGTH, SEQUENCES, WIDTH), 1.0)
    weights = global_tensor(f"weights {settings.get('draw', 0)}", (LENGTH, SEQUENCES, WIDTH), 1.0)
    check_margin(hidden, model.moe.router.weight, config.moe_router_topk)

    def share(sequences: list[int]) -> tuple[torch.Tensor, torch.Tensor, int]:
        parts = (world.sequence_shard(tensor[:, sequences]).contiguous() for tensor in (hidden, weights))
        mine, scale = (part.to(world.device) for part in parts)
        return mine, scale, LENGTH * len(sequences)

    def forward(chunk: Any, item: tuple[torch.Tensor, torch.Tensor, int]) -> tuple[torch.Tensor, LossFunction]:
        mine, scale, tokens = item

        def loss_function(output: torch.Tensor) -> tuple[Any, ...]:
            return (output * scale).sum(), torch.tensor(tokens, dtype=torch.int, device=world.device), {}

        return chunk(mine), loss_function

    wrapped: list[Any] = []
    shards = train_step(
        world, config, model, [share(part) for part in world.sequences(SEQUENCES)], forward, keep=wrapped
    )
    if settings.get("norm"):
        return [whole("norm", optimizer_norm(wrapped[0]))]
    return shards
