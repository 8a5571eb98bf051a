"""Where each parameter's piece lies in the uncut model: the harness's own knowledge, not the tree's metadata.

A tree that loses `tensor_model_parallel` or `partition_dim` of a parameter must be measured like any other, or its
fault would damage the measurement instead of showing in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch

from guard.invariance.rank.world import World

_EXPERT = re.compile(r"(local_experts\.)(\d+)(\.)")
_LAYER = re.compile(r"(decoder\.layers\.)(\d+)(\.)")
# Column-parallel layers cut the output dimension, row-parallel ones the input, the embedding the vocabulary (Shoeybi et
# al., arXiv:1909.08053). By the end of the class name, so that Transformer Engine's wrappers count as well.
_BY_CLASS = {
    "ColumnParallelLinear": {"weight": 0, "bias": 0},
    "RowParallelLinear": {"weight": 1},
    "VocabParallelEmbedding": {"weight": 0},
}
# Parameters outside linear layers that hold a number or a row for every head.
_BY_HEAD = ("softmax_offset", "conv1d.weight", "conv1d.bias", "dt_bias", "A_log")


@dataclass(frozen=True)
class Placement:
    """One parameter's place.

    Attributes:
        title: name in the uncut model (experts and layers are numbered over all ranks).
        axis: dimension it is cut along, or None for a replica.
        index, count: which of how many pieces.
        sections: global sizes along the axis that are cut one by one, for a parameter that joins several matrices.
    """

    title: str
    axis: int | None = None
    index: int = 0
    count: int = 1
    sections: tuple[int, ...] = ()


def place_parameters(world: World, module: torch.nn.Module, first_layers: int = 0, tied: bool = False) -> None:
    """Note on every parameter its `placement`.

    Args:
        first_layers: layers of the uncut model in front of this module's, on earlier pipeline stages.
        tied: the output layer holds the word embedding.
    """
    for prefix, owner in module.named_modules():
        experts = getattr(owner, "local_experts", None)
        if isinstance(experts, torch.nn.ModuleList):
            for parameter in experts.parameters():
                parameter.experts_here = len(experts)
        for name, parameter in owner.named_parameters(prefix=prefix, recurse=False):
            parameter.placement = _placement(world, name, owner, parameter, first_layers, tied)


def _placement(
    world: World, name: str, owner: torch.nn.Module, parameter: Any, first_layers: int, tied: bool
) -> Placement:
    title = _LAYER.sub(lambda match: f"{match[1]}{int(match[2]) + first_layers}{match[3]}", name)
    size, index = world.cut.tp, world.tp_rank
    if match := _EXPERT.search(title):
        size, index = world.etp, world.etp_rank
        number = world.ep_rank * parameter.experts_here + int(match.group(2))
        title = title[: match.start(2)] + str(number) + title[match.end(2) :]
    if tied and title == "output_layer.weight":
        title = "embedding.word_embeddings.weight"
    axis = _axis(name, owner)
    if axis is None or size == 1:
        return Placement(title)
    return Placement(title, axis, index, size, getattr(parameter, "sections", ()) or _halves(name, owner, size))


def _axis(name: str, owner: torch.nn.Module) -> int | None:
    leaf = name.rsplit(".", 1)[-1]
    for base in type(owner).__mro__:
        for ending, axes in _BY_CLASS.items():
            if base.__name__.endswith(ending):
                return axes.get(leaf)
    return 0 if name.endswith(_BY_HEAD) else None


def _halves(name: str, owner: Any, size: int) -> tuple[int, ...]:
    """A gated unit's first layer joins the gate and the value: each is cut by itself."""
    if "linear_fc1" not in name or not getattr(getattr(owner, "config", None), "gated_linear_unit", False):
        return ()
    half = owner.weight.shape[0] * size // 2
    return (half, half)
