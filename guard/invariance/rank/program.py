"""What one rank does for one run."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import torch

from guard.invariance.case import Run
from guard.invariance.rank import adapt, shims
from guard.invariance.rank.programs import PROGRAMS
from guard.invariance.rank.shard import Shard
from guard.invariance.rank.world import build_groups, leave_groups

NEEDED = ("parallel_state", "distributed", "pipeline_parallel.schedules")
# Imported before the first fork where the tree has them; a case that misses one is skipped with the reason.
WANTED = ("transformer.moe.router", "models.gpt.gpt_model", "models.gpt.gpt_layer_specs")


def prepare(device: str) -> None:
    """Import what programs need and bridge what the tree lacks; once a process, before any run.

    Raises:
        ImportError: the tree lacks what every program needs.
    """
    for name in NEEDED:
        importlib.import_module(f"megatron.core.{name}")
    for name in WANTED:
        with contextlib.suppress(ImportError):
            importlib.import_module(f"megatron.core.{name}")
    adapt.missing_packages()
    adapt.plain_random_state()
    adapt.plain_norms()
    if device == "cpu":
        torch.set_num_threads(1)
        adapt.random_state_of_cpu()
    else:
        # A float32 case compares float32 numbers.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False


def perform(run: Run, device: torch.device) -> list[Shard]:
    """Measure one run on this rank; the default group of the run's ranks must exist.

    Returns:
        This rank's pieces.
    """
    program: Any = getattr(importlib.import_module(PROGRAMS[run.program]), run.program)
    world = build_groups(run.cut, device)
    try:
        if device.type == "cpu":
            with shims.CudaToCpu():
                return list(program(world, run.options))
        return list(program(world, run.options))
    finally:
        leave_groups()
