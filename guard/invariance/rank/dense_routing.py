"""Top-k routing and its auxiliary losses once more: float64, from the papers, independent of the tree's code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

Fields = dict[str, Any]


@dataclass(frozen=True)
class Routed:
    """What a router decides for every token.

    Attributes:
        probs: weight of every expert [tokens, experts], zero where it was not chosen.
        chosen: which experts get the token [tokens, experts].
        scores: normalised scores of all experts, for the auxiliary losses.
        top: the choice before any token was dropped, by the scores alone (no bias), for the auxiliary losses.
    """

    probs: torch.Tensor
    chosen: torch.Tensor
    scores: torch.Tensor
    top: torch.Tensor


def route(logits: torch.Tensor, topk: int, fields: Fields, bias: torch.Tensor | None = None) -> Routed:
    """Route tokens.

    Args:
        logits: [tokens, experts], float64.
        fields: fields of Megatron's configuration by their names (`moe_router_score_function`, …).
        bias: added to the scores for the choice alone (arXiv:2408.15664).
    """
    kind = fields.get("moe_router_score_function", "softmax")
    full = _scores(logits, kind)
    by = logits if kind == "softmax" and not fields.get("moe_router_pre_softmax") else full
    order = by if bias is None else by + bias
    order = _within_groups(order, topk, fields)
    picked = order.topk(topk, dim=-1).indices
    chosen = torch.zeros_like(logits, dtype=torch.bool).scatter(1, picked, True)
    if kind == "softmax":
        probs = full if fields.get("moe_router_pre_softmax") else logits.masked_fill(~chosen, -math.inf).softmax(dim=-1)
        probs = probs * chosen
    else:
        probs = full * chosen
        probs = probs / probs.sum(dim=-1, keepdim=True) if topk > 1 else probs
    probs = probs * (fields.get("moe_router_topk_scaling_factor") or 1.0)
    normal = full if kind == "softmax" else full / full.sum(dim=-1, keepdim=True)
    top = torch.zeros_like(chosen).scatter(1, normal.topk(topk, dim=-1).indices, True)
    return Routed(*_drop(probs, chosen, topk, fields), normal, top)


def _scores(logits: torch.Tensor, kind: str) -> torch.Tensor:
    if kind == "softmax":
        return logits.softmax(dim=-1)
    return logits.sigmoid() if kind == "sigmoid" else torch.nn.functional.softplus(logits).sqrt()


def _within_groups(order: torch.Tensor, topk: int, fields: Fields) -> torch.Tensor:
    """Leave the best groups of experts: a group's rank is the sum of its topk/groups best (DeepSeek-V3, 2.1.2)."""
    groups, kept = fields.get("moe_router_num_groups"), fields.get("moe_router_group_topk")
    if not kept:
        return order
    by_group = order.view(order.shape[0], groups, -1)
    rank = by_group.topk(topk // kept, dim=-1).values.sum(dim=-1)
    allowed = torch.zeros_like(rank, dtype=torch.bool).scatter(1, rank.topk(kept, dim=-1).indices, True)
    return by_group.masked_fill(~allowed.unsqueeze(-1), -math.inf).flatten(1)


def _drop(probs: torch.Tensor, chosen: torch.Tensor, topk: int, fields: Fields) -> tuple[torch.Tensor, torch.Tensor]:
    """Leave every expert its capacity, ceil(tokens · topk / experts · factor) tokens, those it weighs most first."""
    factor = fields.get("moe_expert_capacity_factor")
    if factor is None:
        return probs, chosen
    tokens, experts = probs.shape
    capacity = min(tokens, math.ceil(tokens * topk / experts * factor))
    best = torch.zeros_like(chosen).scatter(0, probs.topk(capacity, dim=0).indices, True)
    kept = best if fields.get("moe_pad_expert_input_to_capacity") else best & chosen
    return probs * kept, kept


def switch_loss(routed: Routed, valid: torch.Tensor, topk: int) -> torch.Tensor:
    """E · Σ f_i · P_i over the valid tokens (Switch Transformer, arXiv:2101.03961; f_i is a share of topk choices)."""
    count = valid.sum()
    share = (routed.top & valid.unsqueeze(-1)).sum(dim=0) / (count * topk)
    mean = (routed.scores * valid.unsqueeze(-1)).sum(dim=0) / count
    return routed.scores.shape[1] * (share * mean).sum()


def z_loss(logits: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    """Mean over valid tokens of the squared log of the partition function (ST-MoE, arXiv:2202.08906, equation 5)."""
    squares = logits.logsumexp(dim=-1).square()
    return (squares * valid).sum() / valid.sum()


def router_losses(
    logits: torch.Tensor, valid: torch.Tensor, topk: int, fields: Fields, counted: list[torch.Tensor] | None = None
) -> torch.Tensor:
    """The weighted sum of a micro-batch's router losses.

    Args:
        logits: [length, sequences, experts]; `valid` says for [length, sequences] which count.
        counted: choices of valid tokens in the step's micro-batches so far, for `global_aux_loss`; gets this one's.
    """
    length, sequences, experts = logits.shape
    routed = route(logits.flatten(0, 1), topk, fields)
    flat = valid.flatten()
    kinds, weights = fields.get("moe_router_load_balancing_type", "none"), fields.get("moe_aux_loss_coeff", 0.0)
    pairs = zip(kinds, weights, strict=True) if isinstance(kinds, (list, tuple)) else [(kinds, weights)]
    total = logits.sum() * 0.0
    for kind, weight in pairs:
        if kind == "aux_loss":
            total = total + weight * switch_loss(routed, flat, topk)
        elif kind == "seq_aux_loss":
            each = [
                switch_loss(_of_sequence(routed, length, sequences, one), valid[:, one], topk)
                for one in range(sequences)
            ]
            total = total + weight * torch.stack(each).mean()
        elif kind == "global_aux_loss":
            assert counted is not None
            counted.append((routed.top & flat.unsqueeze(-1)).sum(dim=0) / (flat.sum() * topk))
            share = torch.stack(counted).mean(dim=0)
            mean = (routed.scores * flat.unsqueeze(-1)).sum(dim=0) / flat.sum()
            total = total + weight * experts * (share * mean).sum()
    weight = fields.get("moe_z_loss_coeff")
    return total + weight * z_loss(logits.flatten(0, 1), flat) if weight else total


def _of_sequence(routed: Routed, length: int, sequences: int, one: int) -> Routed:
    parts = (routed.probs, routed.chosen, routed.scores, routed.top)
    return Routed(*(part.view(length, sequences, -1)[:, one] for part in parts))
