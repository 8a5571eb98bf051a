"""Pieces of global tensors: put into parameters before a step, taken out of gradients after it, joined again."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from typing import Any

import torch

from guard.invariance.rank.world import World

_LOCAL_EXPERT = re.compile(r"(local_experts\.)(\d+)(\.)")


@dataclass(frozen=True)
class Shard:
    """One rank's piece of a named global tensor.

    Attributes:
        name: global name (experts are numbered over all ranks).
        tensor: the piece, on the CPU.
        axis: dimension it was cut along, or None for a replica.
        index, count: which of how many pieces.
        sections: global sizes along the axis that are cut one by one, for a parameter that joins several matrices.
    """

    name: str
    tensor: torch.Tensor
    axis: int | None
    index: int
    count: int
    sections: tuple[int, ...] = ()


def whole(name: str, tensor: torch.Tensor) -> Shard:
    """A piece that is the whole tensor, to be equal on every rank."""
    return Shard(name, tensor.detach().double().cpu(), None, 0, 1)


def layout(world: World, name: str, parameter: Any) -> tuple[str, int | None, int, int]:
    """Global name, cut dimension, index and count of a parameter on this rank."""
    expert = "local_experts." in name
    size, index = (world.etp, world.etp_rank) if expert else (world.cut.tp, world.tp_rank)
    if expert:
        match = _LOCAL_EXPERT.search(name)
        assert match is not None, name
        first = world.ep_rank * parameter.experts_here
        name = name[: match.start(2)] + str(first + int(match.group(2))) + name[match.end(2) :]
    axis = getattr(parameter, "partition_dim", -1)
    sharded = getattr(parameter, "tensor_model_parallel", False) and axis >= 0 and size > 1
    return (name, axis, index, size) if sharded else (name, None, 0, 1)


def number_experts(module: torch.nn.Module) -> None:
    """Note on every expert parameter how many experts its rank holds."""
    for part in module.modules():
        experts = getattr(part, "local_experts", None)
        if isinstance(experts, torch.nn.ModuleList):
            for parameter in experts.parameters():
                parameter.experts_here = len(experts)


def global_tensor(name: str, shape: torch.Size | tuple[int, ...], scale: float) -> torch.Tensor:
    """The same normal draw on every rank and in every process for this name; float32 on the CPU."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64).mul_(scale).float()


def install(world: World, module: torch.nn.Module, scale: float = 0.3) -> None:
    """Give every parameter its piece of a global draw: matrices normal with `scale`, norms near 1, biases small."""
    number_experts(module)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            title, axis, index, count = layout(world, name, parameter)
            shape = list(parameter.shape)
            if axis is not None:
                shape[axis] *= count
            full = global_tensor(title, tuple(shape), scale if parameter.dim() > 1 else 0.1)
            if parameter.dim() == 1 and "norm" in title and title.endswith("weight"):
                full += 1.0
            piece = full if axis is None else take(full, axis, index, count, getattr(parameter, "sections", ()))
            parameter.copy_(piece.to(parameter.device, parameter.dtype))


def take(full: torch.Tensor, axis: int, index: int, count: int, sections: tuple[int, ...] = ()) -> torch.Tensor:
    """LostEdit `index` of `count` along an axis; of each section where there are some."""
    parts = full.split(list(sections), dim=axis) if sections else (full,)
    return torch.cat([part.chunk(count, dim=axis)[index] for part in parts], dim=axis)


def put_together(pieces: list[torch.Tensor], axis: int, sections: tuple[int, ...] = ()) -> torch.Tensor:
    """The inverse of `take` for all pieces in order."""
    if not sections:
        return torch.cat(pieces, dim=axis)
    sizes = [section // len(pieces) for section in sections]
    columns = zip(*(piece.split(sizes, dim=axis) for piece in pieces), strict=True)
    return torch.cat([torch.cat(column, dim=axis) for column in columns], dim=axis)


def gradients(world: World, module: torch.nn.Module) -> list[Shard]:
    """This rank's pieces of `main_grad` of every trained parameter, named `grad:<parameter>`."""
    shards = []
    for name, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        gradient = getattr(parameter, "main_grad", None)
        gradient = parameter.grad if gradient is None else gradient
        if gradient is not None:
            title, axis, index, count = layout(world, name.removeprefix("module."), parameter)
            value, sections = gradient.detach().double().cpu(), getattr(parameter, "sections", ())
            shards.append(Shard(f"grad:{title}", value, axis, index, count, sections if count > 1 else ()))
    return shards


def join(per_rank: list[list[Shard]]) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    """Join the pieces of all ranks.

    Returns:
        The global tensors by name, and for each name how far its replicas are apart: max|a - b| / max|a|.
    """
    pieces: dict[str, dict[int, torch.Tensor]] = {}
    cuts: dict[str, Shard] = {}
    apart: dict[str, float] = {}
    for shards in per_rank:
        for shard in shards:
            cuts[shard.name] = shard
            known = pieces.setdefault(shard.name, {})
            if shard.index in known:
                first = known[shard.index]
                size = first.abs().max().item() if first.numel() else 0.0
                gap = (first - shard.tensor).abs().max().item() if first.numel() else 0.0
                if math.isnan(gap):
                    apart[shard.name] = float("inf")
                elif gap > 0.0:
                    apart[shard.name] = max(apart.get(shard.name, 0.0), gap / size if size else float("inf"))
            else:
                known[shard.index] = shard.tensor
    joined = {}
    for name, parts in pieces.items():
        cut = cuts[name]
        ordered = [parts[index] for index in sorted(parts)]
        joined[name] = ordered[0] if cut.axis is None else put_together(ordered, cut.axis, cut.sections)
    return joined, apart
