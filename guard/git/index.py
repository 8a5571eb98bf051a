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
    return IndexTree(write_tree(repository, b"".join(line + b"\0" for line in lines)), tuple(sorted(unmerged)))


def write_tree(repository: Repository, lines: bytes, start: str | None = None) -> str:
    """Make a tree in the scratch directory, with an index of its own; gives its SHA.

    Arguments:
        lines: what `update-index -z --index-info` reads.
        start: SHA of a commit or tree that the lines are laid over; empty without one.
    """
    with repository.scratch.index() as command:
        command.run("read-tree", *(("--empty",) if start is None else (start,)))
        command.run("update-index", "-z", "--index-info", stdin=lines)
        return command.run("write-tree", "--missing-ok").output.decode("ascii").strip()


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
