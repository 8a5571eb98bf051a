"""Whole training steps: the tree's schedule, its optimizer (plain or distributed), clipping, the weights after it."""

from __future__ import annotations

from typing import Any

import torch

from guard.invariance.rank import adapt, gpt
from guard.invariance.rank.placement import Placement
from guard.invariance.rank.shard import Shard, shard_of, whole
from guard.invariance.rank.step import Plan, prepare, run_schedule, wrap
from guard.invariance.rank.tree import UnavailableError, member
from guard.invariance.rank.world import World

RATE, BETAS, EPSILON, MOMENTUM = 0.5, (0.9, 0.95), 1.0, 0.9


def _optimizer(settings: dict[str, Any], wrapped: list[Any]) -> Any:
    """The tree's optimizer. Epsilon is 1, so that an update keeps the scale of its gradient."""
    factory: Any = member("megatron.core.optimizer", "get_megatron_optimizer")
    cls: Any = member("megatron.core.optimizer", "OptimizerConfig")
    fields = {"optimizer": settings.get("optimizer", "adam"), "lr": RATE, "min_lr": RATE, "weight_decay": 0.0}
    fields |= {"adam_beta1": BETAS[0], "adam_beta2": BETAS[1], "adam_eps": EPSILON, "sgd_momentum": MOMENTUM}
    fields |= {"clip_grad": settings.get("clip", 0.0), "log_num_zeros_in_grad": True}
    ddp = settings.get("ddp", {})
    shared = ("use_distributed_optimizer", "overlap_param_gather")
    fields |= {name: ddp[name] for name in shared if name in ddp}
    if settings.get("layer_wise"):
        return _layer_wise(adapt.config(fields, cls), wrapped)
    return factory(adapt.config(fields, cls), wrapped, **adapt.accepted(factory, {"use_gloo_process_groups": False}))


def _layer_wise(config: Any, wrapped: list[Any]) -> Any:
    """The optimizer that gives every rank whole parameters, over Adam; the factory gives it to Muon alone."""
    cls: Any = member("megatron.core.optimizer.layer_wise_optimizer", "LayerWiseDistributedOptimizer")
    single: Any = member("megatron.core.optimizer.optimizer", "FP32Optimizer")
    groups: Any = member("megatron.core.process_groups_config", "ProcessGroupCollection")
    parameters = [parameter for chunk in wrapped for parameter in chunk.parameters()]
    group = {"params": parameters, "is_expert_parallel": False}
    base = torch.optim.AdamW([group], lr=RATE, betas=BETAS, eps=EPSILON, weight_decay=0.0)
    more = adapt.accepted(cls, {"init_state_fn_list": [_no_state], "model_chunks": wrapped})
    if "model_chunks" not in more:
        raise UnavailableError("the layer-wise optimizer of this tree has no overlapped gather")
    return cls([single(base, config, _no_state)], config, groups.use_mpu_process_groups(), **more)


def _no_state(*_arguments: Any) -> None:
    """Adam makes its state in its first step."""


def update(world: World, settings: dict[str, Any]) -> list[Shard]:
    """Weights after some steps (`weight:`), the change they made (`change:`), the norm and the zeros of each step.

    Settings: those of `gpt`; `optimizer` (adam or sgd), `clip`, `updates` (how many), `layer_wise`.
    """
    config = gpt.configuration(world, settings)
    models = gpt.chunks(world, config, settings)
    before = [[parameter.detach().clone() for parameter in model.parameters()] for model in models]
    plan = Plan(length=settings["length"], ddp=settings.get("ddp", {}))
    wrapped = [wrap(config, model, plan.ddp) for model in models]
    optimizer = _optimizer(settings, wrapped)
    config.grad_scale_func = optimizer.scale_loss
    prepare(config, wrapped, plan)
    batches = [gpt.share(world, settings, sequences) for sequences in world.sequences(gpt.SEQUENCES)]
    measured = []
    for number in range(settings.get("updates", 2)):
        for chunk in wrapped:
            chunk.zero_grad_buffer()
        optimizer.zero_grad()
        run_schedule(world, wrapped, batches, lambda chunk, item: gpt.forward(world, settings, chunk, item), plan)
        success, norm, zeros = optimizer.step()
        if not success:
            raise UnavailableError("the optimizer of this tree skips a step of finite gradients")
        measured.append(whole(f"norm:{number}", torch.as_tensor(float(norm or 0.0), dtype=torch.float64)))
        if zeros is not None:
            measured.append(whole(f"zeros:{number}", torch.as_tensor(float(zeros), dtype=torch.float64)))
    if plan.ddp.get("overlap_param_gather"):
        for chunk in wrapped:
            chunk.start_param_sync(force_sync=True)
    for model, starts in zip(models, before, strict=True):
        for parameter, start in zip(model.parameters(), starts, strict=True):
            place: Placement = parameter.placement
            measured.append(shard_of("change", place, parameter.detach() - start))
    return measured


def update_dense(world: World, settings: dict[str, Any]) -> list[Shard]:
    """The same steps in float64 from the gradients of the dense model: Adam (arXiv:1412.6980) after clipping.

    The clip coefficient is max_norm / (norm + 1e-6), at most 1; no weight decays.
    """
    from guard.invariance.rank.dense import step_gradients

    model = gpt.build(world, gpt.configuration(world, settings), settings)
    weights = {name: each.detach().double().cpu() for name, each in model.named_parameters()}
    start = {name: weight.clone() for name, weight in weights.items()}
    first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    measured = []
    for number in range(settings.get("updates", 2)):
        gradients = step_gradients(world, settings, weights)
        norm = torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum().sqrt()
        zeros = sum(int((gradient.float() == 0).sum()) for gradient in gradients.values())
        limit = settings.get("clip", 0.0)
        factor = min(1.0, limit / (float(norm) + 1e-6)) if limit else 1.0
        for name, weight in weights.items():
            gradient = gradients[name] * factor
            first[name] = BETAS[0] * first[name] + (1 - BETAS[0]) * gradient
            second[name] = BETAS[1] * second[name] + (1 - BETAS[1]) * gradient.square()
            mean, square = (
                moment / (1 - beta ** (number + 1))
                for moment, beta in zip((first[name], second[name]), BETAS, strict=True)
            )
            weight.sub_(RATE * mean / (square.sqrt() + EPSILON))
        measured += [whole(f"norm:{number}", norm), whole(f"zeros:{number}", torch.tensor(float(zeros)))]
    return [*measured, *(whole(f"change:{name}", weight - start[name]) for name, weight in weights.items())]
