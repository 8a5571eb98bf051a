"""Differences between releases and missing optional packages, bridged by asking for the capability, not the version."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import sys
from collections.abc import Callable
from typing import Any

import torch

from guard.invariance.rank.tree import UnavailableError, module


class LayerNorm(torch.nn.LayerNorm):  # type: ignore[misc]
    """A plain norm that marks its parameters for the sequence-parallel sum, as Transformer Engine's does.

    Megatron's fall-back norm refuses sequence parallelism; the numbers of the norm itself are torch's in both.
    """

    def __init__(self, config: Any, hidden_size: int, eps: float = 1e-5, **_kwargs: Any) -> None:
        super().__init__(hidden_size, eps=eps)
        for parameter in self.parameters():
            parameter.sequence_parallel = config.sequence_parallel


def plain_norms() -> None:
    """Put the plain norm wherever a module of the tree holds the fall-back one."""
    try:
        fallback = module("megatron.core.transformer.torch_norm").WrappedTorchNorm
    except (UnavailableError, AttributeError):
        return
    for name, loaded in list(sys.modules.items()):
        if name.startswith("megatron.core"):
            for attribute, value in list(vars(loaded).items()):
                if value is fallback:
                    setattr(loaded, attribute, LayerNorm)


def missing_packages() -> None:
    """Name what the tree expects of Transformer Engine and never defines without it."""
    with contextlib.suppress(UnavailableError):
        moe: Any = module("megatron.core.transformer.moe.moe_utils")
        if not hasattr(moe, "te_general_gemm"):
            moe.te_general_gemm = None
    with contextlib.suppress(UnavailableError):
        mtp: Any = module("megatron.core.transformer.multi_token_prediction")
        if hasattr(mtp, "is_inference_column_parallel_linear"):
            # isinstance against the stand-in for an absent class raises TypeError
            mtp.is_inference_column_parallel_linear = lambda _layer: False


_FORKS: list[Any] = []


def plain_random_state() -> None:
    """Let the tensor-parallel random state fork without CUDA; dropout is off and weights are set by the case."""
    random: Any = module("megatron.core.tensor_parallel.random")
    _FORKS.append(random.CudaRNGStatesTracker.fork)
    random.CudaRNGStatesTracker.fork = lambda _self, *_args, **_kwargs: contextlib.nullcontext()


def random_state_of_cpu() -> None:
    """Let the tree's calls of the CUDA generator reach the CPU's, which is seeded and saved in the same way."""
    cuda: Any = torch.cuda
    cuda.manual_seed = torch.manual_seed
    cuda.get_rng_state = lambda *_args, **_kwargs: torch.get_rng_state()
    cuda.set_rng_state = lambda state, *_args, **_kwargs: torch.set_rng_state(state)
    random: Any = module("megatron.core.tensor_parallel.random")
    random._get_cuda_rng_state = lambda *_args, **_kwargs: torch.get_rng_state()
    random._set_cuda_rng_state = lambda state, *_args, **_kwargs: torch.set_rng_state(state)


def kept_random_fork(tracker: Any, name: str) -> Any:
    """The tree's own fork of a random state, which `plain_random_state` put aside."""
    return _FORKS[0](tracker, name)


def config(overrides: dict[str, Any], cls: type | None = None) -> Any:
    """A `TransformerConfig` of the tree from the fields it knows.

    Raises:
        UnavailableError: if the tree's configuration lacks a field that the case sets to something that matters.
    """
    cls = cls or module("megatron.core.transformer.transformer_config").TransformerConfig
    known = {field.name for field in dataclasses.fields(cls)}
    optional = {"gated_linear_unit", "bias_dropout_fusion", "bias_activation_fusion", "gradient_accumulation_fusion"}
    lacking = [name for name in overrides if name not in known and name not in optional]
    if lacking:
        raise UnavailableError(f"the tree's configuration has no {', '.join(lacking)}")
    return cls(**{name: value for name, value in overrides.items() if name in known})


def accepted(function: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Those of the arguments that the function of this tree takes."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return arguments
    return {name: value for name, value in arguments.items() if name in parameters}
