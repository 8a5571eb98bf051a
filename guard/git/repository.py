"""One analysed repository: find it, resolve revisions, read trees and blobs, merge two trees. Never writes to it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from guard.errors import GitError, ShallowCloneError
from guard.git.command import GitCommand, require_version
from guard.git.objects import ObjectReader
from guard.git.scratch import Scratch

_REVISION_TAIL = re.compile(r"[~^]|@\{")
_FULL_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: mode as git prints it ("100644", "120000", "160000"), and the object's SHA."""

    mode: str
    sha: str

    @property
    def kind(self) -> str:
        """`file`, `symlink` or `submodule`."""
        return {"120000": "symlink", "160000": "submodule"}.get(self.mode, "file")


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: SHA, parents, author date (ISO 8601) and message."""

    sha: str
    parents: tuple[str, ...]
    date: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class AutomaticMerge:
    """What git's ort merge gives.

    Attributes:
        tree: SHA of the merged tree; conflicted files hold markers.
        conflicts: conflicted paths.
        stages: what the base (1), ours (2) and theirs (3) have for a conflicted path, by path and number.
    """

    tree: str
    conflicts: frozenset[str]
    stages: Mapping[str, Mapping[int, Entry]] = field(default_factory=dict)


class Repository:
    """A repository under analysis. `open` it, and `close` it or use it in a `with` block."""

    def __init__(self, git_directory: Path, common_directory: Path, work_tree: Path | None, object_format: str) -> None:
        self.git_directory = git_directory
        self.common_directory = common_directory
        self.work_tree = work_tree
        self._here = GitCommand(work_tree or git_directory, {"GIT_DIR": str(git_directory)})
        shallow = common_directory / "shallow"
        self.is_shallow = shallow.exists() and shallow.stat().st_size > 0
        # A repository copied as plain objects and refs has no configuration file: that is no error.
        has_settings = (common_directory / "config").is_file()
        settings = (
            self._here.run("config", "--local", "-z", "--list", accept=(0, 1, 128)).output if has_settings else b""
        )
        self.scratch = Scratch(
            _object_directories(common_directory),
            object_format,
            shallow.read_bytes() if self.is_shallow else None,
            settings,
        )
        self._reader: ObjectReader | None = None
        self._reader_process = 0

    @classmethod
    def open(cls, path: Path | str = ".") -> Repository:
        """Find the repository that holds `path`: a work tree, a linked one, a bare repository or a git directory.

        Raises:
            GitError: there is none, git is too old, or git refuses the repository (dubious ownership).
        """
        require_version()
        place = Path(path)
        if not place.is_dir():
            raise GitError(f"{place} is no directory")
        probe = GitCommand(place)
        try:
            answer = probe.run("rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-object-format")
        except GitError as error:
            detail = str(error).removeprefix("git rev-parse failed: ")
            if "dubious ownership" in detail:
                trust = f"git config --global --add safe.directory {place.resolve()}"
                raise GitError(f"git refuses to read this repository ({detail}); if you trust it: {trust}") from error
            raise GitError(f"{place.resolve()} is not in a git repository ({detail})") from error
        lines = answer.output.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
        if len(lines) != 3:
            raise GitError(f"{place.resolve()}: guard cannot work where a folder's name holds a line break")
        git_directory, common, object_format = lines
        inside = probe.run("rev-parse", "--is-inside-work-tree", accept=(0, 128)).output.strip() == b"true"
        work_tree = None
        if inside:
            top = probe.run("rev-parse", "--show-toplevel").output.decode("utf-8", "surrogateescape")
            work_tree = Path(top.rstrip("\n"))
        return cls(Path(git_directory), (place / common).resolve(), work_tree, object_format)

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End git's processes and remove the scratch directory."""
        if self._reader is not None and self._reader_process == os.getpid():
            self._reader.close()
        self._reader = None
        self.scratch.close()

    # revisions

    def resolve(self, revision: str) -> str:
        """The full SHA of the commit that `revision` names.

        Raises:
            GitError: there is no such commit, or the text is an option.
        """
        sha = self._sha(revision)
        if sha is None:
            raise GitError(f"unknown revision {revision!r}{self._remote_hint(revision)}{self._shallow_hint()}")
        return sha

    def _sha(self, revision: str) -> str | None:
        if not revision or revision.startswith("-"):
            raise GitError(f"{revision!r} is not a revision")
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
        answer = self._here.run(*arguments, accept=(0, 1, 128))
        sha = answer.output.decode("ascii", "replace").strip()
        return sha if not answer.status and _FULL_SHA.fullmatch(sha) else None

    def tree_of(self, revision: str) -> str:
        """The SHA of the tree of a commit or tree."""
        return self.git("rev-parse", "--verify", "--end-of-options", revision + "^{tree}").decode().strip()

    def exists(self, revision: str) -> bool:
        """Whether `revision` names a commit here."""
        try:
            return self._sha(revision) is not None
        except GitError:
            return False

    def holds(self, tree: str, path: str) -> bool:
        """Whether a tree (or a commit's) has a file or folder at this path."""
        if path == ".":
            return True
        return bool(self.git("ls-tree", "-z", "--full-tree", "--end-of-options", tree, path))

    def commit(self, sha: str) -> Commit:
        """One commit by full SHA."""
        return next(self.commits(["--no-walk", sha]))

    def commits(self, arguments: Iterable[str]) -> Iterator[Commit]:
        """Commits as `git log` walks them.

        Arguments:
            arguments: options, revisions (full SHAs) and paths of `git log`.
        """
        output = self.git("log", "-z", "--no-show-signature", "--format=%H%n%P%n%aI%n%B", *arguments)
        for record in output.decode("utf-8", "replace").split("\0"):
            if record:
                sha, parents, date, message = [*record.split("\n", 3), "", "", ""][:4]
                yield Commit(sha, tuple(parents.split()), date, message.rstrip("\n"))

    def merge_bases(self, one: str, other: str) -> tuple[str, ...]:
        """All best common ancestors, best first; empty for unrelated histories."""
        answer = self.scratch.command.run("merge-base", "--all", "--end-of-options", one, other, accept=(0, 1))
        return tuple(answer.output.decode().split())

    def is_ancestor(self, one: str, other: str) -> bool:
        """Whether `other` contains `one`."""
        arguments = ("merge-base", "--is-ancestor", "--end-of-options", one, other)
        return self.scratch.command.run(*arguments, accept=(0, 1)).status == 0

    def require_history(self) -> None:
        """Refuse a shallow clone, with the line that completes it.

        Raises:
            ShallowCloneError: commits that a merge check needs are not here.
        """
        if self.is_shallow:
            raise ShallowCloneError(f"this is a shallow clone, so the merge base may not be here{self._shallow_hint()}")

    def remote(self) -> str:
        """The remote to fetch from: `origin`, else the first one, else `origin`."""
        names = self._here.run("remote", accept=(0, 128)).output.decode("utf-8", "replace").split()
        return "origin" if "origin" in names or not names else names[0]

    def _remote_hint(self, revision: str) -> str:
        """A clone has no local branch of what was never checked out: say what the remote's branch is called."""
        name = _REVISION_TAIL.split(revision, maxsplit=1)[0]
        remote = f"{self.remote()}/{name}"
        if not name or not self.exists(remote):
            return ""
        return f": there is no local branch of that name, but {remote}{revision.removeprefix(name)} is here"

    def _shallow_hint(self) -> str:
        return f"; run: git fetch --unshallow --tags {self.remote()}" if self.is_shallow else ""

    # content

    def git(self, *arguments: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
        """Run git on the borrowed objects (no configuration, no refs: name commits by full SHA)."""
        return self.scratch.command.run(*arguments, stdin=stdin, accept=accept).output

    def git_here(self, *arguments: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
        """Run git in the repository itself, for what only it knows: refs, index, work tree state."""
        return self._here.run(*arguments, stdin=stdin, accept=accept).output

    def entries(self, tree: str) -> dict[str, Entry]:
        """All files of a commit or tree by path."""
        output = self.git("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree)
        found = {}
        for record in output.split(b"\0"):
            if record:
                meta, path = record.split(b"\t", 1)
                mode, _, sha = meta.decode("ascii").split(" ")
                found[path.decode("utf-8", "surrogateescape")] = Entry(mode, sha)
        return found

    def blob(self, sha: str) -> bytes:
        """The content of a blob. Safe in a forked process: each process gets its own reader."""
        if self._reader is None or self._reader_process != os.getpid():
            self._reader = ObjectReader(self.scratch.command)
            self._reader_process = os.getpid()
        return self._reader.read(sha)

    def blobs_at(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The blobs that stand at places of commits, in one request: SHA by (commit, path), without those not there."""
        asked = [(commit, path) for commit, path in places if "\n" not in path]
        names = "".join(f"{commit}:{path}\n" for commit, path in asked).encode("utf-8", "surrogateescape")
        answers = self.git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=names).split(b"\n")[:-1]
        kinds = (answer.decode("ascii", "replace").split(" ") for answer in answers)
        return {place: kind[1] for place, kind in zip(asked, kinds, strict=True) if kind[0] == "blob"}

    def prefetch(self, shas: Iterable[str]) -> None:
        """Bring the missing blobs of a partial clone in one request, into the scratch directory. Else nothing."""
        wanted = sorted(set(shas))
        if not wanted or not self.scratch.is_partial:
            return
        arguments = ("-c", "fetch.negotiationAlgorithm=noop", "fetch", self.remote(), "--no-tags", "--stdin")
        quiet = ("--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--quiet")
        self.scratch.command.run(*arguments, *quiet, stdin="\n".join(wanted).encode() + b"\n")

    def automatic_merge(self, ours: str, theirs: str, base: str | None = None) -> AutomaticMerge:
        """The tree that git's own ort merge of two commits gives.

        Arguments:
            ours, theirs: full SHAs of commits.
            base: a commit or tree to use instead of the merge bases; works from git 2.38 on, since three
                commits that have just this base are made in the scratch directory.

        Raises:
            GitError: the histories are unrelated and no base was given.
        """
        if base is not None:
            root = self._synthetic_commit(base)
            ours, theirs = self._synthetic_commit(ours, root), self._synthetic_commit(theirs, root)
        arguments = ("merge-tree", "--write-tree", "-z", "--no-messages", "--end-of-options", ours, theirs)
        output = self.scratch.command.run(*arguments, accept=(0, 1)).output
        tree, _, rest = output.partition(b"\0")
        stages: dict[str, dict[int, Entry]] = {}
        for record in rest.split(b"\0"):
            meta, separator, path = record.partition(b"\t")
            if separator:
                mode, sha, stage = meta.decode("ascii").split(" ")
                stages.setdefault(path.decode("utf-8", "surrogateescape"), {})[int(stage)] = Entry(mode, sha)
        return AutomaticMerge(tree.decode("ascii"), frozenset(stages), stages)

    def virtual_base(self, bases: tuple[str, ...]) -> str:
        """One commit that stands for several merge bases: their own merge, as the recursive strategy makes it."""
        current = bases[0]
        for other in bases[1:]:
            current = self._synthetic_commit(self.automatic_merge(current, other).tree, current, other)
        return current

    def _synthetic_commit(self, tree: str, *parents: str) -> str:
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self.git("commit-tree", self.tree_of(tree), *flags, stdin=b"guard\n").decode().strip()


def _object_directories(common: Path) -> tuple[Path, ...]:
    """The repository's object directory, and those that a quarantined hook names in the environment."""
    extra = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    named = [os.environ.get("GIT_OBJECT_DIRECTORY", ""), *extra]
    return (common / "objects", *(Path(name).resolve() for name in named if name and Path(name).is_dir()))
