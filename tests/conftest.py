"""Real git repositories in temporary folders."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.syncs import Guard

IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


class Workshop:
    """A repository under construction: write files, commit, branch, merge."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._clock = 1_700_000_000
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, check: bool = True, stdin: str | None = None, **environment: str) -> str:
        self._clock += 60
        when = {"GIT_AUTHOR_DATE": f"@{self._clock} +0000", "GIT_COMMITTER_DATE": f"@{self._clock} +0000"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env={**os.environ, **IDENTITY, **when, **environment},
            capture_output=True,
            text=True,
            input=stdin,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def write(self, files: dict[str, str | bytes | None]) -> None:
        for name, content in files.items():
            place = self.folder / name
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str, files: dict[str, str | bytes | None] | None = None) -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "HEAD") -> None:
        self.git("checkout", "-q", "-B", name, start)

    def switch(self, name: str) -> None:
        self.git("checkout", "-q", name)

    def merge(self, other: str, files: dict[str, str | bytes | None] | None = None, message: str | None = None) -> str:
        """Merge `other`, whatever the conflicts, and commit the tree with `files` laid over it."""
        self.git("merge", "--no-ff", "--no-commit", "-q", other, check=False)
        return self.commit(message or f"Merge branch '{other}'", files)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """One empty repository on branch main."""
    return Workshop(tmp_path / "repository")


@pytest.fixture
def make_workshop(tmp_path: Path) -> Callable[[str], Workshop]:
    """As many repositories as a test needs."""
    return lambda name: Workshop(tmp_path / name)


@pytest.fixture(autouse=True)
def _private_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test reads another's cache or the developer's, nor sees the git state of a hook that runs the tests."""
    own = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:16]
    monkeypatch.setenv("GUARD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "guard-cache" / own))
    for name in [name for name in os.environ if name.startswith(("GIT_", "GITHEAD_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def guard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Guard:
    """The command line, run in the repository of `workshop`."""
    from tests.syncs import Guard

    folder = tmp_path / "repository"
    return Guard(capsys, monkeypatch, folder if folder.is_dir() else None)
