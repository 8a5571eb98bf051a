"""Python files below a directory, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from guard.documents.kinds import is_python

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})


def python_files(root: Path) -> Iterator[str]:
    """Paths relative to `root`, with forward slashes; hidden, cache and environment directories are left out."""
    base = str(root)
    for folder, folders, files in os.walk(base):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        inside = os.path.relpath(folder, base).replace(os.sep, "/")
        prefix = "" if inside == "." else f"{inside}/"
        for name in sorted(files):
            if is_python(name):
                yield prefix + name
