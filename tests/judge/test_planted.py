"""Planted reverts, small: on a repository that the test builds of this project's own code, and on released wheels."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.bench.planted_reverts import Tally, run
from tests.conftest import Workshop

SOURCES = sorted((Path(__file__).parents[2] / "guard" / "git").glob("*.py"))
SOURCES += sorted((Path(__file__).parents[2] / "guard" / "report").glob("*.py"))
WHEELS = ("0.15.0", "0.16.1")
PARTS = ("megatron/core/transformer/moe/", "megatron/core/optimizer/", "megatron/core/distributed/finalize")


def edited(text: str, rng: random.Random, owner: str) -> str:
    """A file with some statements put in, taken out and rewritten, at places picked by the generator."""
    lines = text.splitlines()
    plain = [
        n for n, line in enumerate(lines) if line.startswith("    ") and line.strip().startswith(("return ", "raise "))
    ]
    for number in sorted(rng.sample(plain, min(3, len(plain))), reverse=True):
        indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        lines.insert(number, f"{indent}record_{owner}({number}, {owner}_scale * {rng.randint(2, 9)})")
    return "\n".join(lines) + "\n"


def complete(tally: Tally) -> None:
    assert (tally.control, tally.reformat) == (0, 0)
    assert tally.plants >= 8
    assert tally.found == tally.plants


def test_every_plant_in_a_repository_of_its_own_is_found(tmp_path):
    workshop, rng = Workshop(tmp_path / "repository"), random.Random(7)
    base = {f"package/{path.parent.name}/{path.name}": path.read_text() for path in SOURCES}
    workshop.commit("Start", dict(base))
    workshop.git("branch", "dev")
    half = len(base) // 2
    names = sorted(base)
    workshop.commit("Theirs", {name: edited(base[name], rng, "theirs") for name in names[:half]})
    workshop.git("checkout", "-q", "dev")
    workshop.commit("Ours", {name: edited(base[name], rng, "ours") for name in names[half:]})
    workshop.git("merge", "-q", "--no-edit", "main")
    complete(run(str(workshop.folder), 1, 8, 3, verbose=True))


def wheel(version: str, folder: Path) -> dict[str, str | bytes | None]:
    """The Python files of a released wheel, some parts of it."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--timeout", "20"]
    command += ["--retries", "0", "-d", str(folder), f"megatron-core=={version}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ})
    found = list(folder.glob(f"megatron_core-{version}-*.whl"))
    if done.returncode or not found:
        pytest.skip(f"the wheel of megatron-core {version} is not available here")
    with zipfile.ZipFile(found[0]) as archive:
        names = [name for name in archive.namelist() if name.startswith(PARTS) and name.endswith(".py")]
        return {name: archive.read(name) for name in names}


def test_plants_between_two_releases_are_found(tmp_path):
    before, after = (wheel(version, tmp_path / "wheels") for version in WHEELS)
    workshop = Workshop(tmp_path / "repository")
    workshop.commit("0.15.0", before)
    workshop.git("branch", "dev")
    gone = {name: None for name in before if name not in after}
    workshop.commit("0.16.1", {**after, **gone})
    workshop.git("checkout", "-q", "dev")
    workshop.commit("Ours", {"notes.py": "SEEN = 1\n"})
    workshop.git("merge", "-q", "--no-edit", "main")
    complete(run(str(workshop.folder), 1, 10, 5, verbose=True))
