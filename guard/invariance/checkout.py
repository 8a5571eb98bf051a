"""The part of a revision that a measurement needs, written to a folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from guard.errors import GuardError
from guard.git import Entry, Repository

MARK = "megatron/core/__init__.py"


def prefix_of(paths: object) -> str | None:
    """Where `megatron/` lies: the shortest prefix (empty, or ending in `/`) in front of `megatron/core/__init__.py`."""
    found = [path.removesuffix(MARK) for path in paths if path == MARK or path.endswith("/" + MARK)]  # type: ignore[attr-defined]
    return min(found, key=len, default=None)


def export(repository: Repository, revision: str, into: Path) -> tuple[str, str]:
    """Write `megatron/**` of a revision below `into`; symbolic links and submodules stay out.

    Returns:
        The commit's SHA, and the prefix in front of `megatron/` in the repository.

    Raises:
        GuardError: the revision is unknown, or holds no Megatron-Core.
    """
    sha = repository.resolve(revision)
    entries = repository.entries(sha)
    prefix = prefix_of(entries)
    if prefix is None:
        raise GuardError(f"{revision} ({sha[:10]}) holds no {MARK}: guard verify measures Megatron-Core")
    wanted: dict[str, Entry] = {
        path.removeprefix(prefix): entry
        for path, entry in entries.items()
        if path.startswith(prefix + "megatron/") and entry.kind == "file"
    }
    repository.prefetch(entry.sha for entry in wanted.values())
    for path, entry in wanted.items():
        if ".." in PurePosixPath(path).parts:
            raise GuardError(f"{revision} holds a path that leaves its folder: {path!r}")
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(repository.blob(entry.sha))
    return sha, prefix
