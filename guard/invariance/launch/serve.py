"""The inside of a rank of the pool: take orders from standard input, answer on a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.case import Run
from guard.invariance.launch.answer import send
from guard.invariance.launch.pool import next_order
from guard.invariance.launch.rank_process import attempt, describe, settle
from guard.invariance.rank.world import join


def serve(pipe: int, number: int, stack: Path, device_kind: str, timeout: float) -> None:
    """Answer orders until standard input ends; the tree must have been imported."""
    settle(stack)
    device = torch.device("cuda", number) if device_kind == "cuda" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    send(pipe, ("ok", []))
    while (order := next_order(0)) is not None:
        send(pipe, _obey(order, device, timeout))


def _obey(order: tuple[Any, ...], device: torch.device, timeout: float) -> tuple[str, Any]:
    if order[0] == "leave":
        if dist.is_initialized():
            dist.destroy_process_group()
        return ("ok", [])
    run: Run = order[1]
    if not dist.is_initialized():
        try:
            store = dist.FileStore(order[2], order[4])
            join("nccl" if device.type == "cuda" else "gloo", store, order[3], order[4], 2 * timeout)
        except Exception as error:
            return ("error", describe(error))
    return attempt(run, device)
