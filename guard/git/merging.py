"""The one place that changes a user's repository through git: make a merge, take conflicts as resolved, undo it.

Git runs here as the user runs it, with their settings, attributes and hooks: it is their merge, in their work tree.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from guard.errors import GitError, GuardError
from guard.git.command import GitCommand
from guard.git.facts import Entry
from guard.git.partial import PROTOCOLS
from guard.git.repository import Repository

_IN_PROGRESS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "REBASE_HEAD": "rebase",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}


def as_user(repository: Repository) -> GitCommand:
    """Git as the user starts it in the work tree.

    Raises:
        GitError: the repository has none.
    """
    if repository.work_tree is None:
        raise GitError("this repository has no work tree to merge in")
    # Git may fetch here what a partial clone lacks: the user's own merge would.
    fetches = {"GIT_NO_LAZY_FETCH": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS}
    return GitCommand(repository.work_tree, fetches, ("--no-pager", "--literal-pathspecs"))


def in_progress(repository: Repository) -> tuple[str, str] | None:
    """What waits for its conflicts: (`merge`, `rebase`, `cherry-pick` or `revert`, what is brought in)."""
    for name, verb in _IN_PROGRESS.items():
        marker = repository.git_directory / name
        if marker.is_file():
            return verb, marker.read_text("ascii", "replace").split("\n", 1)[0].strip()
        if marker.is_dir():
            return verb, ""
    return None


def unmerged(repository: Repository) -> dict[str, dict[int, Entry]]:
    """The entries of conflicted paths in the user's index, by path and stage."""
    output = as_user(repository).run("ls-files", "--unmerged", "-z", "--full-name").output
    stages: dict[str, dict[int, Entry]] = {}
    for record in output.split(b"\0"):
        if record:
            meta, path = record.split(b"\t", 1)
            mode, sha, stage = meta.decode("ascii").split(" ")
            stages.setdefault(path.decode("utf-8", "surrogateescape"), {})[int(stage)] = Entry(mode, sha)
    return stages


def start_merge(repository: Repository, revision: str) -> None:
    """`git merge --no-commit --no-ff`: afterwards a merge is in progress, with or without conflicts.

    Raises:
        GitError: git refuses it, with its reason; nothing has changed then.
    """
    if in_progress(repository):
        raise GitError("another merge, rebase or cherry-pick is in progress here: finish or abort it first")
    answer = as_user(repository).run(
        "-c", "rerere.enabled=false", "merge", "--no-commit", "--no-ff", "--no-stat", revision, accept=(0, 1, 2, 128)
    )
    if in_progress(repository) is None:
        said = [line for line in (answer.errors + answer.output.decode("utf-8", "replace")).splitlines() if line]
        cause = "; ".join(line.strip().removeprefix("error: ").removeprefix("fatal: ") for line in said[:4])
        raise GitError(f"git did not merge {revision}: {cause or f'exit state {answer.status}'}")


def abort_merge(repository: Repository) -> None:
    """`git merge --abort`."""
    as_user(repository).run("merge", "--abort")


def commit_merge(repository: Repository, message: str) -> str:
    """Commit the merge in progress, hooks included; gives the SHA.

    Raises:
        GitError: a hook or git refuses it; the merge stays in progress.
    """
    as_user(repository).run("commit", "--quiet", "--cleanup=whitespace", "--file=-", stdin=message.encode())
    return repository.resolve("HEAD")


@dataclass(frozen=True, slots=True)
class Replacement:
    """New content of a file of the work tree, and whether its conflict is resolved by it."""

    path: str
    data: bytes
    resolved: bool


def put_in_place(repository: Repository, files: list[Replacement], before: Mapping[str, bytes]) -> None:
    """Replace files in the work tree and take the resolved ones as merged in the index: all of it or nothing.

    Everything is written beside its place first, so that a full disk changes nothing; what follows are renames and one
    exchange of the index, which no signal interrupts. If one of them fails, what was done is undone.

    Arguments:
        before: what the files are expected to hold.

    Raises:
        GuardError: a file changed in the meantime or cannot be written. All files are as before then.
    """
    git = as_user(repository)
    root = git.directory
    with contextlib.ExitStack() as stack:
        ready: list[tuple[Path, Path, Path]] = []
        for file in files:
            place = root / file.path
            if place.is_symlink() or not place.is_file() or place.read_bytes() != before[file.path]:
                raise GuardError(f"{file.path} changed while it was being resolved: nothing was written")
            fresh = stack.enter_context(_beside(place, file.data))
            ready.append((place, fresh, stack.enter_context(_kept(place))))
        done: list[tuple[Path, Path]] = []
        with uninterrupted():
            try:
                for place, fresh, kept in ready:
                    fresh.replace(place)
                    done.append((place, kept))
                resolved = [file.path for file in files if file.resolved]
                if resolved:
                    names = "\0".join(resolved).encode("utf-8", "surrogateescape")
                    git.run("add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=names)
            except BaseException as error:
                for place, kept in done:
                    kept.replace(place)
                if isinstance(error, OSError):
                    raise GuardError(f"cannot write: {error.strerror or error}; nothing was changed") from error
                raise


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back signals that would end the process between two steps that belong together."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _beside(place: Path, data: bytes) -> Iterator[Path]:
    """A file in the same folder with new content and the old one's mode."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(place.stat().st_mode & 0o777)
    except OSError as error:
        raise GuardError(f"cannot write beside {place}: {error.strerror or error}; nothing was changed") from error
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def _kept(place: Path) -> Iterator[Path]:
    """A second name of the old file, to put it back by."""
    name = Path(tempfile.mktemp(dir=place.parent, prefix=f".{place.name[:40]}.old."))
    try:
        os.link(place, name)
    except OSError as error:
        raise GuardError(f"cannot keep {place}: {error.strerror or error}; nothing was changed") from error
    try:
        yield name
    finally:
        name.unlink(missing_ok=True)
