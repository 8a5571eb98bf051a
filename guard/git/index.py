"""The index as a tree: what a commit made now would hold. Built in the scratch directory; the index is only read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from guard.git.repository import Repository


@dataclass(frozen=True, slots=True)
class IndexTree:
    """The index as a tree.

    Attributes:
        tree: SHA of a tree in the scratch directory; an unmerged path stands there as ours has it.
        unmerged: paths whose conflict is not resolved.
    """

    tree: str
    unmerged: tuple[str, ...]


def index_tree(repository: Repository) -> IndexTree:
    """Read the index of the repository (in a hook: the one git hands over) as a tree."""
    listing = repository.git_here("ls-files", "--stage", "-z", "--full-name")
    lines, unmerged = [], set()
    for record in listing.split(b"\0"):
        if not record:
            continue
        meta, path = record.split(b"\t", 1)
        mode, sha, stage = meta.split(b" ")
        if stage != b"0":
            unmerged.add(path.decode("utf-8", "surrogateescape"))
        if stage in (b"0", b"2"):
            lines.append(mode + b" " + sha + b"\t" + path)
    repository.git("read-tree", "--empty")
    repository.git("update-index", "-z", "--index-info", stdin=b"\0".join(lines) + (b"\0" if lines else b""))
    tree = repository.git("write-tree", "--missing-ok").decode().strip()
    return IndexTree(tree, tuple(sorted(unmerged)))


def merge_heads(repository: Repository) -> tuple[str, ...]:
    """What is being merged into HEAD right now; empty when no merge is in progress.

    `MERGE_HEAD` stands while a merge waits for its commit. At `pre-merge-commit` git has not written it yet and
    names the commits in the environment only, as `GITHEAD_<sha>`.
    """
    marker = repository.git_directory / "MERGE_HEAD"
    if marker.is_file():
        heads = re.findall(r"^[0-9a-f]{40,64}$", marker.read_text("ascii", "replace"), re.MULTILINE)
        return tuple(dict.fromkeys(heads))
    named = [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    return tuple(sorted(name for name in named if re.fullmatch(r"[0-9a-f]{40,64}", name)))
