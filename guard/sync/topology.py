"""Which merges are there to judge: sides by ancestry, bases, and the tree that counts as merged."""

from __future__ import annotations

import re
from dataclasses import dataclass

from guard.errors import GitError, NothingCheckedError
from guard.git import Commit, Repository
from guard.git.index import index_tree

# A commit with one parent whose subject says that it syncs another branch is a squashed sync until told otherwise.
_SYNC_SUBJECT = re.compile(
    r"\b(sync|merge|upstream)\b.*\b(upstream|main|master|origin|into|from)\b|\bmerge\b.*\bbranch\b", re.IGNORECASE
)
# The merge that GitHub makes of a pull request to run checks on: the base branch always comes first.
_PULL_REQUEST_MERGE = re.compile(r"Merge [0-9a-f]{40,64} into [0-9a-f]{40,64}")


@dataclass(frozen=True, slots=True)
class Sync:
    """One merge to judge.

    Attributes:
        merge: SHA of the merge commit; of the tree, for a merge in progress.
        checked: commit or tree whose content is judged as merged (the tip where the range goes on).
        ours, theirs: SHAs of the sides.
        bases: merge bases, best first; more than one means a criss-cross history.
        subject: first line of the merge's message, or what it is.
        explicit: a user gave the sides by hand.
        unmerged: paths whose conflict is not resolved yet (merge in progress).
    """

    merge: str
    checked: str
    ours: str
    theirs: str
    bases: tuple[str, ...]
    subject: str = ""
    explicit: bool = False
    unmerged: tuple[str, ...] = ()


def from_merge(repository: Repository, revision: str, checked: str | None = None, others: tuple[str, ...] = ()) -> Sync:
    """The sync that a merge commit is.

    Arguments:
        revision: names a commit with two parents. Its first parent receives, unless ancestry says otherwise.
        checked: full SHA of the tree to judge; the merge's own by default.
        others: full SHAs of the tips of branches that are merged in whole (main), where they are known.

    Raises:
        NothingCheckedError: the commit has one parent; the message says whether it looks like a squashed sync.
        GitError: an octopus merge, or unrelated histories.
    """
    repository.require_history()
    commit = repository.commit(repository.resolve(revision))
    if len(commit.parents) > 2:
        raise GitError(
            f"{revision} is an octopus merge of {len(commit.parents)} parents, which guard does not judge; "
            "redo it as two-parent merges"
        )
    if len(commit.parents) < 2:
        raise NothingCheckedError(one_parent_message(commit))
    ours, theirs = _sides(repository, commit, others)
    return Sync(commit.sha, checked or commit.sha, ours, theirs, _bases(repository, ours, theirs), commit.subject)


def from_sides(
    repository: Repository, ours: str, theirs: str, base: str | None = None, merged: str | None = None
) -> Sync:
    """A sync whose sides are named: for squashed syncs, rebased ones, and trees that no commit joins.

    Arguments:
        merged: the result; `HEAD` by default.
        base: overrides the merge base.
    """
    repository.require_history()
    one, other = repository.resolve(ours), repository.resolve(theirs)
    result = repository.resolve(merged or "HEAD")
    bases = (repository.resolve(base),) if base else _bases(repository, one, other)
    return Sync(result, result, one, other, bases, repository.commit(result).subject, explicit=True)


def in_progress(repository: Repository, theirs: str) -> Sync:
    """The merge that is being made: the index against HEAD and the commit being merged in.

    Arguments:
        theirs: full SHA of what is merged in (MERGE_HEAD, or from GITHEAD_<sha>).
    """
    repository.require_history()
    ours = repository.resolve("HEAD")
    index = index_tree(repository)
    bases = _bases(repository, ours, theirs)
    return Sync(index.tree, index.tree, ours, theirs, bases, "merge in progress", unmerged=index.unmerged)


def in_range(repository: Repository, start: str, tip: str, others: tuple[str, ...] = ()) -> list[Sync]:
    """The syncs in `start..tip`, oldest first, however deep inside PR branches, each judged at the tip.

    Every merge on the branch's own line is judged, and every merge inside a branch that forked from that line. What
    is not looked into is the history of the other long-lived branch: its merges were judged where they were made.

    Arguments:
        start, tip: full SHAs.
        others: full SHAs of the tips of branches that are merged in whole (main), where they are known.
    """
    repository.require_history()
    line = frozenset(repository.git("rev-list", "--first-parent", start).decode().split())
    foreign = [tip_of_other for tip_of_other in others if not repository.is_ancestor(tip, tip_of_other)]
    syncs: dict[str, Sync] = {}
    chains, seen = [tip], set()
    while chains:
        head = chains.pop()
        for commit in repository.commits(["--first-parent", "--merges", head, f"^{start}"]):
            if commit.sha in seen:
                break
            seen.add(commit.sha)
            if len(commit.parents) > 2:
                raise GitError(f"{commit.sha[:10]} in the range is an octopus merge, which guard does not judge")
            sync = _met(repository, commit, tip, tuple(foreign))
            if sync:
                syncs[commit.sha] = sync
            second = commit.parents[1]
            if not any(repository.is_ancestor(second, other) for other in foreign) and _forked_from(
                repository, second, start, line
            ):
                chains.append(second)
    order = repository.git("rev-list", "--topo-order", "--merges", "--reverse", tip, f"^{start}").decode().split()
    return [syncs[sha] for sha in order if sha in syncs]


