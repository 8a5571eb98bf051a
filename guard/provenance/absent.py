"""The fixes that one branch has and another lacks, has dead, or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guard.documents.kinds import kind_of
from guard.git import Commit, Repository
from guard.parallel import in_processes
from guard.provenance.blame import is_fix
from guard.provenance.containment import Branch, Contained, Ledger
from guard.provenance.fixes import FixEdit
from guard.provenance.text_edits import TextEdit

LACKING = frozenset({"partly", "dead", "reverted", "missing", "not-merged"})


@dataclass(frozen=True, slots=True)
class Absent:
    """A fix that a branch lacks.

    Attributes:
        brought_by: the commit on the first branch's own line that has it: the fix, or the merge that brought it.
    """

    commit: Commit
    answer: Contained
    numeric: bool
    brought_by: str


def absent_fixes(
    ledger: Ledger,
    having: Branch,
    lacking: Branch,
    since: str | None = None,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[Absent]:
    """The fixes that `having` has and `lacking` has not, numeric ones first, then newest first.

    A commit counts as a fix where its subject says that it mends something. Fixes that `lacking` has under another
    SHA (squashed, cherry-picked, written anew) are told by content and left out.

    Arguments:
        since: a date as git reads it; by default only the commits that `lacking` has never merged are asked about,
            and with a date also those that it merged and may have lost since.
    """
    candidates = [
        commit
        for commit in _own_commits(ledger.repository, having.sha, lacking.sha, since)
        if len(commit.parents) == 1 and is_fix(commit.message)
    ]
    if progress is not None:
        progress(f"comparing {len(candidates)} fixes")
    shares = [candidates[start :: max(1, jobs)] for start in range(max(1, jobs))]
    answered = in_processes(lambda share: [_ask(ledger, c, having, lacking) for c in share], shares, jobs)
    found = [item for part in answered for item in part if item is not None]
    line = set(ledger.repository.git("rev-list", "--first-parent", having.sha).decode("ascii").split())
    told = [
        Absent(c, answer, numeric, _bringer(ledger.repository, c.sha, having.sha, line)) for c, answer, numeric in found
    ]
    told.sort(key=lambda item: item.commit.date, reverse=True)
    return sorted(told, key=lambda item: not item.numeric)


def _own_commits(repository: Repository, having: str, lacking: str, since: str | None) -> Iterator[Commit]:
    limits = [f"--since={since}"] if since else [f"^{lacking}"]
    return repository.commits(["--no-merges", *limits, having])


def _ask(ledger: Ledger, commit: Commit, having: Branch, lacking: Branch) -> tuple[Commit, Contained, bool] | None:
    fix = ledger.fix(commit)
    edits: tuple[FixEdit | TextEdit, ...] = (*fix.edits, *(edit for edit in fix.texts if kind_of(edit.path) != "prose"))
    if not edits:
        return None
    touched = [edit.path for edit in edits]
    if all(path in lacking.entries and having.entries.get(path) == lacking.entries[path] for path in touched):
        return None
    answer = ledger.contains([commit], lacking)
    if answer.status not in LACKING:
        return None
    # What the first branch itself no longer has is nothing that the other one lacks.
    there = ledger.contains([commit], having)
    return None if there.status in LACKING else (commit, answer, fix.numeric)


def _bringer(repository: Repository, commit: str, tip: str, line: set[str]) -> str:
    if commit in line:
        return commit
    arguments = ("rev-list", "--first-parent", "--ancestry-path", tip, f"^{commit}")
    path: Sequence[str] = repository.git(*arguments).decode("ascii").split()
    return path[-1] if path else commit
