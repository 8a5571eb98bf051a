"""The edit scripts of many pairs of texts, from git's own diff, in one process."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guard.git.repository import Repository

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# How the ort strategy compares: histogram, and hunks not slid to where they read best.
_AS_ORT = ("--diff-algorithm=histogram", "--no-indent-heuristic")

LineEdits = tuple[tuple[int, int, int, int], ...]
"""Edits as (start, end, first, last): lines `start`..`end` of the one text became `first`..`last` of the other."""


def edit_scripts(repository: Repository, pairs: Sequence[tuple[str, str]]) -> list[LineEdits]:
    """What git's merge takes for the changes between two blobs, for each pair.

    Arguments:
        pairs: SHAs of blobs, that the repository or the scratch directory holds.

    Returns:
        For each pair its edits, 0-based and half open, in order.
    """
    if not pairs:
        return []
    before, after = (_tree(repository, [pair[side] for pair in pairs]) for side in (0, 1))
    arguments = ("-r", "-p", "-U0", "--text", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", *_AS_ORT)
    output = repository.git("diff-tree", *arguments, "--end-of-options", before, after)
    found: list[list[tuple[int, int, int, int]]] = [[] for _ in pairs]
    current = -1
    for line in output.split(b"\n"):
        if line.startswith(b"diff --git a/"):
            current = int(line.split(b" ")[2].removeprefix(b"a/"))
        elif match := _HUNK.match(line):
            old, old_count, new, new_count = (1 if part is None else int(part) for part in match.groups())
            start, first = old - bool(old_count), new - bool(new_count)
            found[current].append((start, start + old_count, first, first + new_count))
    return [tuple(edits) for edits in found]


def _tree(repository: Repository, blobs: Sequence[str]) -> str:
    """A tree that holds blobs under their numbers."""
    listing = "".join(f"100644 blob {sha}\t{number}\0" for number, sha in enumerate(blobs))
    return repository.git("mktree", "-z", stdin=listing.encode()).decode().strip()