def squashed_in_range(repository: Repository, start: str, tip: str) -> list[Commit]:
    """Commits on the range's first-parent line that have one parent and tell of a sync."""
    commits = repository.commits(["--first-parent", "--no-merges", tip, f"^{start}"])
    return [commit for commit in commits if looks_like_sync(commit)]


def from_squash(repository: Repository, commit: Commit, source: str, checked: str | None = None) -> Sync:
    """The sync that a squashed commit was, with the branch it brought in known.

    Arguments:
        source: full SHA of the tip of the branch that is synced from. What was merged is the commit that the message
            names, else the newest commit of that branch's own line that is no younger than the squash.
    """
    named = [sha for sha in re.findall(r"\b[0-9a-f]{7,64}\b", commit.message) if repository.exists(sha)]
    theirs = next((sha for sha in map(repository.resolve, named) if repository.is_ancestor(sha, source)), None)
    if theirs is None:
        before = repository.git("rev-list", "--first-parent", "-1", f"--before={commit.date}", source).decode().strip()
        theirs = before or source
    ours = commit.parents[0]
    bases = _bases(repository, ours, theirs)
    return Sync(commit.sha, checked or commit.sha, ours, theirs, bases, commit.subject, explicit=True)


def one_parent_message(commit: Commit) -> str:
    """What to say of a commit that was to be judged as a merge and has one parent."""
    short = commit.sha[:10]
    if looks_like_sync(commit):
        return (
            f"{short} has one parent, but looks like a squashed sync ({commit.subject!r}); no merge was checked. "
            f"Name what it merged: guard check --ours {short}^ --theirs UPSTREAM --merged {short}"
        )
    return f"{short} is not a merge ({commit.subject!r}); no merge was checked"


def looks_like_sync(commit: Commit) -> bool:
    """Whether a commit with one parent tells of a sync in its subject."""
    return len(commit.parents) == 1 and tells_of_sync(commit.subject)


def tells_of_sync(subject: str) -> bool:
    """Whether the first line of a message tells of a sync with another branch."""
    return bool(_SYNC_SUBJECT.search(subject))


def _met(repository: Repository, commit: Commit, checked: str, others: tuple[str, ...] = ()) -> Sync | None:
    """The sync of a two-parent merge, or None where one side contains the other and the merge took it as it is."""
    ours, theirs = _sides(repository, commit, others)
    bases = _bases(repository, ours, theirs)
    if ours in bases or theirs in bases:
        # `git merge --no-ff` of a branch that is ahead: nothing met, but a person or a strategy can still drop it.
        later = theirs if ours in bases else ours
        if repository.tree_of(commit.sha) == repository.tree_of(later):
            return None
    return Sync(commit.sha, checked, ours, theirs, bases, commit.subject)


def _forked_from(repository: Repository, head: str, start: str, line: frozenset[str]) -> bool:
    """Whether the own line of `head` leaves the line of `start`: a PR branch, and no other long-lived branch."""
    chain = repository.git("rev-list", "--first-parent", "--boundary", head, f"^{start}").decode().split()
    roots = [sha.removeprefix("-") for sha in chain if sha.startswith("-")]
    return any(root in line for root in roots)


def _sides(repository: Repository, commit: Commit, others: tuple[str, ...]) -> tuple[str, str]:
    """(ours, theirs). The first parent receives, unless it alone belongs to a branch that is merged in whole."""
    first, second = commit.parents
    if _PULL_REQUEST_MERGE.fullmatch(commit.subject):
        return first, second
    for other in others:
        if repository.is_ancestor(first, other) and not repository.is_ancestor(second, other):
            return second, first
    return first, second


def _bases(repository: Repository, ours: str, theirs: str) -> tuple[str, ...]:
    bases = repository.merge_bases(ours, theirs)
    if not bases:
        raise GitError(f"{ours[:10]} and {theirs[:10]} have unrelated histories: there is no merge base to judge by")
    return bases
