"""The gradient norm of the tree's own optimizer, over parameters that are sharded, replicated, or both."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt, experts
from guard.invariance.rank.placement import Placement, place_parameters
from guard.invariance.rank.shard import Shard, piece_of, whole
from guard.invariance.rank.step import Model, optimizer_norm, wrap
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

HEADS, WIDTH = 4, 16


def _fill(model: torch.nn.Module) -> None:
    """Set `main_grad` of every parameter to its piece of 1, 2, 3, … of norm 1, so that each weighs alike."""
    for parameter in model.parameters():
        place: Placement = parameter.placement
        shape = list(parameter.shape)
        if place.axis is not None:
            shape[place.axis] *= place.count
        full = torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)
        parameter.main_grad.copy_(piece_of(full / full.norm(), place))


def norm(world: World, settings: dict[str, Any]) -> list[Shard]:
    """The norm after `main_grad` was set to known numbers.

    Settings: `parts`: `linear` (a column-parallel weight and a replicated norm), `sink` (a learnable softmax offset,
    one number a head) or `experts` (a layer of experts with biases, which no rank cuts).
    """
    fields: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "tensor_model_parallel_size": world.cut.tp,
        "add_bias_linear": False,
        "gradient_accumulation_fusion": False,
    }
    if settings["parts"] == "experts":
        config = experts.configuration(world, bias=True)
        model = experts.ExpertModel(config, moe=experts.layer(config))
    elif settings["parts"] == "sink":
        config = adapt.config({**fields, "softmax_type": "learnable"})
        part = _sink(config)
        model = Model(config, attention=part)
    else:
        config = adapt.config(fields)
        model = Model(config, linear=_linear(config), norm=adapt.LayerNorm(config, WIDTH))
    model.to(world.device)
    place_parameters(world, model)
    wrapped = wrap(config, model)
    _fill(model)
    return [whole("norm", optimizer_norm(wrapped))]


def _linear(config: Any) -> torch.nn.Module:
    cls: Any = member("megatron.core.tensor_parallel", "ColumnParallelLinear")
    built: torch.nn.Module = cls(
        WIDTH, 2 * WIDTH, config=config, init_method=config.init_method, bias=False, gather_output=False
    )
    return built


def _sink(config: Any) -> torch.nn.Module:
    cls: Any = member("megatron.core.transformer.dot_product_attention", "DotProductAttention")
    kind: Any = member("megatron.core.transformer.enums", "AttnMaskType")
    built: torch.nn.Module = cls(config, 1, kind.causal, "self")
    if not isinstance(getattr(built, "softmax_offset", None), torch.nn.Parameter):
        raise UnavailableError("the core attention of this tree has no learnable softmax_offset")
    return built
