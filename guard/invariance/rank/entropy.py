"""The tree's vocabulary-parallel cross-entropy called directly: loss and gradient of the logits."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.shard import Shard, global_tensor, whole
from guard.invariance.rank.tree import member
from guard.invariance.rank.world import World

LENGTH, SEQUENCES = 8, 2


def entropy(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Loss [length, sequences] and the gradient of its sum by the logits.

    Settings: `vocabulary`, `smoothing`, `scale` of the logits, `kind` (`plain`, `fused`, `gathered`: the language
    module's loss of logits that an output layer has gathered; or `dense`: a float64 computation with torch's own
    cross-entropy, which stands for the whole vocabulary on one rank).
    """
    vocabulary, smoothing = settings["vocabulary"], settings.get("smoothing", 0.0)
    full = global_tensor("logits", (LENGTH, SEQUENCES, vocabulary), settings.get("scale", 1.0))
    target = torch.randint(0, vocabulary, (LENGTH, SEQUENCES), generator=torch.Generator().manual_seed(11))
    if settings["kind"] == "dense":
        return _dense(full.double(), target, smoothing)
    logits = full.chunk(world.cut.tp, dim=-1)[world.tp_rank].contiguous().to(world.device).requires_grad_()
    group = member("megatron.core", "parallel_state").get_tensor_model_parallel_group()  # type: ignore[attr-defined]
    target = target.to(world.device)
    # Both functions work in place on what they are given.
    given = logits * 1.0
    if settings["kind"] == "gathered":
        loss = _of_gathered(given, target, group)
    elif settings["kind"] == "fused":
        fused: Any = member("megatron.core.fusions.fused_cross_entropy", "fused_vocab_parallel_cross_entropy")
        loss = fused(given, target, group)
    else:
        plain: Any = member("megatron.core.tensor_parallel.cross_entropy", "vocab_parallel_cross_entropy")
        loss = plain(given, target, smoothing, **adapt.accepted(plain, {"tp_group": group}))
    loss.sum().backward()
    assert logits.grad is not None
    gradient = Shard("grad:logits", logits.grad.double().cpu(), 2, world.tp_rank, world.cut.tp)
    return [whole("loss", loss), gradient]


def _of_gathered(shard: torch.Tensor, target: torch.Tensor, group: Any) -> torch.Tensor:
    """What `GPTModel` does with labels where its output layer gathers: the method on a stand-in for the model."""
    gather: Any = member("megatron.core.tensor_parallel", "gather_from_tensor_model_parallel_region")
    module: Any = member("megatron.core.models.common.language_module.language_module", "LanguageModule")
    config = SimpleNamespace(cross_entropy_loss_fusion=False)
    model = SimpleNamespace(config=config, tp_group=group, pg_collection=SimpleNamespace(tp=group))
    loss = module.compute_language_model_loss(model, target.t().contiguous(), gather(shard) * 1.0)
    return loss.t()


def _dense(logits: torch.Tensor, target: torch.Tensor, smoothing: float) -> list[Shard]:
    """Smoothing puts smoothing/(V-1) on every class but the target, as the tree's own comment says."""
    logits = logits.requires_grad_()
    size = logits.shape[-1]
    share = smoothing * size / (size - 1) if smoothing else 0.0
    flat = logits.reshape(-1, size)
    loss = torch.nn.functional.cross_entropy(flat, target.reshape(-1), reduction="none", label_smoothing=share)
    loss.sum().backward()
    assert logits.grad is not None
    assert math.isfinite(float(loss.sum()))
    return [whole("loss", loss.reshape(target.shape)), whole("grad:logits", logits.grad)]
