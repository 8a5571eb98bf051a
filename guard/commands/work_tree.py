"""Write a restoration into the work tree: all of it or nothing, each file atomically, never past a symbolic link."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.git.paths import is_git_directory


@dataclass(frozen=True, slots=True)
class _Step:
    """One file to write: its place, its bytes and whether it is executable; no bytes deletes it."""

    place: Path
    data: bytes | None
    executable: bool


def apply(repository: Repository, merged: Mapping[str, Entry], changes: Mapping[str, Entry | None]) -> list[str]:
    """Make the changes in the work tree.

    Arguments:
        merged: the judged tree; a file that differs from it in the work tree is not touched.
        changes: new entries by path; None deletes.

    Returns:
        The paths that were written or deleted.

    Raises:
        GuardError: a file differs from merged, a path leaves the work tree or leads through a symbolic link, or an
            entry is no regular file. Nothing was written then.
    """
    if repository.work_tree is None:
        raise GuardError("--apply needs a work tree, and this repository has none; apply the printed patch elsewhere")
    steps = [
        _step(repository, repository.work_tree, path, merged.get(path), entry)
        for path, entry in sorted(changes.items())
    ]
    for step in steps:
        _write(step)
    return sorted(changes)


def _step(repository: Repository, root: Path, path: str, before: Entry | None, after: Entry | None) -> _Step:
    if any(entry is not None and entry.kind != "file" for entry in (before, after)):
        raise GuardError(f"{path} is no regular file: apply the printed patch with git apply --index")
    place = _place(root, path)
    if place.is_symlink():
        raise GuardError(f"{path} is a symbolic link in the work tree: nothing was written")
    if before is None:
        if place.exists():
            raise GuardError(f"{path} stands in the work tree, but merged does not have it: nothing was written")
    elif not place.is_file() or place.read_bytes() != repository.blob(before.sha):
        raise GuardError(
            f"{path} in the work tree differs from merged: check that tree out, or apply the printed patch"
        )
    if after is None:
        return _Step(place, None, False)
    return _Step(place, repository.blob(after.sha), after.mode == "100755")


def require_inside(path: str) -> None:
    """Refuse what is no path of a file in a work tree.

    Raises:
        GuardError: it is absolute, leads up, is empty in a part, or leads into a git directory, whatever the depth.
    """
    parts = path.split("/")
    if "\0" in path or {"", "..", "."}.intersection(parts) or any(map(is_git_directory, parts)):
        raise GuardError(f"{path!r} is no path inside the work tree: nothing was written")


def _place(root: Path, path: str) -> Path:
    """Where a file of a tree stands."""
    require_inside(path)
    parts = path.split("/")
    place = root
    for part in parts[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise GuardError(f"{path} leads through {place.name}, which is no folder: nothing was written")
    return place / parts[-1]


def _write(step: _Step) -> None:
    try:
        if step.data is None:
            step.place.unlink()
            return
        step.place.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=step.place.parent, prefix=f".{step.place.name[:40]}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(step.data)
            Path(partial).chmod(_mode(step))
            Path(partial).replace(step.place)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise GuardError(f"cannot write {step.place}: {error.strerror or error}") from error


def _mode(step: _Step) -> int:
    """The mode that the file has, or a new one gets, with the executable bit as the tree has it."""
    if step.place.exists():
        mode = step.place.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    readers = (mode & 0o444) >> 2
    return mode | readers if step.executable else mode & ~0o111
