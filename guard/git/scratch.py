"""A git directory of our own that borrows the analysed repository's objects.

Every question about content is asked there: the analysed repository's configuration, hooks, attributes, replace refs
and grafts cannot act, and what git writes (the tree of an automatic merge) lands in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path

from guard.git.command import GitCommand


class Scratch:
    """A temporary bare git directory; removed with the object."""

    def __init__(self, objects: tuple[Path, ...], object_format: str, shallow: bytes | None) -> None:
        """Make the directory.

        Arguments:
            objects: object directories to borrow from.
            object_format: "sha1" or "sha256".
            shallow: content of the analysed repository's `shallow` file.
        """
        self.directory = Path(tempfile.mkdtemp(prefix="guard-git-"))
        self._finalizer = weakref.finalize(self, _remove, self.directory, os.getpid())
        information = self.directory / "objects" / "info"
        information.mkdir(parents=True)
        (self.directory / "refs").mkdir()
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")
        information.joinpath("alternates").write_bytes(b"".join(os.fsencode(path) + b"\n" for path in objects))
        (self.directory / "config").write_text(_configuration(object_format))
        if shallow:
            (self.directory / "shallow").write_bytes(shallow)
        self.command = GitCommand(
            self.directory,
            {
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_DIR": str(self.directory),
                "GIT_COMMON_DIR": str(self.directory),
                "GIT_OBJECT_DIRECTORY": str(self.directory / "objects"),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
                "GIT_WORK_TREE": str(self.directory),
                "GIT_INDEX_FILE": str(self.directory / "index"),
                "GIT_GRAFT_FILE": os.devnull,
                "GIT_SHALLOW_FILE": str(self.directory / "shallow"),
                "GIT_AUTHOR_NAME": "guard",
                "GIT_AUTHOR_EMAIL": "guard@localhost",
                "GIT_AUTHOR_DATE": "@0 +0000",
                "GIT_COMMITTER_NAME": "guard",
                "GIT_COMMITTER_EMAIL": "guard@localhost",
                "GIT_COMMITTER_DATE": "@0 +0000",
            },
        )

    @contextlib.contextmanager
    def index(self) -> Iterator[GitCommand]:
        """A way to start git with an empty index of its own; no two uses share one, and it goes with the block."""
        handle, name = tempfile.mkstemp(prefix="index-", dir=self.directory)
        os.close(handle)
        Path(name).unlink()  # git takes an empty file for a broken index, and a missing one for an empty index
        try:
            yield GitCommand(self.directory, {**self.command.environment, "GIT_INDEX_FILE": name})
        finally:
            Path(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the directory now."""
        self._finalizer()


def _remove(directory: Path, owner: int) -> None:
    """Remove the directory; a forked process must not take it from its parent."""
    if os.getpid() != owner:
        return
    # A git that an interrupted run left behind may still write: where the name is gone it cannot, and ends.
    gone = directory.with_name(f"{directory.name}-gone")
    with contextlib.suppress(OSError):
        directory.rename(gone)
    for path in (gone, directory):
        shutil.rmtree(path, ignore_errors=True)


def _configuration(object_format: str) -> str:
    """No remote and no promise of one: a missing object is an answer here, and never something to fetch."""
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = false"]
    if object_format != "sha1":
        lines += ["[extensions]", f"\tobjectFormat = {object_format}"]
    return "\n".join(lines) + "\n"


def object_directories(common: Path) -> tuple[Path, ...]:
    """The repository's object directory, and those that a quarantined hook names in the environment."""
    extra = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    named = [os.environ.get("GIT_OBJECT_DIRECTORY", ""), *extra]
    return (common / "objects", *(Path(name).resolve() for name in named if name and Path(name).is_dir()))
