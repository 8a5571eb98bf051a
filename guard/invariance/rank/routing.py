"""The tree's router alone: what it decides, counts and adds to the loss, against closed forms in float64."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.rank import batch
from guard.invariance.rank.dense_routing import route, router_losses
from guard.invariance.rank.router import EXPERTS, LENGTH, SEQUENCES, WIDTH, check_margin, configuration
from guard.invariance.rank.shard import Shard, global_tensor, install, whole
from guard.invariance.rank.step import LossFunction, Model, Plan, run_schedule, wrap
from guard.invariance.rank.step import prepare as prepare_schedule
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

RATE = 0.01


class _RouterModel(Model):
    def forward(self, hidden: torch.Tensor, padding: torch.Tensor | None) -> Any:
        return self.router(hidden) if padding is None else self.router(hidden, padding)


def _batch(settings: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Hidden states [length, sequences, width], valid positions [length, sequences], weights of the probabilities."""
    hidden = batch.hidden_states("distinct", SEQUENCES, LENGTH, WIDTH, settings.get("draw", 0))
    valid = batch.mask(settings["mask"], SEQUENCES, LENGTH)
    counted = torch.ones(LENGTH, SEQUENCES, dtype=torch.bool) if valid is None else valid.t()
    return hidden, counted, global_tensor("projection", (LENGTH, SEQUENCES, EXPERTS), 1.0)


def routing(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Gradient of the router weight from its losses and a projection of its probabilities, and what it counted.

    Settings: `config` (fields of the configuration), `mask`, `ptl`, `project` (weight of the projection), `steps`.
    `counts:` are the valid tokens each expert was chosen for in the last step, `bias:` the expert bias after it,
    `left:` what the counters hold after the step.
    """
    cls: Any = member("megatron.core.transformer.moe.router", "TopKRouter")
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    config = configuration(world, {"loss": "none", **settings})
    model = _RouterModel(config, router=cls(config, pg_collection=groups.use_mpu_process_groups()))
    model.router.set_layer_number(1)
    model.to(world.device).train()
    install(world, model)
    hidden, counted, weights = _batch(settings)
    check_margin(hidden, model.router.weight, config.moe_router_topk)
    positions = world.positions(LENGTH, "contiguous")

    def cut(tensor: torch.Tensor, sequences: list[int]) -> torch.Tensor:
        return world.sequence_shard(tensor[positions][:, sequences]).contiguous().to(world.device)

    def forward(chunk: Any, sequences: list[int]) -> tuple[torch.Tensor, LossFunction]:
        padding = None if settings["mask"] == "none" else cut(~counted, sequences)
        probs, _map = chunk(cut(hidden, sequences), padding)
        mine = cut(weights, sequences).flatten(0, 1) * cut(counted, sequences).flatten().unsqueeze(-1)

        def loss_function(output: torch.Tensor) -> tuple[Any, ...]:
            # The count is of this rank's tokens before tensor parallelism cuts the sequence.
            tokens = counted[positions][:, sequences].sum().to(torch.int).to(world.device)
            return (output * mine).sum() * settings.get("project", 0.0), tokens, {}

        return probs, loss_function

    wrapped = wrap(config, model)
    seen: list[torch.Tensor] = []
    prepare_schedule(config, [wrapped], Plan())
    config.finalize_model_grads_func = _watching(config.finalize_model_grads_func, model.router, seen)
    for _ in range(settings.get("steps", 1)):
        wrapped.zero_grad_buffer()
        run_schedule(world, [wrapped], list(world.sequences(SEQUENCES)), forward, Plan())
    shards = [whole("grad:router.weight", model.router.weight.main_grad)]
    if seen:
        shards += [whole("counts:experts", seen[-1]), whole("bias:experts", model.router.expert_bias)]
        shards.append(whole("left:experts", 1.0 + model.router.local_tokens_per_expert))
    return shards


def _watching(finalize: Any, router: Any, seen: list[torch.Tensor]) -> Any:
    """Finalise, and note the counts of all ranks as they stand before it."""

    def watched(*args: Any, **kwargs: Any) -> Any:
        held = getattr(router, "local_tokens_per_expert", None)
        if held is not None:
            total = held.detach().clone()
            dist.all_reduce(total)
            seen.append(total)
        return finalize(*args, **kwargs)

    return watched


def routing_dense(world: World, settings: dict[str, Any]) -> list[Shard]:
    """The same in float64 from the papers; see `dense_routing`. One rank."""
    config = configuration(world, {"loss": "none", **settings})
    cls: Any = member("megatron.core.transformer.moe.router", "TopKRouter")
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    model = _RouterModel(config, router=cls(config, pg_collection=groups.use_mpu_process_groups()))
    install(world, model)
    fields: dict[str, Any] = settings.get("config", {})
    topk = fields.get("moe_router_topk", 2)
    biased = bool(fields.get("moe_router_enable_expert_bias"))
    bias = torch.zeros(EXPERTS, dtype=torch.float64) if biased else None
    hidden, counted, projection = _batch(settings)
    parts = world.sequences(SEQUENCES)
    for _ in range(settings.get("steps", 1)):
        weight = model.router.weight.detach().double().cpu().requires_grad_()
        counts = torch.zeros(EXPERTS, dtype=torch.float64)
        so_far: list[torch.Tensor] = []
        for part in parts:
            logits, valid = hidden[:, part].double() @ weight.t(), counted[:, part]
            routed = route(logits.flatten(0, 1), topk, fields, bias)
            counts += (routed.chosen & valid.flatten().unsqueeze(-1)).sum(dim=0)
            projected = (routed.probs * (projection[:, part] * valid.unsqueeze(-1)).flatten(0, 1)).sum()
            divisor = counted.sum() if settings["ptl"] else valid.sum() * len(parts)
            losses = router_losses(logits, valid, topk, fields, so_far)
            (projected * settings.get("project", 0.0) / divisor + losses / len(parts)).backward()
        if bias is not None:
            bias = bias + RATE * (counts.mean() - counts).sign()
    assert weight.grad is not None
    shards = [whole("grad:router.weight", weight.grad)]
    if bias is not None:
        shards += [whole("counts:experts", counts), whole("bias:experts", bias)]
        shards.append(whole("left:experts", torch.ones(EXPERTS)))
    return shards


def scores(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Scores for the auxiliary loss of bfloat16 logits: float32, as the numbers of a loss must be.

    Settings: `score` (softmax or sigmoid), `expected` (the closed form in float64 of the same bfloat16 logits).
    """
    logits = global_tensor("scores", (64, EXPERTS), 1.0).bfloat16().to(world.device)
    valid = torch.arange(64, device=world.device) % 4 != 3
    if settings.get("expected"):
        routed = route(logits.double().cpu(), 2, {"moe_router_score_function": settings["score"]})
        kept = valid.cpu().unsqueeze(-1)
        return [whole("scores", routed.scores * kept), whole("map", (routed.top & kept).double())]
    compute: Any = member("megatron.core.transformer.moe.moe_utils", "compute_routing_scores_for_aux_loss")
    try:
        chosen, found = compute(logits, 2, settings["score"], padding_mask=~valid)
    except TypeError as error:
        raise UnavailableError(f"scores of this tree take no padding mask: {error}") from error
    return [whole("scores", found), whole("map", chosen.double())]
