"""What Megatron-Core needs so that its CUDA-only lines run on a CPU. The computed numbers stay the tree's own."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
import torch.distributed as dist
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")


def _is_cuda(value: object) -> bool:
    if isinstance(value, torch.device):
        return bool(value.type == "cuda")
    return isinstance(value, str) and value.split(":")[0] == "cuda"


class CudaToCpu(TorchFunctionMode):  # type: ignore[misc]
    """Maps `device="cuda"`, `.cuda()` and `.to("cuda")` to the CPU while active."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Rewrite the device arguments, then call."""
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.type and len(args) == 1 and not kwargs:
            # Gradient clipping asserts the name of the type that a gradient has on a GPU.
            return str(func(*args)).replace("torch.", "torch.cuda.", 1)
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = CPU
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if func is torch.Tensor.to:
            args = tuple(CPU if _is_cuda(argument) else argument for argument in args)
        return func(*args, **kwargs)


class _Stream:
    """A stream that has nothing to order."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None: ...

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_kwargs: _Stream()

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_details: object) -> None: ...


def on_cpu() -> None:
    """Patch torch for a process without CUDA; call after torch and before the tree is imported."""
    torch.set_num_threads(1)
    cuda: Any = torch.cuda
    cuda.is_available = lambda: False
    cuda.device_count = lambda: 0
    cuda.current_device = lambda: CPU
    cuda.set_device = lambda _device: None
    for name in ("current_stream", "default_stream"):
        setattr(cuda, name, lambda *_args, **_kwargs: _Stream())
    cuda.Stream = cuda.Event = _Stream
    cuda.stream = lambda _stream: contextlib.nullcontext()
    cuda.synchronize = lambda *_args, **_kwargs: None
    cuda.is_current_stream_capturing = lambda: False
    tensor: Any = torch.Tensor
    tensor.cuda = lambda self, *_args, **_kwargs: self

    # Split sizes arrive as CPU tensors: the device-to-host copy that makes lists of them is skipped off CUDA.
    exchange = dist.all_to_all_single

    def all_to_all_single(
        output: Any, source: Any, output_splits: Any = None, input_splits: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        renamed = {"output_split_sizes": output_splits, "input_split_sizes": input_splits}
        for name, given in renamed.items():
            value = kwargs.pop(name, given)
            renamed[name] = value.tolist() if isinstance(value, torch.Tensor) else value
        return exchange(output, source, *renamed.values(), *args, **kwargs)

    distributed: Any = dist
    distributed.all_to_all_single = all_to_all_single
    distributed.all_gather = _gather_of_any_sizes(dist.all_gather)
    for name in ("all_reduce", "reduce_scatter_tensor"):
        setattr(distributed, name, _with_average(getattr(dist, name)))


class _Done:
    """The handle of an exchange that is over."""

    def wait(self) -> None:
        """There is nothing to wait for."""


def _gather_of_any_sizes(gather: Any) -> Any:
    """NCCL gathers tensors of unequal sizes, Gloo refuses: they travel padded to the largest."""

    def all_gather(pieces: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Any:
        largest = max(piece.numel() for piece in pieces)
        if all(piece.numel() == largest for piece in pieces):
            return gather(pieces, tensor, group=group, async_op=async_op)
        padded = tensor.new_zeros(largest)
        padded[: tensor.numel()] = tensor.detach().flatten()
        whole = [torch.empty_like(padded) for _ in pieces]
        gather(whole, padded, group=group)
        for piece, part in zip(pieces, whole, strict=True):
            piece.copy_(part[: piece.numel()].view(piece.shape))
        return _Done() if async_op else None

    return all_gather


def _with_average(reduce: Any) -> Any:
    """NCCL averages in the collective, Gloo only sums: the division follows."""

    def reduced(*args: Any, **kwargs: Any) -> Any:
        operation = kwargs.get("op", next((each for each in args if isinstance(each, dist.ReduceOp.RedOpType)), None))
        if operation != dist.ReduceOp.AVG:
            return reduce(*args, **kwargs)
        args = tuple(dist.ReduceOp.SUM if isinstance(each, dist.ReduceOp.RedOpType) else each for each in args)
        kwargs = {**kwargs, "async_op": False} | ({"op": dist.ReduceOp.SUM} if "op" in kwargs else {})
        reduce(*args, **kwargs)
        args[0].div_(dist.get_world_size(kwargs.get("group")))
        return _Done()

    return reduced
