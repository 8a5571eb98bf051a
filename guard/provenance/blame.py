"""Who put a line in and who took it out, among the commits of one side since the base."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from guard.git import Commit, Repository
from guard.git.history import patches
from guard.judge.numeric import is_test
from guard.model import Origin, Side

_PR = re.compile(r"\(#(\d+)\)|\bMerge pull request #(\d+)|\(!(\d+)\)")
_PR_TRAILER = re.compile(r"^(?:PR|Pull-Request|Pull request|Reviewed-on|Closes)\b.*?(?:#|/pull/)(\d+)", re.M | re.I)
_FIX = re.compile(
    r"\b(bug ?fix(es)?|hot ?fix(es)?|fix(es|ed|ing)?|bugs?|repair(s|ed)?|wrong(ly)?|crash(es|ed)?|hang(s|ing)?|"
    r"regression|incorrect|deadlock)\b",
    re.IGNORECASE,
)
_CHORE = re.compile(
    r"\bfix(es|ed|ing)?\W+(\w+\W+){0,2}(typos?|lint(ing|er)?|format(ting)?|style|spelling|docs?|docstrings?|"
    r"comments?|mypy|flake8|ruff|pylint|isort|ci|builds?|tests?|imports?|warnings?|links?|wording|changelog|readme|"
    r"(merge )?conflicts?|rebase)\b",
    re.IGNORECASE,
)
SHORTEST_LINE = 4  # characters; a shorter line tells nothing about who wrote it


@dataclass(frozen=True, slots=True)
class Stroke:
    """One line that one commit put in or took out."""

    commit: str
    path: str
    order: int


@dataclass(slots=True)
class Strokes:
    """What a side's commits did to the lines asked about; newest first."""

    added: dict[str, list[Stroke]] = field(default_factory=lambda: defaultdict(list))
    removed: dict[str, list[Stroke]] = field(default_factory=lambda: defaultdict(list))


def telling(line: str) -> bool:
    """Whether a source line is one that a commit can be known by."""
    return len(line) >= SHORTEST_LINE and any(char.isalpha() for char in line)


def strokes(
    repository: Repository, tip: str, bases: Sequence[str], lines: Iterable[str], paths: Sequence[str]
) -> Strokes:
    """One walk over the patches of a side's own commits, merges left out (see `guard.provenance.merge_edits`).

    Arguments:
        tip, bases: full SHAs; the commits of `tip` that no base contains are walked.
        lines: stripped source lines that are asked about.
        paths: files to look in; empty for all.
    """
    wanted = {line.encode("utf-8", "surrogateescape") for line in lines if telling(line)}
    found = Strokes()
    if not wanted:
        return found
    arguments = ("-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-merges")
    limits = [f"^{base}" for base in bases]
    output = patches(repository, (*arguments, "--format=%x01%H", tip, *limits), tuple(paths))
    read_patches(output, wanted, found)
    return found


def read_patches(
    output: bytes, wanted: Container[bytes], found: Strokes, orders: Mapping[str, int] | None = None
) -> None:
    """Note the lines asked about in what `git log -p --format=%x01%H` printed.

    Arguments:
        wanted: stripped lines.
        found: where strokes are added.
        orders: how far back each commit lies; by default they are counted as they come.
    """
    commit, path, order = "", "", 0
    for line in output.split(b"\n"):
        mark = line[:1]
        if mark in (b"+", b"-"):
            text = line[1:].strip()
            if text in wanted and not line.startswith((b"+++ ", b"--- ")):
                known = found.added if mark == b"+" else found.removed
                known[text.decode("utf-8", "surrogateescape")].append(Stroke(commit, path, order))
        elif mark == b"\x01":
            commit = line[1:].decode("ascii", "replace")
            order = order + 1 if orders is None else orders.get(commit, 0)
        elif line.startswith(b"diff --git "):
            path = line.rpartition(b" b/")[2].decode("utf-8", "surrogateescape")


def of_both(ask: Callable[[Side], Strokes]) -> dict[Side, Strokes]:
    """The walks over both sides at once: each waits for its own git."""
    with ThreadPoolExecutor(len(Side)) as pool:
        return dict(zip(Side, pool.map(ask, Side), strict=True))


def blamed(known: dict[str, list[Stroke]], lines: Iterable[str], path: str) -> dict[str, int]:
    """Commits by how many characters of the lines are theirs: for each line the newest commit, same file first."""
    votes: dict[str, int] = defaultdict(int)
    for line in lines:
        candidates = known.get(line, ())
        here = next((stroke for stroke in candidates if stroke.path == path), None)
        chosen = here or (candidates[0] if candidates else None)
        if chosen is not None:
            votes[chosen.commit] += len(line)
    return dict(votes)


def pull_request(message: str) -> int | None:
    """The number of the pull request that a commit message names."""
    subject = message.split("\n", 1)[0]
    match = list(_PR.finditer(subject))
    if match:
        return int(next(group for group in match[-1].groups() if group))
    trailer = _PR_TRAILER.search(message)
    return int(trailer.group(1)) if trailer else None


def is_fix(message: str) -> bool:
    """Whether a commit message says that it mends something: its subject, or a line that begins with it."""
    subject = message.split("\n", 1)[0]
    return bool(_FIX.search(_CHORE.sub("", subject)))


def origin(commit: Commit, files: Sequence[str] = ()) -> Origin:
    """A commit as the report tells it.

    Arguments:
        files: the files that it touched.
    """
    tests = tuple(path for path in files if is_test(path))
    return Origin(
        commit.sha,
        pull_request(commit.message),
        commit.subject,
        is_fix(commit.message),
        tests,
        commit.date,
        commit.author,
    )


def origins(repository: Repository, shas: Iterable[str]) -> dict[str, Origin]:
    """Commits by SHA, with their tests, in one walk."""
    wanted = list(dict.fromkeys(shas))
    if not wanted:
        return {}
    names = repository.git(
        "log",
        "--no-walk=unsorted",
        "-z",
        "--format=%x01%H",
        "--name-only",
        "--no-renames",
        "-m",
        "--first-parent",
        *wanted,
    )
    files: dict[str, list[str]] = {}
    for record in names.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        sha, _, rest = record.partition("\0")
        files[sha.strip()] = [name.strip() for name in rest.split("\0") if name.strip()]
    return {
        commit.sha: origin(commit, files.get(commit.sha, ()))
        for commit in repository.commits(["--no-walk=unsorted", *wanted])
    }
