"""What `--tree` and `--against` may name: a folder, the installed package of an interpreter, or a revision."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from guard.errors import GitError, GuardError
from guard.git import Repository
from guard.invariance.checkout import MARK, export

INSTALLED = "installed"
_WHERE = "import importlib.util as u; s = u.find_spec('megatron.core'); print(s.origin if s and s.origin else '')"


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree to measure.

    Attributes:
        label: as the user named it.
        folder: the folder that holds `megatron/core`.
        prefix: what stands in front of `megatron/` in reported paths.
        sha: the commit, if it came from a revision.
    """

    label: str
    folder: Path
    prefix: str = ""
    sha: str | None = None


def open_tree(given: str, scratch: Path, python: str) -> Tree:
    """Find the tree, exporting a revision below `scratch`.

    Raises:
        GuardError: nothing of that name holds Megatron-Core.
    """
    if given == INSTALLED:
        return Tree(INSTALLED, _installed(python))
    folder = Path(given)
    if (folder / MARK).is_file():
        return Tree(given, folder.resolve(), _below_here(folder.resolve()))
    if folder.is_dir() and (inner := _vendored(folder)) is not None:
        return Tree(given, inner, _below_here(inner))
    try:
        with Repository.open(".") as repository:
            into = scratch / "tree"
            sha, prefix = export(repository, given, into)
            return Tree(given, into, prefix, sha)
    except GitError as error:
        where = f"the folder {given} holds no {MARK}" if folder.is_dir() else f"there is no folder {given}"
        raise GuardError(f"--tree {given}: {where}, and as a revision: {error}") from error


def _vendored(folder: Path, depth: int = 4) -> Path | None:
    """The folder below `folder` that holds Megatron-Core, the nearest if there are several; hidden folders stay out."""
    level = [folder.resolve()]
    for _ in range(depth):
        level = sorted(
            inner
            for outer in level
            for inner in outer.iterdir()
            if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith((".", "__"))
        )
        for inner in level:
            if (inner / MARK).is_file():
                return inner
    return None


def _below_here(folder: Path) -> str:
    """What leads from the working directory to a folder below it, so that reported paths open from here."""
    here = Path.cwd()
    return f"{folder.relative_to(here).as_posix()}/" if folder != here and folder.is_relative_to(here) else ""


def _installed(python: str) -> Path:
    """The folder that holds the `megatron` package which the interpreter would import."""
    try:
        answer = subprocess.run(
            [python, "-B", "-c", _WHERE], capture_output=True, text=True, timeout=120, check=False, cwd="/"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GuardError(f"--python {python} cannot be started: {error}") from error
    origin = answer.stdout.strip()
    if not origin:
        detail = (answer.stderr.strip().splitlines() or ["it is not installed"])[-1]
        raise GuardError(f"{python} has no megatron.core to measure: {detail}")
    return Path(origin).parents[2]
