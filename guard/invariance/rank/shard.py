"""Pieces of global tensors: put into parameters before a step, taken out of gradients after it, joined again."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import torch

from guard.invariance.rank.placement import Placement, place_parameters
from guard.invariance.rank.world import World


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


def global_tensor(name: str, shape: torch.Size | tuple[int, ...], scale: float) -> torch.Tensor:
    """The same normal draw on every rank and in every process for this name; float32 on the CPU."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64).mul_(scale).float()


def install(
    world: World, module: torch.nn.Module, scale: float = 0.3, first_layers: int = 0, tied: bool = False
) -> None:
    """Give every parameter its piece of a global draw: matrices normal with `scale`, norms near 1, biases small.

    `first_layers` and `tied` as in `place_parameters`.
    """
    place_parameters(world, module, first_layers, tied)
    with torch.no_grad():
        for parameter in module.parameters():
            place: Placement = parameter.placement
            title = place.title
            shape = list(parameter.shape)
            if place.axis is not None:
                shape[place.axis] *= place.count
            full = global_tensor(title, tuple(shape), scale if parameter.dim() > 1 else 0.1)
            if parameter.dim() == 1 and "norm" in title and title.endswith("weight"):
                full += 1.0
            parameter.copy_(piece_of(full, place).to(parameter.device, parameter.dtype))


def piece_of(full: torch.Tensor, place: Placement) -> torch.Tensor:
    """The piece of a global tensor that lies at a place."""
    return full if place.axis is None else take(full, place.axis, place.index, place.count, place.sections)


def take(full: torch.Tensor, axis: int, index: int, count: int, sections: tuple[int, ...] = ()) -> torch.Tensor:
    """Piece `index` of `count` along an axis; of each section where there are some."""
    parts = full.split(list(sections), dim=axis) if sections else (full,)
    return torch.cat([part.chunk(count, dim=axis)[index] for part in parts], dim=axis)


def put_together(pieces: list[torch.Tensor], axis: int, sections: tuple[int, ...] = ()) -> torch.Tensor:
    """The inverse of `take` for all pieces in order."""
    if not sections:
        return torch.cat(pieces, dim=axis)
    sizes = [section // len(pieces) for section in sections]
    columns = zip(*(piece.split(sizes, dim=axis) for piece in pieces), strict=True)
    return torch.cat([torch.cat(column, dim=axis) for column in columns], dim=axis)


def gradients(module: torch.nn.Module) -> list[Shard]:
    """This rank's pieces of `main_grad` of every trained parameter, named `grad:<parameter>`."""
    shards = []
    for parameter in module.parameters():
        gradient = getattr(parameter, "main_grad", None)
        gradient = parameter.grad if gradient is None else gradient
        if parameter.requires_grad and gradient is not None:
            shards.append(shard_of("grad", parameter.placement, gradient))
    return shards


def shard_of(kind: str, place: Placement, tensor: torch.Tensor) -> Shard:
    """A rank's piece of a tensor that is laid out like a parameter, named `kind:<parameter>`."""
    name = f"{kind}:{place.title}"
    return Shard(name, tensor.detach().double().cpu(), place.axis, place.index, place.count, place.sections)


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
                if first.shape != shard.tensor.shape:
                    apart[shard.name] = float("inf")
                    continue
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
