"""Fresh processes for every cut: a framework that keeps global state starts anew each time.

They are forked from one process that has imported the user's code and run none of it, so that a cut costs no import.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import io
import multiprocessing
import os
import pickle
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import torch

from guard.invariance.training.jobs import Bench, Job, StepFailedError, Tensors, measure

GRACE_SECONDS = 2.0  # after one rank failed, the others get this long to say what they know
MOST_STACKS = 4  # of ranks that hang: one is in the code at fault, the others wait for it
IMPORT_SECONDS = 300.0  # a framework may take long to import on a loaded machine


class Ranks:
    """Runs jobs of one bench; a context manager, since it holds a process."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __enter__(self) -> Ranks:
        context = multiprocessing.get_context("spawn")
        self._orders, theirs = context.Pipe()
        self._process = context.Process(target=_template, args=(self._bench.payload(), theirs))
        self._process.start()
        theirs.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._orders.close()
        self._process.join(GRACE_SECONDS)
        self._process.kill()
        self._process.join()

    def run(self, jobs: Sequence[Job]) -> list[list[Tensors]]:
        """Run the step for some jobs of as many ranks each, one after the other in the same fresh processes.

        Returns:
            For each job each rank's tensors by name.

        Raises:
            StepFailedError: a rank raised, died or gave no answer in time.
        """
        answer: tuple[str, Any] = (
            "failed",
            "the process that imports the step ended (a script must call check below `if __name__`)",
        )
        with contextlib.suppress(EOFError, OSError):
            self._orders.send(tuple(jobs))
            if self._orders.poll(IMPORT_SECONDS + self._bench.timeout * 2):
                answer = self._orders.recv()
        if answer[0] != "ok":
            raise StepFailedError(answer[1])
        ranks = [torch.load(io.BytesIO(packed), weights_only=True) for packed in answer[1]]
        return [list(of_ranks) for of_ranks in zip(*ranks, strict=True)]


def _template(payload: bytes, orders: Connection) -> None:
    """The process that ranks are forked from, from its start until nobody gives orders any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update({"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled"})
    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        importlib.import_module("torch._dynamo")  # DDP and optimizers import it at first use: two seconds a rank
    failure = None
    try:
        bench: Bench = pickle.loads(payload)
    except BaseException as error:
        failure = ("failed", f"the step cannot be imported in another process: {type(error).__name__}: {error}")
    with contextlib.suppress(EOFError, OSError):
        while True:
            jobs = orders.recv()
            orders.send(failure or _serve(bench, jobs))


@dataclass(frozen=True)
class _Forked:
    pid: int
    answers: Connection
    stack: Path


def _serve(bench: Bench, jobs: tuple[Job, ...]) -> tuple[str, Any]:
    """Fork the ranks of some jobs and gather what they say."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="guard-step-") as folder:
        forked = [_fork(bench, jobs, rank, port, Path(folder)) for rank in range(jobs[0].ranks)]
        try:
            return _gather(forked, bench.timeout)
        finally:
            for rank in forked:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank.pid, signal.SIGKILL)
                os.waitpid(rank.pid, 0)
                rank.answers.close()


def _fork(bench: Bench, jobs: tuple[Job, ...], rank: int, port: int, folder: Path) -> _Forked:
    ours, theirs = Pipe(duplex=False)
    stack = folder / f"stack{rank}"
    pid = os.fork()
    if pid:
        theirs.close()
        return _Forked(pid, ours, stack)
    try:
        ours.close()
        faulthandler.register(signal.SIGUSR1, file=os.open(stack, os.O_CREAT | os.O_WRONLY), all_threads=False)
        os.environ.update(_variables(rank, jobs[0].ranks, port))
        _answer(bench, jobs, rank, folder, theirs)
    finally:
        os._exit(0)


def _answer(bench: Bench, jobs: tuple[Job, ...], rank: int, folder: Path, answers: Connection) -> None:
    try:
        stream = io.BytesIO()  # as bytes: tensors would travel as shared memory, which ends with this process
        torch.save([measure(bench, job, rank, f"{folder}/store{number}") for number, job in enumerate(jobs)], stream)
        answers.send(("ok", stream.getvalue()))
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        answers.send(("error", f"{type(error).__name__}: {error}{at}"))


def _gather(ranks: Sequence[_Forked], timeout: float) -> tuple[str, Any]:
    """`("ok", each rank's bytes)`, or `("failed", reason)`."""
    answers: dict[int, tuple[str, Any]] = {}
    deadline = time.monotonic() + timeout
    while len(answers) < len(ranks) and (left := deadline - time.monotonic()) > 0:
        waiting = {ranks[rank].answers: rank for rank in range(len(ranks)) if rank not in answers}
        for ready in wait(list(waiting), left):
            assert isinstance(ready, Connection)
            rank = waiting[ready]
            try:
                answers[rank] = ready.recv()
            except EOFError:
                answers[rank] = ("died", "the process ended without an answer")
            if answers[rank][0] != "ok":
                deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
    raised = [(rank, text) for rank, (kind, text) in answers.items() if kind != "ok"]
    if raised:
        # A rank whose peer raised sees a closed connection: the one that says why speaks.
        own = [pair for pair in raised if not any(word in pair[1].lower() for word in ("connection", "peer", "gloo"))]
        rank, text = min(own or raised)
        return "failed", f"rank {rank}: {text}"
    silent = [rank for rank in range(len(ranks)) if rank not in answers]
    if silent:
        at = "; ".join(f"rank {rank} was at {_stack(ranks[rank])}" for rank in silent[:MOST_STACKS])
        return "failed", f"no answer from rank {', '.join(map(str, silent))} within {timeout:g} s; {at}"
    return "ok", [answers[rank][1] for rank in range(len(ranks))]


def _variables(rank: int, ranks: int, port: int) -> dict[str, str]:
    """What torchrun would set: frameworks look for it."""
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _stack(rank: _Forked) -> str:
    """Where a silent rank is, innermost call first."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(rank.pid, signal.SIGUSR1)
    deadline = time.monotonic() + 1.0
    while time.monotonic() < deadline and not (rank.stack.exists() and rank.stack.read_text(errors="replace")):
        time.sleep(0.05)
    text = rank.stack.read_text(errors="replace") if rank.stack.exists() else ""
    frames = [line.strip().removeprefix("File ") for line in text.splitlines() if line.strip().startswith("File ")]
    return " < ".join(frames[:8]) or "no stack"
