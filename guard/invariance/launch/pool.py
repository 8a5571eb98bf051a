"""GPUs: ranks are started once and stay; groups are built and taken down for every run (no fork after CUDA starts)."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from guard.invariance.case import Run
from guard.invariance.launch.answer import Answer, Failed, Measured, RankHandle, Skipped, collect, send

# Starting a rank imports torch and the tree and opens a device.
START_SECONDS = 300.0


@dataclass
class _Member:
    process: subprocess.Popen[bytes]
    handle: RankHandle

    def tell(self, order: tuple[object, ...]) -> None:
        """Send one order to the rank."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            send(self.process.stdin.fileno(), ("order", order))


class Pool:
    """Measures runs on persistent ranks; one that fails or hangs costs the pool, and the next run gets a new one."""

    def __init__(self, command: list[str], ranks: int, scratch: Path, timeout: float) -> None:
        self.command = command
        self.ranks = ranks
        self.scratch = scratch
        self.timeout = timeout
        self._members: list[_Member] = []
        self._size = 0
        self._numbers = count()

    def measure(self, run: Run) -> Answer:
        """Perform the run on the first ranks of the pool."""
        if not self._members:
            started = self._start()
            if started is not None:
                return started
        size = run.cut.ranks
        if size != self._size:
            left = self._ask(self._members, ("leave",), self.timeout)
            if not isinstance(left, Measured):
                return self._lose(left)
            self._size = size
            self._store = self.scratch / f"store{next(self._numbers)}"
        orders = [("run", run, str(self._store), number, size) for number in range(size)]
        answer = self._ask_each(self._members[:size], orders, self.timeout)
        return answer if isinstance(answer, Measured | Skipped) else self._lose(answer)

    def _start(self) -> Answer | None:
        for number in range(self.ranks):
            reader, writer = os.pipe()
            stack = self.scratch / f"pool-stack{number}-{next(self._numbers)}"
            process = subprocess.Popen(
                [sys.executable, "-B", *self.command, "--serve", str(writer), str(number), str(stack)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=(writer,),
            )
            os.close(writer)
            self._members.append(_Member(process, RankHandle(process.pid, reader, stack)))
        self._size = 0
        ready = collect([member.handle for member in self._members], START_SECONDS)
        return None if isinstance(ready, Measured) else self._lose(ready)

    def _ask(self, members: list[_Member], order: tuple[object, ...], timeout: float) -> Answer:
        return self._ask_each(members, [order] * len(members), timeout)

    def _ask_each(self, members: list[_Member], orders: Sequence[tuple[object, ...]], timeout: float) -> Answer:
        for member, order in zip(members, orders, strict=True):
            member.tell(order)
        return collect([member.handle for member in members], timeout)

    def _lose(self, answer: Answer) -> Answer:
        self.close()
        return answer if not isinstance(answer, Measured) else Failed("the pool was lost")

    def close(self) -> None:
        """End every rank of the pool."""
        for member in self._members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member.process.pid, signal.SIGKILL)
        for member in self._members:
            if member.process.stdin is not None:
                with contextlib.suppress(OSError):
                    member.process.stdin.close()
            member.process.wait()
            with contextlib.suppress(OSError):
                os.close(member.handle.pipe)
        self._members = []


def next_order(stream: int) -> tuple[object, ...] | None:
    """Read one order from a descriptor; None at its end."""
    head = _exactly(stream, 8)
    body = _exactly(stream, int.from_bytes(head, "little")) if head else b""
    order: tuple[object, ...] | None = pickle.loads(body)[1] if body else None
    return order


def _exactly(stream: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        block = os.read(stream, size - len(data))
        if not block:
            return b""
        data += block
    return data
