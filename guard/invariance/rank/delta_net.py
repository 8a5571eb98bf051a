"""The tree's gated delta net: gradients under tensor parallelism, with the torch kernels."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.shard import Shard, global_tensor, install
from guard.invariance.rank.step import LossFunction, Model, train_step
from guard.invariance.rank.tree import UnavailableError, member, module
from guard.invariance.rank.world import World

SEQUENCES, LENGTH, WIDTH, HEADS, HEAD_WIDTH = 2, 64, 16, 4, 8


def _with_torch_kernels() -> Any:
    """The module of the layer, told that its kernels are there; deterministic mode then takes torch's own."""
    package: Any = module("megatron.core.ssm.gated_delta_net")
    parts = [package, *(getattr(package, name) for name in ("common", "gdn") if hasattr(package, name))]
    for part in parts:
        if hasattr(part, "HAVE_FLA"):
            part.HAVE_FLA = True
            part.l2norm = lambda tensor, dim=-1, eps=1e-6: torch.nn.functional.normalize(tensor, dim=dim, eps=eps)
    if not hasattr(package, "GatedDeltaNet"):
        raise UnavailableError("the tree has no GatedDeltaNet")
    return package


def configuration(world: World, settings: dict[str, Any]) -> Any:
    """A configuration of one layer of linear attention."""
    fields: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "tensor_model_parallel_size": world.cut.tp,
        "sequence_parallel": world.cut.tp > 1 and settings["sequence_parallel"],
        "calculate_per_token_loss": True,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": HEAD_WIDTH,
        "linear_value_head_dim": HEAD_WIDTH,
        "linear_num_key_heads": HEADS,
        "linear_num_value_heads": HEADS,
        "deterministic_mode": True,
        "activation_func": torch.nn.functional.silu,
        "add_bias_linear": False,
        "gradient_accumulation_fusion": False,
        "hidden_dropout": 0.0,
        "attention_dropout": 0.0,
    }
    return adapt.config(fields)


def layer(config: Any) -> Any:
    """The layer with plain linear layers and norm."""
    package = _with_torch_kernels()
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    column: Any = member("megatron.core.tensor_parallel", "ColumnParallelLinear")
    row: Any = member("megatron.core.tensor_parallel", "RowParallelLinear")
    built = package.GatedDeltaNet(
        config,
        package.GatedDeltaNetSubmodules(in_proj=column, out_norm=adapt.LayerNorm, out_proj=row),
        layer_number=1,
        pg_collection=groups.use_mpu_process_groups(),
    )
    # Each rank holds its heads of every section, not a stretch of the whole: query, key, value, gate, beta, alpha.
    size = HEADS * HEAD_WIDTH
    built.in_proj.weight.sections = (size, size, size, size, HEADS, HEADS)
    built.conv1d.weight.sections = (size, size, size)
    return built


class _DeltaModel(Model):
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        output, _bias = self.attention(hidden, None)
        return output


def delta_net(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradients of the sum of output · weights. Settings: `sequence_parallel`, `draw`."""
    config = configuration(world, settings)
    model = _DeltaModel(config, attention=layer(config))
    model.to(world.device).train()
    install(world, model)
    hidden = global_tensor(f"hidden {settings.get('draw', 0)}", (LENGTH, SEQUENCES, WIDTH), 1.0)
    weights = global_tensor(f"weights {settings.get('draw', 0)}", (LENGTH, SEQUENCES, WIDTH), 1.0)

    def cut(tensor: torch.Tensor, sequences: list[int]) -> torch.Tensor:
        mine = tensor[:, sequences]
        return (world.sequence_shard(mine) if config.sequence_parallel else mine).contiguous().to(world.device)

    def forward(chunk: Any, sequences: list[int]) -> tuple[torch.Tensor, LossFunction]:
        def loss_function(output: torch.Tensor) -> tuple[Any, ...]:
            tokens = torch.tensor(LENGTH * len(sequences), dtype=torch.int, device=world.device)
            return (output * cut(weights, sequences)).sum(), tokens, {}

        return chunk(cut(hidden, sequences)), loss_function

    return train_step(world, config, model, list(world.sequences(SEQUENCES)), forward)
