"""Trees with a few files changed, and the patch between two trees. Made in the scratch directory."""

from __future__ import annotations

from collections.abc import Mapping

from guard.git.facts import Entry
from guard.git.index import write_tree
from guard.git.repository import Repository


def store_blob(repository: Repository, data: bytes) -> str:
    """Keep bytes as a blob in the scratch directory; gives its SHA."""
    return repository.git("hash-object", "-w", "--no-filters", "--stdin", stdin=data).decode().strip()


def changed_tree(repository: Repository, tree: str | None, changes: Mapping[str, Entry | None]) -> str:
    """The SHA of a tree that has other entries at some paths (None: no file there).

    Arguments:
        tree: SHA of a commit or tree; None for the empty tree.
    """
    none = "0" * (len(repository.tree_of(tree)) if tree is not None else 40)
    lines = [
        f"0 {none}\t{path}" if entry is None else f"{entry.mode} {entry.sha}\t{path}" for path, entry in changes.items()
    ]
    return write_tree(repository, "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogateescape"), tree)


def patch_between(repository: Repository, before: str, after: str) -> bytes:
    """The unified diff of two trees, as `git apply` takes it: binary files, modes and odd names included."""
    arguments = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    return repository.git("diff-tree", *arguments, "--end-of-options", before, after)
