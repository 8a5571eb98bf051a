"""The merge driver as git calls it, and the forecast of a merge that is not made."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.conftest import Workshop
from tests.merging.test_merge_command import OURS, SCHEMA, THEIRS, conflict, state
from tests.syncs import Guard

CLEAN_OURS, CLEAN_THEIRS = OURS.replace(" * left", ""), THEIRS.replace("(n + right)", "n")


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`guard` on the path that git looks for its driver on."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "guard"
    root = Path(__file__).parents[2]
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m guard "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("guard") == str(script)


@pytest.mark.usefixtures("on_path")
def test_git_calls_the_driver(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop, CLEAN_OURS, CLEAN_THEIRS)
    assert guard("init", "--merge-driver", folder=workshop.folder).status == 0
    assert "nothing to write" in guard("init", "--merge-driver", folder=workshop.folder).output
    workshop.commit("attributes")
    workshop.git("merge", "-q", "--no-edit", "main")
    assert (workshop.folder / "model.py").read_text().startswith("from m import a, b, left, right\n")


@pytest.mark.usefixtures("on_path")
def test_the_driver_leaves_git_the_conflict(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    guard("init", "--merge-driver", folder=workshop.folder)
    workshop.commit("attributes")
    workshop.git("merge", "-q", "main", check=False)
    assert workshop.git("diff", "--name-only", "--diff-filter=U") == "model.py"
    text = (workshop.folder / "model.py").read_text()
    assert text.startswith("from m import a, b, left, right\n")
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 1


def test_the_driver_takes_plain_files(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop, CLEAN_OURS, CLEAN_THEIRS)
    for name, text in (("O", "x = f(a)\n"), ("A", "x = f(a, left=1)\n"), ("B", "x = f(a, right=1)\n")):
        (workshop.folder / name).write_text(text)
    assert guard("merge-driver", "O", "A", "B", "some/where.py", folder=workshop.folder).status == 0
    assert (workshop.folder / "A").read_text() == "x = f(a, left=1, right=1)\n"
    (workshop.folder / "A").write_bytes(b"\0binary")
    assert guard("merge-driver", "O", "A", "B", "some/where.py", folder=workshop.folder).status == 1
    assert (workshop.folder / "A").read_bytes() == b"\0binary"


def test_a_dry_run_of_init_installs_nothing(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"a.py": "x = 1\n"})
    assert "merge=guard" in guard("init", "--merge-driver", "--dry-run", folder=workshop.folder).output
    assert not (workshop.folder / ".gitattributes").exists()
    assert not workshop.git("config", "--get", "merge.guard.driver", check=False)


def test_forecast_writes_nothing_and_names_the_risk(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    before = state(workshop)
    answer = guard("forecast", "main", "-o", "json", folder=workshop.folder)
    assert answer.status == 1
    jsonschema.validate(answer.report, SCHEMA)
    (finding,) = answer.findings("GRD405")
    assert finding["numeric"]
    assert "#11" in finding["message"]
    assert "#22" in finding["message"]
    assert state(workshop) == before
    assert guard("forecast", "dev", "--into", "main", "-o", "json", folder=workshop.folder).status == 1
    assert guard("forecast", "dev", folder=workshop.folder).status == 3
