"""What a person sees who waits: counted merges, their results as they come, and a run that goes on where it stopped."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard

BASE = "def aux(probs, bsz):\n    count = probs.shape[0]\n    return probs.sum() / count\n"
MERGES = 3


@pytest.fixture
def several(workshop: Workshop) -> str:
    """Several syncs of main into dev, each of which loses a fix; the start of the range."""
    workshop.commit("base", {f"m{number}.py": BASE for number in range(MERGES)})
    start = workshop.git("rev-parse", "HEAD")
    workshop.branch("dev")
    for number in range(MERGES):
        workshop.switch("main")
        fixed = BASE.replace("shape[0]", "shape[0] * bsz")
        workshop.commit(f"Fix the count (#{100 + number})", {f"m{number}.py": fixed})
        workshop.switch("dev")
        workshop.commit("dev's own", {f"d{number}.py": f"d = {number}\n"})
        workshop.merge("main", {f"m{number}.py": BASE}, f"Sync {number}")
    return start


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "guard", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_each_merge_is_told_and_counted_as_soon_as_it_is_judged(workshop: Workshop, several: str) -> None:
    done = run(workshop.folder, "check", "--since", several, "-o", "json", "--jobs", "1")
    counted = re.findall(r"^\[(\d)/(\d)\] [0-9a-f]{10} Sync (\d): \d errors?.*#(\d+)", done.stderr, re.MULTILINE)
    assert counted == [(str(number + 1), "3", str(number), str(100 + number)) for number in range(MERGES)]
    assert len(re.findall(r"\(\d+:\d\d:\d\d left\)", done.stderr)) == MERGES - 1
    assert len(json.loads(done.stdout)["merges"]) == MERGES


@pytest.mark.parametrize("verb", ["check", "history"])
def test_quiet_says_nothing_beside_the_report(workshop: Workshop, several: str, verb: str) -> None:
    which = ["check", "--since", several] if verb == "check" else ["history", f"{several}..dev"]
    done = run(workshop.folder, *which, "-q", "--jobs", "1", "-o", "text", "-o", "json=out.json")
    assert done.stderr == ""
    assert done.returncode == 1
    loud = run(workshop.folder, *which, "--jobs", "1", "-o", "text", "-o", "json=out.json")
    assert loud.stderr.count("[1/3]") == 1
    assert "wrote out.json" in loud.stderr
    assert len(loud.stdout) > len(done.stdout)
    for number in range(MERGES):
        assert f"#{100 + number}" in done.stdout


def test_a_stopped_run_says_where_and_goes_on_from_there(workshop: Workshop, several: str, guard: Guard) -> None:
    arguments = ["check", "--since", several, "-o", "json", "--jobs", "1"]
    started = subprocess.Popen(
        [sys.executable, "-m", "guard", *arguments], cwd=workshop.folder, stderr=subprocess.PIPE, text=True
    )
    assert started.stderr is not None
    assert started.stderr.readline().startswith("[1/3]")
    started.send_signal(signal.SIGINT)
    rest = started.stderr.read()
    assert started.wait() == 130
    assert re.search(r"stopped after [12] of 3 merges; .* the same command goes on from there", rest)
    remembered = guard(*arguments, folder=workshop.folder)
    afresh = guard(*arguments, "--no-cache")
    assert remembered.report["findings"] == afresh.report["findings"]
    assert [m["repaired"] for m in remembered.report["merges"]] == [m["repaired"] for m in afresh.report["merges"]]


@pytest.mark.parametrize("verb", ["check", "history"])
def test_a_terminal_sees_a_bar_with_the_count_and_the_time_left(workshop: Workshop, several: str, verb: str) -> None:
    """The line is shown for long work only, so the patience is what a slow start takes: the verb itself is real."""
    which = ["check", "--since", several] if verb == "check" else ["history", f"{several}..dev"]
    ours, theirs = pty.openpty()
    impatient = "import guard.commands.progress as p; p._PATIENCE_SECONDS = 0; from guard.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", impatient, *which, "--jobs", "1", "--no-cache"],
        cwd=workshop.folder,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ) as started:
        os.close(theirs)
        seen = b""
        while True:
            try:
                seen += os.read(ours, 65536)
            except OSError:
                break
        os.close(ours)
    assert started.returncode == 1
    text = seen.decode("utf-8", "replace")
    for number in range(1, MERGES + 1):
        assert f"{number}/{MERGES}" in text
    assert re.search(r"\d:\d\d:\d\d", text)
    assert "Sync 0" in text
