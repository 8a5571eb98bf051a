"""A series of commits on top of one, made in the scratch directory, as patches or as a branch of the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guard.errors import GitError
from guard.git.command import GitCommand
from guard.git.facts import Entry
from guard.git.patch import changed_tree
from guard.git.repository import Repository

_REF = "refs/heads/guard-series"


def commit_series(
    repository: Repository, start: str, steps: Sequence[tuple[str, Mapping[str, Entry | None]]], author: tuple[str, str]
) -> str:
    """Commit changes one after the other.

    Arguments:
        start: full SHA of the commit to stand on.
        steps: message and changes of each commit.
        author: name and address.

    Returns:
        The SHA of the last commit.
    """
    tip = start
    name, address = author
    who = {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_COMMITTER_NAME": name}
    who |= {"GIT_COMMITTER_EMAIL": address, "GIT_AUTHOR_DATE": "", "GIT_COMMITTER_DATE": ""}
    for message, changes in steps:
        tree = changed_tree(repository, tip, changes)
        answer = repository.scratch.command.run(
            "commit-tree", tree, "-p", tip, stdin=message.encode("utf-8", "surrogateescape"), environment=who
        )
        tip = answer.output.decode().strip()
    return tip


def as_patches(repository: Repository, start: str, tip: str) -> bytes:
    """The series as mail, for `git am`."""
    arguments = ("--stdout", "--binary", "--full-index", "--no-renames", "--no-signature", "--no-ext-diff")
    return repository.git("format-patch", *arguments, f"{start}..{tip}")


def as_branch(repository: Repository, tip: str, name: str) -> None:
    """A new branch of the repository that ends at the series.

    Raises:
        GitError: the name is no name of a branch, or is taken.
    """
    reference = f"refs/heads/{name}"
    directory = str(repository.git_directory)
    # From a folder of ours: the one transport that is needed, and no other.
    here = GitCommand(repository.git_directory, {"GIT_DIR": directory, "GIT_ALLOW_PROTOCOL": "file"})
    if here.run("check-ref-format", reference, accept=(0, 1)).status or name.startswith("-"):
        raise GitError(f"{name!r} is no name of a branch")
    if here.run("show-ref", "--verify", "--quiet", reference, accept=(0, 1)).status == 0:
        raise GitError(f"a branch {name} is there already")
    repository.git("update-ref", _REF, tip)
    here.run("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(repository.scratch.directory),
             f"{_REF}:{reference}")  # fmt: skip


def author_of(repository: Repository) -> tuple[str, str]:
    """Who commits here, as git is set up; guard where it is not."""
    known = [
        repository.git_here("config", "--get", f"user.{part}", accept=(0, 1)).decode("utf-8", "replace").strip()
        for part in ("name", "email")
    ]
    return known[0] or "guard", known[1] or "guard@localhost"
