"""Start the worker under the user's interpreter, read its records, and leave nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guard.invariance import worker

# Import of the tree and of torch on a slow file system.
START_SECONDS = 600.0
TERM_SECONDS = 2.0
_LAUNCHER_VARIABLES = (
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "PYTHONHOME",
)


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure and how.

    Attributes:
        python: the interpreter that has torch.
        device: auto, cpu or cuda.
        ranks: most ranks a cut may use, or None for what the machine has.
        suite: essential or full.
        expression: `-k` words, or empty.
        timeout: seconds that one run of ranks may take.
        cases: names of the only cases to measure, or empty.
        pool: persistent ranks on the CPU too.
    """

    python: str
    device: str = "auto"
    ranks: int | None = None
    suite: str = "essential"
    expression: str = ""
    timeout: float = 60.0
    cases: tuple[str, ...] = ()
    pool: bool = False


def command(request: Request, tree: Path, scratch: Path) -> list[str]:
    """The worker's command line."""
    line = [request.python, "-B", "-W", "ignore", str(Path(worker.__file__).resolve()), "--tree", str(tree)]
    line += ["--device", request.device, "--suite", request.suite, "--timeout", str(request.timeout)]
    line += ["--scratch", str(scratch)]
    line += ["--ranks", str(request.ranks)] if request.ranks else []
    line += ["-k", request.expression] if request.expression else []
    line += ["--cases", ",".join(request.cases)] if request.cases else []
    return line + (["--pool"] if request.pool else [])


def environment(request: Request) -> dict[str, str]:
    """The worker's environment: the caller's, without what a launcher or our own interpreter left there."""
    kept = {name: value for name, value in os.environ.items() if name not in _LAUNCHER_VARIABLES}
    kept |= {"PYTHONDONTWRITEBYTECODE": "1", "TORCHDYNAMO_DISABLE": "1", "OMP_NUM_THREADS": "1"}
    return kept | ({"CUDA_VISIBLE_DEVICES": ""} if request.device == "cpu" else {})


def records(request: Request, tree: Path, scratch: Path) -> Iterator[dict[str, Any]]:
    """Run the worker and yield its records; a worker that cannot go on yields a last `fatal` record with the reason.

    However this generator is left, the worker and its ranks are gone.
    """
    errors = scratch / "worker-errors.txt"
    with errors.open("wb") as stream:
        try:
            process = subprocess.Popen(
                command(request, tree, scratch),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stream,
                env={**environment(request), "TMPDIR": str(scratch)},
                cwd=scratch,
                start_new_session=True,
            )
        except OSError as error:
            yield {"type": "fatal", "reason": f"--python {request.python} cannot be started: {error.strerror}"}
            return
    try:
        ended = False
        for record in _read(process, 2 * request.timeout + 60.0):
            ended = record["type"] in {"end", "fatal"}
            yield record
        if not ended:
            yield {"type": "fatal", "reason": f"the worker stopped early: {_last_words(errors)}"}
    finally:
        stop(process)


def _read(process: subprocess.Popen[bytes], silence: float) -> Iterator[dict[str, Any]]:
    """The records as they come; ends at the end of the output or after too long a silence."""
    assert process.stdout is not None
    pending = b""
    allowed = START_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(allowed):
            block = os.read(process.stdout.fileno(), 1 << 16)
            if not block:
                return
            *lines, pending = (pending + block).split(b"\n")
            for line in lines:
                record = json.loads(line)
                allowed = silence
                yield record


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the worker and every rank of its session."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    deadline = time.monotonic() + TERM_SECONDS
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_words(errors: Path) -> str:
    lines = [line for line in errors.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it wrote nothing"
