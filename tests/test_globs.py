"""Path patterns, against the meaning that git gives them in .gitignore."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guard.globs import path_matches

PATHS = ["a.py", "x/a.py", "x/y/a.py", "x/y/b.lock", "b.lock", "x/golden_values_1.json", "golden_values.json", "é/ü.py"]
PATTERNS = ["*.lock", "a.py", "/a.py", "x", "x/", "x/*", "x/**", "**/golden_values*", "x/*/a.py", "x/**/a.py", "?.lock"]
PATTERNS += ["[ab].py", "[!a].lock", "é", "y/a.py"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("globs")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_what_git_matches(repository: Path, pattern: str) -> None:
    (repository / ".gitignore").write_text(f"{pattern}\n")
    command = ["git", "-c", "core.quotePath=false", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=repository, input="\n".join(PATHS), capture_output=True, text=True, check=False)
    assert {path for path in PATHS if path_matches(path, [pattern])} == set(done.stdout.split("\n")) - {""}
