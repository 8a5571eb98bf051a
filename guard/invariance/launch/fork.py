"""CPU: the tree is imported once, then every run forks its ranks. Fresh state a run, a tenth of a second a rank."""

from __future__ import annotations

import os
import time
from itertools import count
from pathlib import Path

import torch
import torch.distributed as dist

from guard.invariance.case import Run
from guard.invariance.launch.answer import Answer, RankHandle, collect, end, send
from guard.invariance.launch.rank_process import join_and_attempt, settle


class Forked:
    """Measures runs by forking; the tree must have been imported in this process."""

    def __init__(self, scratch: Path, timeout: float) -> None:
        self.scratch = scratch
        self.timeout = timeout
        self._numbers = count()

    def measure(self, run: Run) -> Answer:
        """Fork the ranks of the run, wait for them, end them."""
        folder = self.scratch / f"run{next(self._numbers)}"
        folder.mkdir()
        ranks: list[RankHandle] = []
        try:
            for number in range(run.cut.ranks):
                ranks.append(self._fork(run, number, folder))
            return collect(ranks, self.timeout)
        finally:
            end(ranks)
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()

    def _fork(self, run: Run, number: int, folder: Path) -> RankHandle:
        reader, writer = os.pipe()
        stack = folder / f"stack{number}"
        pid = os.fork()
        if pid:
            os.close(writer)
            return RankHandle(pid, reader, stack)
        try:
            settle(stack)
            store = dist.FileStore(str(folder / "store"), run.cut.ranks)
            device = torch.device("cpu")
            send(writer, join_and_attempt(run, device, store, (number, run.cut.ranks), 2 * self.timeout))
            # A peer may still be receiving from this rank: stay until the parent ends all of them.
            time.sleep(self.timeout)
        finally:
            os._exit(0)

    def close(self) -> None:
        """Nothing is kept between runs."""
