"""The demo is the first thing a new user runs: it must find what it planted, and leave nothing behind."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.commands.demo import ROUTER, demo, plant


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_demo_finds_the_planted_loss(own_folder: Path) -> None:
    result = CliRunner().invoke(demo, ["-o", "json", "--no-cache"], standalone_mode=False)
    assert result.exception is None
    assert result.return_value == 0
    found = json.loads(result.stdout)["findings"]
    errors = [one for one in found if one["severity"] == "error"]
    assert [(one["path"], one["lost_side"], one["origins"][0]["pr"]) for one in errors] == [(ROUTER, "theirs", 42)]
    assert errors[0]["symbol"] == "apply_seq_aux_loss"
    assert list(own_folder.iterdir()) == []


def test_the_demo_repository_is_a_real_sync(own_folder: Path) -> None:
    plant(own_folder)

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=own_folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert git("rev-list", "--parents", "--max-count=1", "HEAD").count(" ") == 2
    assert "* bsz" in git("show", f"main:{ROUTER}")
    assert "* bsz" not in git("show", f"dev:{ROUTER}")
    assert git("status", "--porcelain") == ""
    conflict = subprocess.run(
        ["git", "merge-tree", "--write-tree", "dev^1", "main"], cwd=own_folder, capture_output=True, check=False
    )
    assert conflict.returncode == 1
