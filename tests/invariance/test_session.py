"""The worker from outside: what it says without torch, and that nothing stays when it is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guard.invariance import worker
from guard.invariance.session import Request, command, environment, records

WORKER = Path(worker.__file__)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def executable(file: Path, text: str) -> str:
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


def test_the_worker_needs_nothing_but_the_standard_library_to_say_that_torch_is_missing(empty_tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(WORKER), "--tree", str(empty_tree)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    record = json.loads(done.stdout)
    assert done.returncode == 2
    assert record["type"] == "fatal"
    assert "has no torch" in record["reason"]
    assert not list(empty_tree.rglob("__pycache__"))


def test_an_interpreter_that_is_not_there_is_said(tmp_path: Path, empty_tree: Path) -> None:
    (record,) = records(Request(str(tmp_path / "nowhere")), empty_tree, tmp_path)
    assert record["type"] == "fatal"
    assert "cannot be started" in record["reason"]


def test_a_worker_that_dies_is_said_with_its_last_words(tmp_path: Path, empty_tree: Path) -> None:
    python = executable(tmp_path / "python", '#!/bin/sh\necho \'{"type": "start"}\'\necho Segmentation fault >&2\n')
    found = list(records(Request(python), empty_tree, tmp_path))
    assert [record["type"] for record in found] == ["start", "fatal"]
    assert "Segmentation fault" in found[1]["reason"]


def test_leaving_ends_the_worker_and_its_ranks(tmp_path: Path, empty_tree: Path) -> None:
    script = """#!/bin/sh
trap "" TERM
sleep 1000 &
echo "{\\"type\\": \\"start\\", \\"pids\\": [$$, $!]}"
wait
sleep 1000
"""
    python = executable(tmp_path / "python", script)
    stream = records(Request(python), empty_tree, tmp_path)
    pids = next(stream)["pids"]
    assert all(alive(pid) for pid in pids)
    stream.close()
    deadline = time.monotonic() + 5
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in pids)


def test_a_silent_worker_is_given_up(tmp_path: Path, empty_tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard.invariance.session.START_SECONDS", 0.3)
    python = executable(tmp_path / "python", "#!/bin/sh\nsleep 1000\n")
    (record,) = records(Request(python), empty_tree, tmp_path)
    assert record["type"] == "fatal"


def test_the_tool_does_not_put_its_own_packages_on_the_path_of_the_worker(tmp_path: Path) -> None:
    request = Request("python3", "cpu")
    line = command(request, tmp_path, tmp_path)
    assert line[:2] == ["python3", "-B"]
    made = environment(request)
    assert made.get("PYTHONPATH") == os.environ.get("PYTHONPATH")
    assert made["CUDA_VISIBLE_DEVICES"] == ""
    assert not {"RANK", "WORLD_SIZE", "PYTHONHOME"} & set(made)


def test_workers_that_srun_started_alone_are_sent_to_torchrun(empty_tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-B", str(WORKER), "--tree", str(empty_tree)],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, "SLURM_STEP_NUM_TASKS": "2"},
    )
    assert done.returncode == 2
    assert "let it start torchrun" in json.loads(done.stdout)["reason"]
