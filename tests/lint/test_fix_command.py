"""`guard check --fix` and `--diff` on files of a folder, through the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BAD = b"import torch\n\n\ndef start(comm):\n    comm.wait_stream(torch.cuda.default_stream())\n"
GOOD = BAD.replace(b"default_stream", b"current_stream")


def guard(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root), "XDG_CACHE_HOME": str(folder / "cache")}
    command = [sys.executable, "-m", "guard", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_diff_shows_a_patch_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(BAD)
    done = guard(tmp_path, "check", "--diff", "a.py")
    assert done.returncode == 1
    assert done.stdout.startswith("--- a/a.py\n+++ b/a.py\n")
    assert "+    comm.wait_stream(torch.cuda.current_stream())" in done.stdout
    assert (tmp_path / "a.py").read_bytes() == BAD
    (tmp_path / "a.py").write_bytes(GOOD)
    assert guard(tmp_path, "check", "--diff", "a.py").returncode == 0


def test_fix_writes_in_place_and_keeps_permissions(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(BAD)
    file.chmod(0o755)
    (tmp_path / "broken.py").write_bytes(BAD + b"def (:\n")
    done = guard(tmp_path, "check", "--fix", ".")
    assert file.read_bytes() == GOOD
    assert file.stat().st_mode & 0o777 == 0o755
    assert "fixed a.py" in done.stderr
    assert "broken.py: not fixed" in done.stderr
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_a_range_cannot_be_fixed(tmp_path: Path, option: str) -> None:
    assert guard(tmp_path, "check", option, "--since", "HEAD~1").returncode == 2


def test_explain_a_finding_where_it_was_shown(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(BAD)
    mark = guard(tmp_path, "check", "a.py").stdout.split("guard explain ")[1].split()[0]
    told = guard(tmp_path, "explain", mark[:8])
    assert told.returncode == 0
    assert told.stdout.startswith("error GRD119 a.py:5 start\n")
    assert "     5 |     comm.wait_stream(torch.cuda.default_stream())" in told.stdout
    assert "GRD119 current-stream (error, stable)" in told.stdout
    (tmp_path / "a.py").write_bytes(GOOD)
    assert guard(tmp_path, "explain", mark[:8]).returncode == 2
