"""What a run of several ranks ends in, and how the ranks' answers are gathered with a deadline."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from guard.invariance.rank.shard import Shard, join

# Once one rank has failed, the others get this long to say what they know before they are ended.
GRACE_SECONDS = 0.7
_PEER_WORDS = ("connection", "peer", "timed out", "timeout")


@dataclass(frozen=True)
class Measured:
    """Global tensors by name, and how far replicas of each are apart."""

    tensors: dict[str, torch.Tensor]
    apart: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """The tree or machine cannot run it."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """A rank raised, died or hung."""

    reason: str


Answer = Measured | Skipped | Failed


class AbandonedError(Exception):
    """The process that asked for the measurements is gone."""


def listening() -> bool:
    """Whether whoever started this worker still holds its standard input, where that is a pipe."""
    try:
        if not stat.S_ISFIFO(os.fstat(0).st_mode):
            return True
        ready, _, _ = select.select([0], [], [], 0)
        return not ready or bool(os.read(0, 1))
    except OSError:
        return True


@dataclass
class RankHandle:
    """A running rank: its process, the pipe it answers on, and the file that its stack goes to."""

    pid: int
    pipe: int
    stack: Path
    received: bytearray = field(default_factory=bytearray)

    def read(self) -> Any:
        """Read what is there; the whole answer once it has come, None before, `EOFError` text if the pipe closed."""
        block = os.read(self.pipe, 1 << 20)
        if not block:
            return ("died", f"the rank ended without an answer{self.ending()}")
        self.received += block
        if len(self.received) >= 8:
            size = int.from_bytes(self.received[:8], "little")
            if len(self.received) >= 8 + size:
                answer = pickle.loads(bytes(self.received[8 : 8 + size]))
                self.received.clear()
                return answer
        return None

    def ending(self, wait: float = 0.5) -> str:
        """How a process ended that closed its pipe: `: killed by SIGSEGV`, `: exit status 3`; empty if it goes on."""
        deadline = time.monotonic() + wait
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if found is not None:
                    killed = found.si_code != os.CLD_EXITED
                    how = signal.Signals(found.si_status).name if killed else str(found.si_status)
                    return f": killed by {how}" if killed else f": exit status {how}"
            time.sleep(0.01)
        return ""


def send(pipe: int, answer: tuple[str, Any]) -> None:
    """Write one answer with its length before it."""
    body = pickle.dumps(answer)
    view = memoryview(len(body).to_bytes(8, "little") + body)
    while view:
        view = view[os.write(pipe, view) :]


def collect(ranks: list[RankHandle], timeout: float, alive: Callable[[], bool] = listening) -> Answer:
    """Wait for the answers of all ranks; the processes are left as they are.

    Raises:
        AbandonedError: if `alive` says that nobody waits for the result any more.
    """
    deadline = time.monotonic() + timeout
    answers: dict[int, tuple[str, Any]] = {}
    while len(answers) < len(ranks) and (left := deadline - time.monotonic()) > 0:
        waiting = {rank.pipe: number for number, rank in enumerate(ranks) if number not in answers}
        ready, _, _ = select.select(list(waiting), [], [], min(left, 0.5))
        if not alive():
            raise AbandonedError
        for pipe in ready:
            number = waiting[pipe]
            answer = ranks[number].read()
            if answer is not None:
                answers[number] = answer
                if answer[0] != "ok":
                    deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
    return judge(answers, ranks, timeout)


def judge(answers: dict[int, tuple[str, Any]], ranks: list[RankHandle], timeout: float) -> Answer:
    """Turn the answers of the ranks into one."""
    bad = {number: answer for number, answer in answers.items() if answer[0] != "ok"}
    skipped = [answer[1] for answer in bad.values() if answer[0] == "skip"]
    if skipped:
        return Skipped(skipped[0])
    if bad:
        # A rank whose peer has raised sees only a closed connection: prefer the one that says why.
        own = [
            n for n, (_, text) in bad.items() if not any(word in text.splitlines()[0].lower() for word in _PEER_WORDS)
        ]
        number = min(own or bad)
        return Failed(f"rank {number}: {bad[number][1]}")
    if len(answers) < len(ranks):
        silent = [number for number in range(len(ranks)) if number not in answers]
        stack = stack_of(ranks[silent[0]])
        return Failed(
            f"no answer from rank {', '.join(map(str, silent))} within {timeout:g} s; rank {silent[0]} was at: {stack}"
        )
    shards: list[list[Shard]] = [answers[number][1] for number in range(len(ranks))]
    return Measured(*join(shards))


def stack_of(rank: RankHandle, wait: float = 1.0) -> str:
    """The Python stack of a hung rank, innermost call first, through its fault handler."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(rank.pid, signal.SIGUSR1)
    deadline = time.monotonic() + wait
    text = ""
    while time.monotonic() < deadline and not text:
        time.sleep(0.05)
        if rank.stack.exists():
            text = rank.stack.read_text(errors="replace")
    frames = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
    return " < ".join(frame.removeprefix("File ") for frame in frames[:12]) or "no stack"


def end(ranks: list[RankHandle]) -> None:
    """Kill and reap the processes and close their pipes."""
    for rank in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank.pid, signal.SIGKILL)
    for rank in ranks:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(rank.pid, 0)
        with contextlib.suppress(OSError):
            os.close(rank.pipe)
