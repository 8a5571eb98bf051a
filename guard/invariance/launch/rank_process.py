"""The inside of a rank process, however it was started."""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.case import Run
from guard.invariance.rank.program import perform
from guard.invariance.rank.tree import UnavailableError
from guard.invariance.rank.world import join

_PR_SET_PDEATHSIG = 1


def settle(stack: Path) -> None:
    """Die with the parent, ignore the terminal's interrupt (the parent ends us), and write the stack on SIGUSR1."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The file stays open for the life of the process: the handler writes to its descriptor from any point.
    descriptor = os.open(stack, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    faulthandler.register(signal.SIGUSR1, file=descriptor, all_threads=False)


def attempt(run: Run, device: torch.device) -> tuple[str, Any]:
    """Perform a run: `("ok", shards)`, `("skip", reason)` or `("error", reason)`."""
    try:
        return ("ok", perform(run, device))
    except UnavailableError as lack:
        return ("skip", str(lack))
    except Exception as error:
        return ("error", describe(error))


def join_and_attempt(
    run: Run, device: torch.device, store: dist.Store, place: tuple[int, int], limit: float
) -> tuple[str, Any]:
    """Join the default group at `place` (rank, size) and perform."""
    backend = "nccl" if device.type == "cuda" else "gloo"
    try:
        join(backend, store, *place, limit)
    except Exception as error:
        return ("error", describe(error))
    return attempt(run, device)


def describe(error: BaseException) -> str:
    """The error in one line, with the innermost place outside torch."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}torch{os.sep}" not in frame.filename] or frames
    place = f" at {own[-1].filename}:{own[-1].lineno} in {own[-1].name}" if own else ""
    first = (str(error).strip() or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first}{place}"
