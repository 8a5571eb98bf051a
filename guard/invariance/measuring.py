"""The worker's work: import the tree, measure the selected cases one by one, write one JSON record each."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guard.invariance.case import Case, Cut, Run
from guard.invariance.family.registry import all_cases
from guard.invariance.launch.records import Emit, Launcher, key_of
from guard.invariance.selection import SelectionError, compile_expression

if TYPE_CHECKING:
    from guard.invariance.launch.answer import Answer


class FatalError(Exception):
    """Nothing can be measured."""


def options(arguments: list[str]) -> argparse.Namespace:
    """Read the command line of the worker."""
    parser = argparse.ArgumentParser(prog="guard.invariance.worker", description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="folder that holds megatron/core")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--ranks", type=int, default=None, help="most ranks a cut may use")
    parser.add_argument("--suite", choices=("essential", "full"), default="essential")
    parser.add_argument("-k", dest="expression", default="", help="words with and, or, not")
    parser.add_argument("--cases", default="", help="names of the only cases, with commas")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a run may take")
    parser.add_argument("--pool", action="store_true", help="persistent ranks on the CPU too")
    parser.add_argument("--scratch", type=Path, default=None, help="folder for stores and stacks")
    parser.add_argument("--output", type=Path, default=None, help="append the records to this file, and go on from it")
    parser.add_argument("--serve", nargs=3, default=None, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def selected(suite: str, expression: str, names: str = "", ranks: int = 0) -> list[tuple[Case, Cut]]:
    """Cases of the suite with their cuts, in order; `names` with commas leaves only these.

    Raises:
        SelectionError: if the expression cannot be read.
    """
    matches = compile_expression(expression) if expression.strip() else lambda _texts: True
    chosen = []
    wanted = set(names.split(",")) if names else None
    for case in all_cases():
        if wanted is not None and case.name not in wanted:
            continue
        for cut in case.cuts_of(suite, ranks):
            if matches([case.name, case.family, case.tier.value, case.code, *cut.label().split()]):
                chosen.append((case, cut))
    return chosen


def measure_cases(chosen: list[tuple[Case, Cut]], launcher: Launcher, ranks: int, emit: Emit) -> None:
    """Measure the cases; every one ends in a record."""

    references: dict[str, Answer] = {}
    for case, cut in chosen:
        started = time.monotonic()
        record: dict[str, Any] = {"type": "case", "case": case.name, "cut": vars(cut), "tolerance": case.tolerance}
        reference_run, run = case.reference_run(cut), case.run(cut)
        emit({**record, "type": "begin"})
        needed = max(run.cut.ranks, reference_run.cut.ranks)
        if needed > ranks:
            record |= {"status": "skipped", "reason": f"needs {needed} ranks, {ranks} given"}
            emit(record)
            continue
        if reference_run.key not in references:
            references[reference_run.key] = _answer(launcher, reference_run)
        reference = references[reference_run.key]
        record |= _result(case, cut, reference, partial(_answer, launcher, run))
        emit(record | {"seconds": round(time.monotonic() - started, 3)})


def _answer(launcher: Launcher, run: Run) -> Answer:
    """The measurement; what goes wrong while the answers are put together is this run's failure and no other's."""
    from guard.invariance.launch.answer import AbandonedError, Failed
    from guard.invariance.launch.rank_process import describe

    try:
        answer: Answer = launcher.measure(run)
        return answer
    except AbandonedError:
        raise
    except Exception as error:
        return Failed(describe(error))


def _result(case: Case, cut: Cut, reference: Answer, measure: Callable[[], Answer]) -> dict[str, Any]:
    """Status and figures of one case at one cut; the cut is measured only if its reference was."""
    from guard.invariance.compare import compare
    from guard.invariance.launch.answer import Failed, Measured, Skipped

    answer = measure() if isinstance(reference, Measured) else reference
    match reference, answer:
        case Measured(), Measured():
            found = compare(case, cut, reference, answer)
            record: dict[str, Any] = {"ratio": found.ratio, "rel": found.rel, "equals": found.equals}
            record |= {"apart": found.apart, "worst": found.worst, "reason": found.reason}
            return {"status": "ok" if found.same else "differs", **record}
        case _, Skipped(reason):
            return {"status": "skipped", "reason": reason}
        case _, Failed(reason):
            which = "" if isinstance(reference, Measured) else "the reference: "
            return {"status": "failed", "reason": which + reason}
    raise AssertionError(answer)


@contextlib.contextmanager
def quiet_output() -> Iterator[int]:
    """Send what the tree prints to standard error; yields the descriptor of the real standard output."""
    sys.stdout.flush()
    real = os.dup(1)
    os.dup2(2, 1)
    try:
        yield real
    finally:
        sys.stdout.flush()
        os.dup2(real, 1)
        os.close(real)


def writer(descriptor: int, output: Path | None) -> Emit:
    """A function that writes one record a line."""

    def emit(record: dict[str, Any]) -> None:
        line = (json.dumps(record) + "\n").encode()
        if output is not None:
            with output.open("ab") as file:
                file.write(line)
        os.write(descriptor, line)

    return emit


def open_tree(tree: Path, device: str) -> tuple[str, str, str]:
    """Import torch, choose the device, import the tree.

    Returns:
        Device, torch's version, the tree's version.

    Raises:
        FatalError: if any of it does not work.
    """
    try:
        import torch
    except ImportError as error:
        raise FatalError(
            f"{sys.executable} has no torch ({error}): give --python an interpreter that has it"
        ) from error
    from guard.invariance.rank import program, shims
    from guard.invariance.rank.tree import TreeError, UnavailableError, check_origin, enter, remedy

    if device == "cuda" and not torch.cuda.is_available():
        raise FatalError("--device cuda, but torch sees no CUDA device")
    # NCCL ranks cannot share a device: with one GPU nearly every cut would be skipped.
    chosen = "cuda" if device == "cuda" or (device == "auto" and torch.cuda.device_count() > 1) else "cpu"
    if chosen == "cpu":
        shims.on_cpu()
    if not (tree / "megatron" / "core").is_dir():
        raise FatalError(f"{tree} has no folder megatron/core")
    try:
        version = enter(tree)
        program.prepare(chosen)
        check_origin(tree)
    except (TreeError, UnavailableError) as error:
        raise FatalError(str(error)) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {error}{remedy(error)}"
        raise FatalError(f"the tree {tree} does not import: {reason}") from error
    return chosen, torch.__version__, version


def main(arguments: list[str]) -> int:
    """Entry point. Returns 0 when every case has a record, 2 when nothing could be measured."""
    given = options(arguments)
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with quiet_output() as descriptor:
        emit = writer(descriptor, given.output)
        try:
            return _serve(given) if given.serve else _measure(given, emit)
        except (FatalError, SelectionError) as error:
            emit({"type": "fatal", "reason": str(error)})
            return 2


def _serve(given: argparse.Namespace) -> int:
    device, _torch, _version = open_tree(given.tree.resolve(), given.device)
    from guard.invariance.launch.serve import serve

    pipe, number, stack = given.serve
    serve(int(pipe), int(number), Path(stack), device, given.timeout)
    return 0


def _scratch(given: Path | None, stack: contextlib.ExitStack) -> Path:
    """The folder for stores and stacks: the one given, else one that goes with the stack."""
    return given or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guard-ranks-")))


def _measure(given: argparse.Namespace, emit: Emit) -> int:
    if int(os.environ.get("SLURM_STEP_NUM_TASKS") or 1) > 1 and "TORCHELASTIC_RUN_ID" not in os.environ:
        raise FatalError(
            "srun started several workers that know nothing of each other: let it start torchrun, one a node"
        )
    # An expression that cannot be read is said before minutes of importing.
    selected(given.suite, given.expression)
    device, torch_version, version = open_tree(given.tree.resolve(), given.device)
    from guard.invariance.launch.answer import AbandonedError
    from guard.invariance.launch.choice import choose

    with contextlib.ExitStack() as stack:
        way = choose(given, device, lambda: _scratch(given.scratch, stack), emit)
        stack.callback(way.launcher.close)
        chosen = selected(given.suite, given.expression, given.cases, way.ranks)
        start = {"type": "start", "device": device, "torch": torch_version, "version": version, "cases": len(chosen)}
        way.emit(start)
        rest = [(case, cut) for case, cut in chosen if key_of(case.name, vars(cut)) not in way.finished]
        try:
            measure_cases(rest, way.launcher, way.ranks, way.emit)
        except AbandonedError:
            return 2
        way.emit({"type": "end"})
    return 0
