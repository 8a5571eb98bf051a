"""The gradient norm of the tree's own optimizer, over parameters that are sharded, replicated, or both."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.placement import Placement, place_parameters
from guard.invariance.rank.shard import Shard, piece_of, whole
from guard.invariance.rank.step import Model, wrap
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

HEADS, WIDTH = 4, 16


def optimizer_norm(model: Any) -> torch.Tensor:
    """`get_grad_norm` of the tree's optimizer for a wrapped model whose `main_grad` is final."""
    factory: Any = member("megatron.core.optimizer", "get_megatron_optimizer")
    settings: Any = member("megatron.core.optimizer", "OptimizerConfig")
    chosen = settings(**adapt.accepted(settings, {"optimizer": "sgd", "lr": 0.1, "clip_grad": 1.0}))
    optimizer = factory(chosen, [model], **adapt.accepted(factory, {"use_gloo_process_groups": False}))
    for part in getattr(optimizer, "chained_optimizers", [optimizer]):
        for parameter in part.get_parameters():
            parameter.grad = parameter.main_grad
    return torch.as_tensor(float(optimizer.get_grad_norm()), dtype=torch.float64)


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

    Settings: `parts`: `linear` (a column-parallel weight and a replicated norm) or `sink` (a learnable softmax offset,
    one number a head).
    """
    fields: dict[str, Any] = {
        "num_layers": 1,
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "tensor_model_parallel_size": world.cut.tp,
        "add_bias_linear": False,
        "gradient_accumulation_fusion": False,
    }
    if settings["parts"] == "sink":
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
