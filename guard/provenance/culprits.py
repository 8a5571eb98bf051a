"""Which commit took an edit out of a branch: a walk back through the versions of the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from guard.git import Repository
from guard.provenance.effect import Key


@dataclass(frozen=True, slots=True)
class Culprit:
    """A commit that took edited statements out; `merge` tells of a commit with several parents."""

    commit: str
    merge: bool


@dataclass(slots=True)
class FileHistory:
    """The versions of one file between a fix and a tip, as git's history simplification shows them.

    Attributes:
        parents: by commit, the next older commits at which the file's content may differ.
        holders: commits that descend from the fix.
    """

    tip: str | None
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    holders: frozenset[str] = frozenset()


def file_history(repository: Repository, fix: str, tip: str, path: str) -> FileHistory:
    """The versions of a file in `tip` that are younger than the fix.

    Arguments:
        fix, tip: full SHAs; the fix is an ancestor of the tip.
    """
    arguments = ("rev-list", "--full-history", "--parents", "--topo-order", tip, f"^{fix}^@", "--", path)
    parents: dict[str, tuple[str, ...]] = {}
    for line in repository.git(*arguments).decode("ascii").splitlines():
        commit, *above = line.split()
        parents[commit] = tuple(above)
    holders = {fix}
    for commit in reversed(parents):
        if any(parent in holders for parent in parents[commit]):
            holders.add(commit)
    return FileHistory(next(iter(parents), None), parents, frozenset(holders))


def culprits(
    lost: frozenset[Key], history: FileHistory, lost_in: Callable[[str], frozenset[Key]]
) -> dict[Key, Culprit]:
    """Which commit took each lost statement out.

    A commit with one parent did where its parent still has the statement. A merge did where a parent that descends
    from the fix still has it and no such parent had lost it before: the other side never had it, or git or a person
    took the wrong text.

    Arguments:
        lost_in: which statements the version of a commit lacks.

    Returns:
        Nothing for a statement of which the walk found no answer.
    """

    memo: dict[str, frozenset[Key]] = {}

    def lost_at(commit: str) -> frozenset[Key]:
        if commit not in memo:
            memo[commit] = lost_in(commit)
        return memo[commit]

    found: dict[Key, Culprit] = {}
    if history.tip is not None:
        _walk(history, lost, lost_at, found)
    return found


def _walk(
    history: FileHistory, lost: frozenset[Key], lost_at: Callable[[str], frozenset[Key]], found: dict[Key, Culprit]
) -> None:
    assert history.tip is not None
    waiting: list[tuple[str, frozenset[Key]]] = [(history.tip, lost)]
    seen: dict[str, set[Key]] = defaultdict(set)
    while waiting:
        commit, keys = waiting.pop()
        keys = frozenset(key for key in keys if key not in found and key not in seen[commit])
        seen[commit] |= keys
        if not keys:
            continue
        line = _line(history, commit)
        for key in keys:
            if key not in lost_at(line[-1]):
                step = line[_last_lost(line, key, lost_at)]
                found[key] = Culprit(step, len(history.parents[step]) > 1)
        parents = _holding(history, line[-1])
        rest = frozenset(key for key in keys if key not in found)
        for key in rest if parents else ():
            if all(key not in lost_at(parent) for parent in parents):
                found[key] = Culprit(line[-1], True)
        for parent in parents:
            left = frozenset(key for key in rest if key not in found and key in lost_at(parent))
            if left:
                waiting.append((parent, left))


def _line(history: FileHistory, commit: str) -> list[str]:
    """The versions from a commit back to the next one that does not have just one parent with the fix."""
    line = [commit]
    while len(parents := _holding(history, line[-1])) == 1:
        line.append(parents[0])
    return line


def _holding(history: FileHistory, commit: str) -> list[str]:
    return [parent for parent in dict.fromkeys(history.parents.get(commit, ())) if parent in history.holders]


def _last_lost(line: list[str], key: Key, lost_at: Callable[[str], frozenset[Key]]) -> int:
    """Index of the oldest version that lacks the statement, of a line that lacks it first and has it last.

    Found by halves: a statement that came and went several times was taken out at one of these versions.
    """
    low, high = 0, len(line) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if key in lost_at(line[middle]):
            low = middle
        else:
            high = middle
    return low
