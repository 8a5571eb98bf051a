"""The tree's parallel linear layers and embedding alone, in the forms that the model does not use."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from guard.invariance.rank import adapt
from guard.invariance.rank.shard import Shard, global_tensor, install, whole
from guard.invariance.rank.step import LossFunction, Model, train_step
from guard.invariance.rank.tree import member
from guard.invariance.rank.world import World

SEQUENCES, LENGTH, WIDTH, VOCABULARY = 4, 8, 8, 16


def _layers(world: World, settings: dict[str, Any]) -> tuple[Any, Model]:
    parallel = world.cut.tp > 1 and settings.get("sequence_parallel", False)
    fields = {"num_layers": 1, "hidden_size": WIDTH, "num_attention_heads": 4, "calculate_per_token_loss": True}
    fields |= {"tensor_model_parallel_size": world.cut.tp, "sequence_parallel": parallel}
    config = adapt.config({**fields, "gradient_accumulation_fusion": False, "hidden_dropout": 0.0})
    layers: Any = member("megatron.core.tensor_parallel", "layers")
    whole_between = settings.get("gathered", False)
    shared = {"config": config, "init_method": config.init_method, "bias": True}
    first = layers.ColumnParallelLinear(WIDTH, 2 * WIDTH, gather_output=whole_between, **shared)
    second = layers.RowParallelLinear(
        2 * WIDTH, WIDTH, input_is_parallel=not whole_between, skip_bias_add=False, **shared
    )
    embedding = layers.VocabParallelEmbedding(
        VOCABULARY, WIDTH, init_method=config.init_method, config=config, reduce_scatter_embeddings=parallel
    )
    return config, _LinearModel(config, embedding=embedding, first=first, second=second)


class _LinearModel(Model):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states = self.embedding(ids)
        states = states if self.embedding.reduce_scatter_embeddings else states.transpose(0, 1)
        inner, _bias = self.first(states.contiguous())
        outer, _none = self.second(functional.gelu(inner))
        return outer


def _ids() -> torch.Tensor:
    """Token ids [sequences, length], among them the first and last of every shard of two and four ranks."""
    edges = torch.tensor([0, 3, 4, 7, 8, 11, 12, 15])
    return torch.stack([edges.roll(number) for number in range(SEQUENCES)])


def linear(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradients of the sum of output · weights. Settings: `sequence_parallel`, `gathered` (whole between layers)."""
    config, model = _layers(world, settings)
    model.to(world.device).train()
    install(world, model)
    weights = global_tensor("weights", (LENGTH, SEQUENCES, WIDTH), 1.0)

    def forward(chunk: Any, sequences: list[int]) -> tuple[torch.Tensor, LossFunction]:
        def loss_function(output: torch.Tensor) -> tuple[Any, ...]:
            mine = weights[:, sequences]
            mine = world.sequence_shard(mine) if config.sequence_parallel else mine
            tokens = torch.tensor(LENGTH * len(sequences), dtype=torch.int, device=world.device)
            return (output * mine.to(world.device)).sum(), tokens, {}

        return chunk(_ids()[sequences].to(world.device)), loss_function

    return train_step(world, config, model, list(world.sequences(SEQUENCES)), forward)


def linear_dense(world: World, settings: dict[str, Any]) -> list[Shard]:
    """The same in float64 with plain matrices."""
    _config, model = _layers(world, settings)
    install(world, model)
    held = {name: each.detach().double().cpu().requires_grad_() for name, each in model.named_parameters()}
    weights = global_tensor("weights", (LENGTH, SEQUENCES, WIDTH), 1.0).double()
    states = held["embedding.weight"][_ids().t()]
    inner = functional.gelu(functional.linear(states, held["first.weight"], held["first.bias"]))
    outer = functional.linear(inner, held["second.weight"], held["second.bias"])
    ((outer * weights).sum() / (LENGTH * SEQUENCES)).backward()
    return [whole(f"grad:{name}", each.grad) for name, each in held.items() if each.grad is not None]
