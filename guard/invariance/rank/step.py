"""One training step through the tree's own DDP, schedule and gradient finalisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from guard.invariance.rank import adapt
from guard.invariance.rank.shard import Shard, gradients
from guard.invariance.rank.tree import member
from guard.invariance.rank.world import World

LossFunction = Callable[[torch.Tensor], tuple[Any, ...]]
Forward = Callable[[Any, Any], tuple[torch.Tensor, LossFunction]]


class Model(torch.nn.Module):  # type: ignore[misc]
    """A module with the two members that the schedule asks of a model."""

    def __init__(self, config: Any, **parts: torch.nn.Module) -> None:
        super().__init__()
        self.config = config
        self.model_type = member("megatron.core.enums", "ModelType").encoder_or_decoder  # type: ignore[attr-defined]
        for name, part in parts.items():
            self.add_module(name, part)

    def set_input_tensor(self, _tensor: Any) -> None:
        """Nothing comes from an earlier pipeline stage."""


@dataclass(frozen=True)
class Plan:
    """How a step is run.

    Attributes:
        length: tokens of a sequence before any cut; only pipeline stages ask for it.
        steps: how many steps, each from the same weights; the gradients are those of the last.
        ddp: fields of the data-parallel configuration besides the usual.
    """

    length: int = 1
    steps: int = 1
    ddp: dict[str, Any] = field(default_factory=dict)


def wrap(config: Any, model: torch.nn.Module, more: dict[str, Any] | None = None) -> Any:
    """The tree's `DistributedDataParallel` with float32 gradients and, unless `more` says so, no overlap."""
    data_parallel: Any = member("megatron.core.distributed", "DistributedDataParallel")
    settings: Any = member("megatron.core.distributed", "DistributedDataParallelConfig")
    plain = {"grad_reduce_in_fp32": True, "overlap_grad_reduce": False, "use_distributed_optimizer": False}
    return data_parallel(config=config, ddp_config=adapt.config({**plain, **(more or {})}, settings), module=model)


def train_step(
    world: World,
    config: Any,
    model: torch.nn.Module | list[torch.nn.Module],
    batches: list[Any],
    forward: Forward,
    plan: Plan | None = None,
    keep: list[Any] | None = None,
) -> list[Shard]:
    """Run all micro-batches of this rank and finalise the gradients.

    Args:
        model: the model, or its chunks on this pipeline stage.
        batches: one item a micro-batch, handed to `forward(model, batch)` for the output and its loss function.
        keep: gets the wrapped chunks, for callers that go on with them.

    Returns:
        This rank's pieces of every `main_grad`.
    """
    plan = plan or Plan()
    parts = model if isinstance(model, list) else [model]
    wrapped = [wrap(config, part, plan.ddp) for part in parts]
    prepare(config, wrapped, plan)
    if keep is not None:
        keep.extend(wrapped)
    for _ in range(plan.steps):
        for chunk in wrapped:
            chunk.zero_grad_buffer()
        run_schedule(world, wrapped, batches, forward, plan)
    return [shard for part in parts for shard in gradients(part)]


def prepare(config: Any, wrapped: list[Any], plan: Plan) -> None:
    """Tell the schedule how gradients are finalised and, with overlap, when they may be exchanged."""
    config.finalize_model_grads_func = member("megatron.core.distributed", "finalize_model_grads")
    if plan.ddp.get("overlap_grad_reduce"):
        waits, starts = [chunk.no_sync for chunk in wrapped], [chunk.start_grad_sync for chunk in wrapped]
        config.no_sync_func = waits if len(waits) > 1 else waits[0]
        if plan.ddp.get("align_grad_reduce"):
            config.grad_sync_func = starts if len(starts) > 1 else starts[0]
    if plan.ddp.get("overlap_param_gather") and plan.ddp.get("align_param_gather"):
        gathers = [chunk.start_param_sync for chunk in wrapped]
        config.param_sync_func = gathers if len(gathers) > 1 else gathers[0]


def run_schedule(world: World, wrapped: list[Any], batches: list[Any], forward: Forward, plan: Plan) -> None:
    """One pass of the tree's schedule (none, 1F1B or interleaved, by the cut) over the micro-batches."""
    name = "no_pipelining" if world.cut.pp == 1 else "pipelining_without_interleaving"
    name = "pipelining_with_interleaving" if world.cut.vpp else name
    schedule: Any = member("megatron.core.pipeline_parallel.schedules", f"forward_backward_{name}")

    def forward_step(data: Iterator[Any], chunk: Any) -> tuple[torch.Tensor, LossFunction]:
        return forward(chunk, next(data))

    schedule(
        forward_step_func=forward_step,
        data_iterator=[iter(batches) for _ in wrapped] if world.cut.vpp else iter(batches),
        model=wrapped,
        num_microbatches=len(batches),
        seq_length=plan.length,
        micro_batch_size=world.cut.mbs,
        forward_only=False,
    )


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
