"""Which way ranks come to be here: torchrun's if it started us, a pool for GPUs, else forks."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from guard.invariance.launch.fork import Forked
from guard.invariance.launch.pool import Pool
from guard.invariance.launch.records import Emit, Launcher, resume
from guard.invariance.launch.spread import Spread, launched

DEFAULT_RANKS = 4
# The widest cut of the suite uses eight; more GPUs than this would only be held.
MOST_RANKS = 8


@dataclass(frozen=True)
class Way:
    """How this worker measures.

    Attributes:
        launcher: what measures a run.
        ranks: how many ranks a cut may use.
        emit: who writes records; only one rank of a torchrun does.
        finished: keys of what an earlier start of the same torchrun has measured.
    """

    launcher: Launcher
    ranks: int
    emit: Emit
    finished: set[str] = field(default_factory=set)


def choose(given: argparse.Namespace, device: str, scratch: Callable[[], Path], emit: Emit) -> Way:
    """Choose by how the worker was started, the device and the options; `scratch` makes a folder if one is needed."""
    if launched():
        spread = Spread(device, given.timeout)
        finished = spread.agree("finished", resume(given.output, emit) if spread.rank == 0 else None)
        return Way(
            spread, min(spread.ranks, given.ranks or spread.ranks), emit if spread.rank == 0 else _silent, finished
        )
    if device == "cuda" or given.pool:
        there = torch.cuda.device_count() if device == "cuda" else MOST_RANKS
        wanted = given.ranks or (there if device == "cuda" else DEFAULT_RANKS)
        ranks = min(wanted, there, MOST_RANKS)
        worker = Path(__file__).parents[1] / "worker.py"
        command = [str(worker), "--tree", str(given.tree.resolve()), "--device", device]
        return Way(Pool([*command, "--timeout", str(given.timeout)], ranks, scratch(), given.timeout), ranks, emit)
    return Way(Forked(scratch(), given.timeout), given.ranks or DEFAULT_RANKS, emit)


def _silent(_record: dict[str, Any]) -> None:
    """What ranks other than the first write."""
