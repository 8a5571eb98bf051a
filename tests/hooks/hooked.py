"""Small repositories with a sync that has a numeric fix to lose, and a `guard` on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASE = """\
def scale(loss, tokens, bsz):
    first = tokens
    return apply(
        loss,
        valid_token_count=first,
        coeff=1.0,
    )


def other(x):
    return x
"""
FIXED = BASE.replace("valid_token_count=first,", "valid_token_count=first * bsz,")
FEATURE = BASE.replace("coeff=1.0,", "coeff=2.0,")
BOTH = FIXED.replace("coeff=1.0,", "coeff=2.0,")
LOST = FEATURE
PATH = "moe/loss scale é.py"


def environment(folder: Path) -> dict[str, str]:
    """A clean one for git, with this checkout's `guard` first on the path."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    program = tools / "guard"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m guard "$@"\n')
    program.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHEAD_", "PRE_COMMIT"))}
    return {
        **kept,
        "PATH": f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "GUARD_CACHE_DIR": str(folder / "cache"),
        "PRE_COMMIT_HOME": str(folder / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_EDITOR": "true",
        **{f"GIT_{role}_NAME": "tester" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "tester@example.invalid" for role in ("AUTHOR", "COMMITTER")},
    }


class Hooked:
    """A repository whose main has fixed what dev is about to merge."""

    def __init__(self, folder: Path) -> None:
        self.place = folder / "a repository"
        self.environment = environment(folder)
        self.place.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit({PATH: BASE, "readme.md": "x\n"}, "Start")
        self.git("branch", "dev")
        self.commit({PATH: FIXED, "tests/test_loss.py": "def test_it(): ...\n"}, "Fix the token count (#7)")
        self.git("checkout", "--quiet", "dev")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.place,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def git(self, *arguments: str, status: int | None = 0) -> str:
        done = self.run("git", *arguments)
        assert status is None or done.returncode == status, done.stdout
        return done.stdout

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            (self.place / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")

    def commit(self, files: dict[str, str], message: str) -> None:
        self.write(files)
        self.git("commit", "--quiet", "--no-verify", f"--message={message}")

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()
