"""Sources and the tree around them from directories on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guard.errors import NothingCheckedError
from guard.lint.project import ProjectIndex
from guard.lint.source import Source

_SKIPPED = frozenset({"__pycache__", "node_modules", "venv", "build", "dist"})


def python_files(root: Path) -> Iterator[Path]:
    """Python files below a directory in a fixed order; hidden and generated directories are left out."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(files):
            if name.endswith(".py"):
                yield Path(folder, name)


def read_sources(paths: Sequence[Path], root: Path) -> tuple[list[Source], list[tuple[str, str]]]:
    """Files to lint: each path itself, or the Python files below it; a path given twice counts once.

    Args:
        paths: files and directories.
        root: what paths of findings are relative to; a file outside keeps its full path.

    Returns:
        the sources, and (path, reason) of those that could not be read.

    Raises:
        NothingCheckedError: a path does not exist.
    """
    seen: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            seen.update(dict.fromkeys(python_files(path)))
        elif path.exists():
            seen[path] = None
        else:
            raise NothingCheckedError(f"{path}: no such file or directory")
    sources, unread = [], []
    for path in seen:
        name = relative(path, root)
        try:
            sources.append(Source(name, path.read_bytes()))
        except OSError as problem:
            unread.append((name, f"cannot be read: {problem.strerror or problem}"))
    return sources, unread


def relative(path: Path, root: Path) -> str:
    """A path as seen from a root, with forward slashes."""
    full = path.absolute()
    base = root.absolute()
    return full.relative_to(base).as_posix() if full.is_relative_to(base) else full.as_posix()


def directory_project(root: Path, installed: Iterable[Path] = ()) -> ProjectIndex:
    """The index of a directory; its files are listed now and read when they are asked for."""
    paths = [relative(path, root) for path in python_files(root)]
    known: dict[str, bytes | None] = {}

    def read(path: str) -> bytes | None:
        if path not in known:
            try:
                known[path] = (root / path).read_bytes()
            except OSError:
                known[path] = None
        return known[path]

    return ProjectIndex(paths, read, tuple(installed))
