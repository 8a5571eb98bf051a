"""torchrun: every rank of every node walks the same list of cases; rank 0 compares and writes the records.

Answers travel through the launcher's store, so a rank that raises tells rank 0 at once. A rank that hangs ends itself
after its time-out; torchrun then restarts all of them, and with `--output` they go on behind the case that hung.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import time
from datetime import timedelta
from itertools import count
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from guard.invariance.case import Run
from guard.invariance.launch.answer import Answer, Failed, Measured, Skipped
from guard.invariance.launch.rank_process import join_and_attempt
from guard.invariance.rank.shard import join


def launched() -> bool:
    """Whether this process was started by torchrun."""
    return "TORCHELASTIC_RUN_ID" in os.environ


class Spread:
    """Measures runs on the ranks that torchrun started; every rank must ask for the same runs in the same order."""

    def __init__(self, device: str, timeout: float) -> None:
        self.timeout = timeout
        store, self.rank, self.ranks = next(rendezvous("env://"))
        restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        self.store = dist.PrefixStore(f"guard/{restart}", store)
        self.store.set_timeout(timedelta(seconds=2 * timeout))
        self.device = torch.device("cpu")
        if device == "cuda":
            self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(self.device)
        self._numbers = count()

    def agree(self, name: str, value: Any) -> Any:
        """Give every rank what rank 0 says."""
        if self.rank == 0:
            self.store.set(name, pickle.dumps(value))
        return pickle.loads(self.store.get(name))

    def measure(self, run: Run) -> Answer:
        """Perform the run on the first ranks; the others wait. Only rank 0 gets the tensors."""
        name = f"run{next(self._numbers)}"
        if self.rank < run.cut.ranks:
            faulthandler.dump_traceback_later(self.timeout, exit=True)
            place = (self.rank, run.cut.ranks)
            group = dist.PrefixStore(f"{name}/group", self.store)
            answer = join_and_attempt(run, self.device, group, place, 2 * self.timeout)
            self.store.set(f"{name}/{self.rank}", pickle.dumps(answer))
            if self.rank == 0:
                verdict = self._judge(name, run.cut.ranks)
                self.store.set(f"{name}/verdict", pickle.dumps(verdict if not isinstance(verdict, Measured) else None))
            else:
                verdict = self._verdict(name)
            if dist.is_initialized():
                dist.destroy_process_group()
            faulthandler.cancel_dump_traceback_later()
            return verdict
        return self._verdict(name)

    def _verdict(self, name: str) -> Answer:
        told = pickle.loads(self.store.get(f"{name}/verdict"))
        return Measured({}) if told is None else told

    def _judge(self, name: str, size: int) -> Answer:
        shards = []
        for number in range(size):
            kind, body = pickle.loads(self.store.get(f"{name}/{number}"))
            if kind == "skip":
                return Skipped(body)
            if kind == "error":
                return Failed(f"rank {number}: {body}")
            shards.append(body)
        return Measured(*join(shards))

    def close(self) -> None:
        """Let every rank come to the end before rank 0, which may hold the store, leaves."""
        self.store.add("done", 1)
        deadline = time.monotonic() + self.timeout
        while self.rank == 0 and self.store.add("done", 0) < self.ranks and time.monotonic() < deadline:
            time.sleep(0.05)
