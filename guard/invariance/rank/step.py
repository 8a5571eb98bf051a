"""One training step through the tree's own DDP, schedule and gradient finalisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

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


def wrap(config: Any, model: torch.nn.Module) -> Any:
    """The tree's `DistributedDataParallel` with float32 gradients and no overlap."""
    data_parallel: Any = member("megatron.core.distributed", "DistributedDataParallel")
    settings: Any = member("megatron.core.distributed", "DistributedDataParallelConfig")
    return data_parallel(
        config=config,
        ddp_config=settings(grad_reduce_in_fp32=True, overlap_grad_reduce=False, use_distributed_optimizer=False),
        module=model,
    )


def train_step(
    world: World,
    config: Any,
    model: torch.nn.Module,
    batches: list[Any],
    forward: Forward,
    keep: list[Any] | None = None,
) -> list[Shard]:
    """Run all micro-batches of this rank and finalise the gradients.

    Args:
        batches: one item a micro-batch, handed to `forward(model, batch)` for the output and its loss function.
        keep: gets the wrapped model, for callers that go on with it.

    Returns:
        This rank's pieces of every `main_grad`.
    """
    config.finalize_model_grads_func = member("megatron.core.distributed", "finalize_model_grads")
    schedule: Any = member("megatron.core.pipeline_parallel.schedules", "forward_backward_no_pipelining")
    wrapped = wrap(config, model)
    wrapped.zero_grad_buffer()
    if keep is not None:
        keep.append(wrapped)

    def forward_step(data: Iterator[Any], chunk: Any) -> tuple[torch.Tensor, LossFunction]:
        return forward(chunk, next(data))

    schedule(
        forward_step_func=forward_step,
        data_iterator=iter(batches),
        model=[wrapped],
        num_microbatches=len(batches),
        seq_length=1,
        micro_batch_size=world.cut.mbs,
        forward_only=False,
    )
    return gradients(model)
