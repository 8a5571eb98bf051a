"""A git directory of our own that borrows the analysed repository's objects.

Every question about content is asked there: the analysed repository's configuration, hooks, attributes, replace refs
and grafts cannot act, and what git writes (the tree of an automatic merge) lands in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from guard.git.command import GitCommand

_SAFE_KEYS = re.compile(
    r"^(remote\..*\.(url|promisor|partialclonefilter)|extensions\.partialclone|http\..*\.extraheader)$", re.IGNORECASE
)


class Scratch:
    """A temporary bare git directory; removed with the object."""

    def __init__(self, objects: tuple[Path, ...], object_format: str, shallow: bytes | None, settings: bytes) -> None:
        """Make the directory.

        Arguments:
            objects: object directories to borrow from.
            object_format: "sha1" or "sha256".
            shallow: content of the analysed repository's `shallow` file.
            settings: `git config -z --list` of the analysed repository; only what a partial clone needs to fetch its
                missing objects is copied.
        """
        self.directory = Path(tempfile.mkdtemp(prefix="guard-git-"))
        self._finalizer = weakref.finalize(self, _remove, self.directory, os.getpid())
        information = self.directory / "objects" / "info"
        information.mkdir(parents=True)
        (self.directory / "refs").mkdir()
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")
        information.joinpath("alternates").write_bytes(b"".join(os.fsencode(path) + b"\n" for path in objects))
        promisor = _promisor_settings(settings)
        (self.directory / "config").write_text(_configuration(object_format, promisor))
        if shallow:
            (self.directory / "shallow").write_bytes(shallow)
        self.is_partial = any(key.lower().endswith(".promisor") for key, _ in promisor)
        inherited = {} if self.is_partial else {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.command = GitCommand(
            self.directory,
            {
                **inherited,
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


def _promisor_settings(settings: bytes) -> list[tuple[str, str]]:
    pairs = []
    for entry in settings.split(b"\0"):
        key, _, value = entry.decode("utf-8", "replace").partition("\n")
        if _SAFE_KEYS.match(key):
            pairs.append((key, value))
    return pairs if any(key.lower().endswith(".promisor") for key, _ in pairs) else []


def _configuration(object_format: str, promisor: list[tuple[str, str]]) -> str:
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = false", "[extensions]"]
    if object_format != "sha1":
        lines.append(f"\tobjectFormat = {object_format}")
    for key, value in promisor:
        section, _, name = key.rpartition(".")
        head, _, subsection = section.partition(".")
        quoted = subsection.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{head} "{quoted}"]' if subsection else f"[{head}]")
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'\t{name} = "{escaped}"')
    return "\n".join(lines) + "\n"
