"""Two streams of checks: what happens when the process of one of them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from guard.commands import streams
from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = {"loss.py": "def scale(loss, count):\n    return loss\n\n\ndef log(loss):\n    print(loss)\n"}
THEIRS = {"loss.py": BASE["loss.py"].replace("return loss", "return loss * count")}
OURS = {"loss.py": BASE["loss.py"].replace("print(loss)", "print('loss', loss)")}

SLOW = """
import os, signal, time
from guard import cli
from guard.checks.breaks.processes import ForkedTask

def work():
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.01)  # short: Python runs a handler between two instructions

def wait():
    ForkedTask(work, alone=False)
    print("waiting", flush=True)
    work()

cli.guard.main = lambda standalone_mode: wait()
cli.main()
"""


def test_a_stream_whose_process_dies_fails_its_checks_and_leaves_the_others(
    workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sync(workshop, BASE, OURS, THEIRS, OURS)
    here, run = os.getpid(), streams.run_check

    def dies(name: str, context: object) -> object:
        if os.getpid() != here:
            os._exit(9)
        return run(name, context)  # type: ignore[arg-type]

    monkeypatch.setattr(streams, "run_check", dies)
    answer = guard("check", "--merge", "HEAD", "--jobs", "2", "-o", "json")
    states = {outcome["check"]: (outcome["status"], outcome["reason"]) for outcome in answer.report["outcomes"]}
    assert answer.status == 2
    for check in ("lost", "lint"):
        assert states[check][0] == "failed"
        assert "ended without an answer" in states[check][1]
    assert states["broken"] == ("ran", None)


def test_both_streams_give_what_one_process_gives(workshop: Workshop, guard: Guard) -> None:
    make_sync(workshop, BASE, OURS, THEIRS, OURS)
    one, two = (guard("check", "--merge", "HEAD", "--jobs", jobs, "-o", "json") for jobs in ("1", "2"))
    assert "GRD201" in [finding["code"] for finding in one.findings()]
    assert one.findings() == two.findings()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_the_processes_end_at_once_and_say_nothing(number: signal.Signals) -> None:
    command = [sys.executable, "-c", SLOW]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting\n"
    started = time.monotonic()
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=50)
    assert (process.returncode, errors.strip()) == (128 + number, b"")
    assert time.monotonic() - started < 40
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
