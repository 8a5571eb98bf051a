"""The small model once more: dense, float64, on one rank, from the names of its weights and the case's own options."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from guard.invariance.rank import gpt
from guard.invariance.rank.dense_routing import route, router_losses
from guard.invariance.rank.shard import Shard, whole
from guard.invariance.rank.world import World

EPSILON, ROTARY_BASE, TOPK = 1e-5, 10000.0, 2


class DenseModel:
    """A decoder as the papers have it, computing with weights that are named as Megatron-Core names them.

    Tensors are [length, sequences, …]. Layer norm before attention and MLP; rotary embedding by halves (RoFormer,
    arXiv:2104.09864); query groups joined as [group: its queries, key, value]; experts summed by their probabilities.
    """

    def __init__(self, weights: dict[str, torch.Tensor], settings: dict[str, Any]) -> None:
        self.weights = weights
        self.settings = settings
        self.fields: dict[str, Any] = settings.get("config", {})
        self.counted: dict[str, list[torch.Tensor]] = {}

    def losses(self, item: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross-entropy of every token [sequences, length], and the sum of router losses, of one micro-batch."""
        self.valid = (
            item["loss_mask"].t().bool() if self.settings.get("pad") else torch.ones_like(item["labels"].t()) > 0
        )
        self.router = torch.zeros((), dtype=torch.float64)
        states = self.weights["embedding.word_embeddings.weight"][item["input_ids"].t()]
        for number in range(self.settings.get("layers", 1)):
            name = f"decoder.layers.{number}."
            states = states + self._attention(f"{name}self_attention.", self._norm(f"{name}input_layernorm", states))
            normed = self._norm(f"{name}pre_mlp_layernorm", states)
            states = states + (self._experts if self.settings.get("experts") else self._mlp)(f"{name}mlp.", normed)
        states = self._norm("decoder.final_layernorm", states)
        output = self.weights.get("output_layer.weight", self.weights["embedding.word_embeddings.weight"])
        logits = states @ output.t()
        flat = functional.cross_entropy(logits.flatten(0, 1), item["labels"].t().flatten(), reduction="none")
        return flat.view(logits.shape[:2]).t(), self.router

    def _norm(self, name: str, states: torch.Tensor) -> torch.Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias")
        centred = states if bias is None else states - states.mean(dim=-1, keepdim=True)
        scaled = centred / (centred.square().mean(dim=-1, keepdim=True) + EPSILON).sqrt() * weight
        return scaled if bias is None else scaled + bias

    def _linear(self, name: str, states: torch.Tensor) -> torch.Tensor:
        return functional.linear(states, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def _mlp(self, name: str, states: torch.Tensor) -> torch.Tensor:
        inner = self._linear(f"{name}linear_fc1", states)
        if self.fields.get("gated_linear_unit"):
            gate, value = inner.chunk(2, dim=-1)
            return self._linear(f"{name}linear_fc2", functional.gelu(gate) * value)
        return self._linear(f"{name}linear_fc2", functional.gelu(inner))

    def _attention(self, name: str, states: torch.Tensor) -> torch.Tensor:
        groups = self.fields.get("num_query_groups", gpt.HEADS)
        width, times = gpt.WIDTH // gpt.HEADS, gpt.HEADS // groups
        joined = self._linear(f"{name}linear_qkv", states).unflatten(-1, (groups, times + 2, width))
        query, key, value = joined.split([times, 1, 1], dim=-2)
        query, key, value = (part.flatten(2, 3) for part in (query, key, value))
        if self.fields.get("qk_layernorm"):
            query, key = self._norm(f"{name}q_layernorm", query), self._norm(f"{name}k_layernorm", key)
        if self.settings.get("positions") == "rope":
            query, key = _rotate(query), _rotate(key)
        key, value = (part.repeat_interleave(times, dim=2) for part in (key, value))
        if self.settings.get("attention", "local") == "local":
            out = value * torch.sigmoid((query * key).sum(dim=-1, keepdim=True) / width**0.5)
        else:
            scores = torch.einsum("sbhd,tbhd->bhst", query, key) / width**0.5
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            out = torch.einsum("bhst,tbhd->sbhd", scores.masked_fill(hidden, float("-inf")).softmax(dim=-1), value)
        return self._linear(f"{name}linear_proj", out.flatten(2))

    def _experts(self, name: str, states: torch.Tensor) -> torch.Tensor:
        logits = self._linear(f"{name}router", states)
        fields = gpt.router_fields(self.settings) | self.fields
        routed = route(logits.flatten(0, 1), TOPK, fields)
        self.router = self.router + router_losses(logits, self.valid, TOPK, fields, self.counted.setdefault(name, []))
        probs = routed.probs.view(*logits.shape)
        total = torch.zeros_like(states)
        for number in range(self.settings["experts"]):
            expert = self._mlp(f"{name}experts.local_experts.{number}.", states)
            total = total + probs[..., number : number + 1] * expert
        if self.fields.get("moe_shared_expert_intermediate_size"):
            shared = self._mlp(f"{name}shared_experts.", states)
            gate = self.weights.get(f"{name}shared_experts.gate_weight")
            total = total + (shared if gate is None else shared * torch.sigmoid(states @ gate.t()))
        return total


def _rotate(states: torch.Tensor) -> torch.Tensor:
    """Rotary embedding of [length, sequences, heads, width]: dimension i turns with i + width/2."""
    length, width = states.shape[0], states.shape[-1]
    speed = ROTARY_BASE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = (torch.arange(length, dtype=torch.float64).unsqueeze(1) * speed).view(length, 1, 1, -1)
    first, second = states.chunk(2, dim=-1)
    cosine, sine = angle.cos(), angle.sin()
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def gpt_dense(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradients of the objective: settings as for `gpt`, whose weights these are.

    The language-model loss is the mean over all valid tokens of the step (per token) or the mean over micro-batches of
    their means; router losses are the mean over micro-batches.
    """
    model = gpt.build(world, gpt.configuration(world, settings), settings)
    weights = {name: parameter.detach().double().cpu() for name, parameter in model.named_parameters()}
    return [whole(f"grad:{name}", gradient) for name, gradient in step_gradients(world, settings, weights).items()]


def step_gradients(world: World, settings: dict[str, Any], weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Gradients of the objective at the given float64 weights."""
    weights = {name: weight.detach().clone().requires_grad_() for name, weight in weights.items()}
    dense = DenseModel(weights, settings)
    shares = [gpt.share(world, settings, sequences) for sequences in world.sequences(gpt.SEQUENCES)]
    batches = [{name: part.cpu() for name, part in item.items() if part is not None} for item in shares]
    total = sum(float(item["loss_mask"].sum()) for item in batches)
    for item in batches:
        losses, router = dense.losses(item)
        mask = item["loss_mask"].double()
        divisor = total if settings["ptl"] else mask.sum() * len(batches)
        loss = settings.get("main", 1.0) * (losses * mask).sum() / divisor + router / len(batches)
        loss.backward()
    gradients = {name: weight.grad for name, weight in weights.items()}
    return {name: gradient for name, gradient in gradients.items() if gradient is not None}
