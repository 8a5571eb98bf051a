"""Core attentions that need no kernels: one exact under any context-parallel cut, one that sees positions."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.rank.tree import member


class TokenLocalAttention(torch.nn.Module):  # type: ignore[misc]
    """A core attention in which every token sees itself: exact under any context-parallel cut, without kernels.

    o = v · sigmoid(q·k / sqrt(d)) for query, key, value of shape [sequence, batch, heads, d].
    """

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        super().__init__()

    def forward(self, query: Any, key: Any, value: Any, *_args: Any, **_kwargs: Any) -> torch.Tensor:
        """Attend; returns [sequence, batch, heads·d]."""
        weight = torch.sigmoid((query * key).sum(dim=-1, keepdim=True) / query.shape[-1] ** 0.5)
        return (value * weight).flatten(start_dim=2)


class GatheredAttention(torch.nn.Module):  # type: ignore[misc]
    """Causal softmax attention over the whole sequence: keys and values are gathered over context-parallel ranks.

    What Transformer Engine computes in rings, in one step and with torch alone. The positions are those of Megatron's
    balanced layout: chunks r and 2·CP-1-r of 2·CP.
    """

    def __init__(self, *_args: Any, softmax_scale: float | None = None, **_kwargs: Any) -> None:
        super().__init__()
        self.scale = softmax_scale

    def forward(self, query: Any, key: Any, value: Any, *_args: Any, **_kwargs: Any) -> torch.Tensor:
        """Attend; query [sequence/CP, batch, heads, d], key and value with as many heads or groups of them."""
        state: Any = member("megatron.core", "parallel_state")
        group = state.get_context_parallel_group()
        size, rank = dist.get_world_size(group), dist.get_rank(group)
        chunk = query.shape[0] // 2
        order = torch.cat([_balanced(number, size, chunk) for number in range(size)]).to(query.device)
        mine = _balanced(rank, size, chunk).to(query.device)
        key, value = (_Gather.apply(tensor.contiguous(), group) if size > 1 else tensor for tensor in (key, value))
        times = query.shape[2] // key.shape[2]
        key, value = (tensor.repeat_interleave(times, dim=2) for tensor in (key, value))
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = torch.einsum("sbhd,tbhd->bhst", query, key) * scale
        scores = scores.masked_fill(order.unsqueeze(0) > mine.unsqueeze(1), float("-inf"))
        return torch.einsum("bhst,tbhd->sbhd", scores.softmax(dim=-1), value).flatten(start_dim=2)


def _balanced(rank: int, size: int, chunk: int) -> torch.Tensor:
    """Global positions of a rank's two chunks."""
    first, second = rank * chunk, (2 * size - 1 - rank) * chunk
    return torch.cat([torch.arange(first, first + chunk), torch.arange(second, second + chunk)])


class _Gather(torch.autograd.Function):  # type: ignore[misc]
    """Concatenate over the ranks of a group along dimension 0; the gradient is summed and cut again."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, group: Any) -> torch.Tensor:
        ctx.group = group
        pieces = [torch.empty_like(tensor) for _ in range(dist.get_world_size(group))]
        dist.all_gather(pieces, tensor, group=group)
        return torch.cat(pieces)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        gradient = gradient.contiguous()
        dist.all_reduce(gradient, group=ctx.group)
        return gradient.chunk(dist.get_world_size(ctx.group))[dist.get_rank(ctx.group)], None
