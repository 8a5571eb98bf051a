"""What a training step is told of the cut it runs under, and the gradients that are taken from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from guard.invariance.training.batches import Batch


@dataclass(frozen=True)
class Share:
    """One rank's part of one cut.

    Attributes:
        rank: data-parallel rank, from 0.
        dp: data-parallel ranks. `torch.distributed` is initialised over them, also where there is one.
        micro_batch_size: samples in one micro-batch.
        accumulation: micro-batches of this rank until the optimizer steps.
        micro_batches: they, in order; this rank's alone.
        batch: the whole global batch, for a framework that shards its data set itself.
        device: where the step should run.
    """

    rank: int
    dp: int
    micro_batch_size: int
    accumulation: int
    micro_batches: list[Any]
    batch: Batch
    device: torch.device


Quantities = Mapping[str, torch.Tensor]
Step = Callable[[Share], torch.nn.Module | Quantities]


class NothingMeasuredError(Exception):
    """A step left no gradient to compare."""


class GradientsAtStep:
    """The gradients of every optimizer at its first `step()`: most frameworks clear them before control comes back.

    It hooks `torch.optim.optimizer.register_optimizer_step_pre_hook`, so it also sees a step inside a trainer.
    """

    def __init__(self) -> None:
        self._seen: dict[int, torch.Tensor] = {}
        self._handle: Any = None

    def __enter__(self) -> GradientsAtStep:
        self._handle = register_optimizer_step_pre_hook(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def _note(self, optimizer: torch.optim.Optimizer, *_: object) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and id(parameter) not in self._seen:
                    self._seen[id(parameter)] = _whole(parameter.grad)

    def of(self, result: torch.nn.Module | Quantities) -> dict[str, torch.Tensor]:
        """Name the gradients of a model; take a mapping as it stands.

        A gradient seen at an optimizer's step goes before what `.grad` holds when the step returns.

        Raises:
            NothingMeasuredError: no parameter has a gradient, or the step gave back neither a model nor tensors.
        """
        if isinstance(result, torch.nn.Module):
            found = {
                _plain(name): self._seen.get(id(parameter), parameter.grad)
                for name, parameter in result.named_parameters()
            }
            tensors = {name: _whole(tensor) for name, tensor in found.items() if tensor is not None}
            if not tensors:
                raise NothingMeasuredError("no parameter of the model that the step returned has a gradient")
            return tensors
        if not isinstance(result, Mapping) or not result:
            raise NothingMeasuredError("the step must return its model, or tensors by name")
        return {name: _whole(torch.as_tensor(tensor)) for name, tensor in result.items()}


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor as float64 on the CPU; of a sharded one (DTensor of FSDP2, TP) all of it."""
    full = getattr(tensor, "full_tensor", None)
    return (full() if full is not None else tensor).detach().to("cpu", torch.float64, copy=True)


def _plain(name: str) -> str:
    """A parameter's name without what DDP, FSDP, `torch.compile` and activation checkpointing put before it."""
    for prefix in ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module."):
        name = name.removeprefix(prefix).replace(f".{prefix}", ".")
    return name
