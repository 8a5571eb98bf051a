"""One analysed repository: find it, resolve revisions, read trees and blobs, merge two trees. Never writes to it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guard.errors import GitError, MissingObjectError, ShallowCloneError
from guard.git.command import GitCommand, require_version
from guard.git.facts import AutomaticMerge, Commit, Entry
from guard.git.objects import ObjectReader
from guard.git.partial import Fetcher, promisor_of
from guard.git.scratch import Scratch, object_directories

_REVISION_TAIL = re.compile(r"[~^]|@\{")
_FULL_SHA = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_CHANGED_BLOBS = re.compile(rb"^:\d+ \d+ ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ", re.MULTILINE)
PATCHES = frozenset({"-p", "-U0"})
# Files of one tree. The largest repositories have some 500,000; a few kilobytes of trees that name each other can
# unfold to more than any machine holds.
MOST_FILES = 600_000


# Files that questions about a whole tree read.
READ_TOGETHER = (".py", ".pyi", ".pyx", ".yaml", ".yml", ".sh", ".toml", ".cfg", ".ini", ".j2")


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
            object_directories(common_directory), object_format, shallow.read_bytes() if self.is_shallow else None
        )
        promisor = promisor_of(settings)
        objects = self.scratch.directory / "objects"
        self._fetcher = (
            Fetcher(promisor, self.scratch.directory / "fetch", objects, object_format)
            if promisor is not None
            else None
        )
        self._together: set[str] = set()
        self._readers: dict[int, ObjectReader] = {}
        self._opening = threading.Lock()

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
        reader = self._readers.pop(os.getpid(), None)
        if reader is not None:
            reader.close()
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
        output = self.git("log", "-z", "--no-show-signature", "--format=%H%n%P%n%aI%n%an%n%B", *arguments)
        for record in output.decode("utf-8", "replace").split("\0"):
            if record:
                sha, parents, date, author, message = [*record.split("\n", 4), "", "", "", ""][:5]
                yield Commit(sha, tuple(parents.split()), date, message.rstrip("\n"), author)

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
        """The remote to fetch from: `origin`, else the first one, else `origin`; never one whose name is an option."""
        names = self._here.run("remote", accept=(0, 128)).output.decode("utf-8", "replace").split("\n")
        named = [name for name in names if re.fullmatch(r"[A-Za-z0-9_][\w./-]*", name)]
        return "origin" if "origin" in named or not named else named[0]

    def _remote_hint(self, revision: str) -> str:
        """A clone has no local branch of what was never checked out: say what the remote's branch is called."""
        name = _REVISION_TAIL.split(revision, maxsplit=1)[0]
        remote = f"{self.remote()}/{name}"
        if not name or not self.exists(remote):
            return ""
        return f": there is no local branch of that name, but {remote}{revision.removeprefix(name)} is here"

    def _shallow_hint(self) -> str:
        return f"; run: git fetch --unshallow --tags {self.remote()}" if self.is_shallow else ""

    @property
    def is_partial(self) -> bool:
        """Whether a remote promised the objects that are not here."""
        return self._fetcher is not None

    # content

    def git(self, *arguments: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
        """Run git on the borrowed objects (no configuration, no refs: name commits by full SHA).

        In a partial clone the blobs that patches are made of are brought before, all at once, and a single object that
        something else needs when it is found missing.

        Raises:
            MissingObjectError: an object is not here, with the line that brings it.
        """
        if self._fetcher is not None and arguments[0] == "log" and PATCHES & set(arguments):
            self._bring_blobs_of_patches(arguments)
        for last in (False, True):
            try:
                return self.scratch.command.run(*arguments, stdin=stdin, accept=accept).output
            except MissingObjectError as error:
                if last or not self._brings((error.sha,)):
                    raise MissingObjectError(error.sha, self._missing_hint(error.sha)) from None
        raise AssertionError("the last attempt returns or raises")

    def _bring_blobs_of_patches(self, arguments: tuple[str, ...]) -> None:
        plain = [argument for argument in arguments[1:] if argument not in PATCHES]
        changed = self.scratch.command.run("log", "--raw", "--no-abbrev", *plain).output
        self.prefetch({sha.decode("ascii") for pair in _CHANGED_BLOBS.findall(changed) for sha in pair})

    def git_here(self, *arguments: str, stdin: bytes | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
        """Run git in the repository itself, for what only it knows: refs, index, work tree state."""
        return self._here.run(*arguments, stdin=stdin, accept=accept).output

    def entries(self, tree: str) -> dict[str, Entry]:
        """All files of a commit or tree by path."""
        arguments = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree)
        try:
            output = self.scratch.command.run_bounded(*arguments)
        except GitError:
            if not self.is_partial:
                raise
            # A tree comes with all trees below it; `rev-parse` would want the very tree that is missing.
            named = self.git("log", "--no-walk", "--format=%T", "--end-of-options", tree).decode("ascii").strip()
            self._brings((named,))
            output = self.git(*arguments)
        if output.count(b"\0") > MOST_FILES:
            raise GitError(f"tree {tree} unfolds to more than {MOST_FILES:,} files: guard does not judge it")
        found = {}
        for record in output.split(b"\0"):
            if record:
                meta, path = record.split(b"\t", 1)
                mode, _, sha = meta.decode("ascii").split(" ")
                found[path.decode("utf-8", "surrogateescape")] = Entry(mode, sha)
        if self.is_partial:
            self._together.update(entry.sha for path, entry in found.items() if path.endswith(READ_TOGETHER))
        return found

    def blob(self, name: str) -> bytes:
        """The content of an object. Each process has a reader of its own; its threads take turns.

        Arguments:
            name: full SHA, or `commit:path`.

        Raises:
            MissingObjectError: it is not here, and the remote of a partial clone did not give it.
        """
        reader = self._reader()
        try:
            return reader.read(name)
        except MissingObjectError:
            sha = self._named(name) if self.is_partial else name
            # Whoever reads one file of a tree reads others, and each request costs a connection.
            likely, self._together = self._together, set()
            self.prefetch(likely)
            if self._brings((sha,)):
                return reader.read(sha)
            raise MissingObjectError(sha, self._missing_hint(sha)) from None

    def _named(self, name: str) -> str:
        """The SHA that `commit:path` names, although the object is not here; empty where there is no such file."""
        commit, colon, path = name.partition(":")
        return self._at(commit, (path,)).get(path, "") if colon else name

    def _at(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        output = self.git("ls-tree", "-z", "--full-tree", "--end-of-options", commit, *paths)
        records = (record.split(b"\t", 1) for record in output.split(b"\0") if record)
        return {
            path.decode("utf-8", "surrogateescape"): meta.split(b" ")[2].decode("ascii")
            for meta, path in records
            if meta.split(b" ")[1] == b"blob"
        }

    def _reader(self) -> ObjectReader:
        with self._opening:
            reader = self._readers.get(os.getpid())
            if reader is None or not reader.usable:
                if reader is not None:
                    reader.close()
                reader = self._readers[os.getpid()] = ObjectReader(self.scratch.command)
            return reader

    def sizes(self, shas: Iterable[str]) -> dict[str, int | None]:
        """Bytes of objects by full SHA, in one request; None for one that is not here. Nothing is fetched."""
        asked = list(dict.fromkeys(shas))
        stdin = "".join(f"{sha}\n" for sha in asked).encode("ascii")
        output = self.scratch.command.run("cat-file", "--batch-check=%(objectsize)", "--buffer", stdin=stdin).output
        answers = output.split(b"\n")[:-1]
        return {sha: int(size) if size.isdigit() else None for sha, size in zip(asked, answers, strict=True)}

    def blobs_at(self, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The blobs that stand at places of commits, in one request: SHA by (commit, path), without those not there."""
        asked = [(commit, path) for commit, path in places if "\n" not in path]
        if self.is_partial:  # a name is told apart from its object only where the trees are listed
            by_commit: dict[str, list[str]] = {}
            for commit, path in asked:
                by_commit.setdefault(commit, []).append(path)
            listed = {commit: self._at(commit, paths) for commit, paths in by_commit.items()}
            return {(commit, path): sha for commit, files in listed.items() for path, sha in files.items()}
        names = "".join(f"{commit}:{path}\n" for commit, path in asked).encode("utf-8", "surrogateescape")
        answers = self.git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=names).split(b"\n")[:-1]
        kinds = (answer.decode("ascii", "replace").split(" ") for answer in answers)
        return {place: kind[1] for place, kind in zip(asked, kinds, strict=True) if kind[0] == "blob"}

    def prefetch(self, shas: Iterable[str]) -> None:
        """Bring the missing blobs of a partial clone in one request, into the scratch directory. Else nothing."""
        if self._fetcher is not None:
            self._brings(sha for sha, size in self.sizes(sha for sha in shas if sha.strip("0")).items() if size is None)

    def _brings(self, shas: Iterable[str]) -> bool:
        """Fetch objects of a partial clone; whether there was one to ask."""
        wanted = [sha for sha in shas if sha]
        if self._fetcher is None or not wanted:
            return False
        self._fetcher.bring(wanted)
        return self._fetcher.failed is None

    def _missing_hint(self, sha: str) -> str:
        because = f" ({self._fetcher.failed})" if self._fetcher is not None and self._fetcher.failed else ""
        return f"{because}; run: git fetch {self.remote()} {sha}" if sha else because

    def missing_hint(self, shas: Sequence[str]) -> str:
        """The line that brings objects which are not here, for a message; with why guard could not fetch them."""
        if len(shas) == 1:
            return self._missing_hint(shas[0])
        because = f" ({self._fetcher.failed})" if self._fetcher is not None and self._fetcher.failed else ""
        return f"{because}; run: git fetch --refetch --no-filter {self.remote()}"

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
        if self.is_partial:
            self._bring_differing(ours, theirs, *self.merge_bases(ours, theirs))
        arguments = ("merge-tree", "--write-tree", "-z", "--no-messages", "--end-of-options", ours, theirs)
        output = self.git(*arguments, accept=(0, 1))
        tree, _, rest = output.partition(b"\0")
        stages: dict[str, dict[int, Entry]] = {}
        for record in rest.split(b"\0"):
            meta, separator, path = record.partition(b"\t")
            if separator:
                mode, sha, stage = meta.decode("ascii").split(" ")
                stages.setdefault(path.decode("utf-8", "surrogateescape"), {})[int(stage)] = Entry(mode, sha)
        return AutomaticMerge(tree.decode("ascii"), frozenset(stages), stages)

    def _bring_differing(self, *commits: str) -> None:
        """Bring the files by which trees differ: what a merge of them may have to read."""
        trees = [self.entries(commit) for commit in commits]
        paths = {path for tree in trees for path in tree}
        differing = (path for path in paths if len({tree.get(path) for tree in trees}) > 1)
        found = [tree[path] for path in differing for tree in trees if path in tree]
        self.prefetch(entry.sha for entry in found if entry.kind != "submodule")

    def virtual_base(self, bases: tuple[str, ...]) -> str:
        """One commit that stands for several merge bases: their own merge, as the recursive strategy makes it."""
        current = bases[0]
        for other in bases[1:]:
            current = self._synthetic_commit(self.automatic_merge(current, other).tree, current, other)
        return current

    def _synthetic_commit(self, tree: str, *parents: str) -> str:
        flags = [flag for parent in parents for flag in ("-p", parent)]
        return self.git("commit-tree", self.tree_of(tree), *flags, stdin=b"guard\n").decode().strip()
