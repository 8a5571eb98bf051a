"""GRD503: the landed tree against what was checked: the checked head, merged by git onto what it landed on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from guard.codes import name_of
from guard.errors import GitError, NothingCheckedError
from guard.git import Entry, Repository
from guard.model import Evidence, Finding, Severity, fingerprint

_LONGEST = 12  # lines of one place that evidence shows


@dataclass(frozen=True, slots=True)
class Landing:
    """How a checked head came onto a branch.

    Attributes:
        landed: the commit on the branch.
        onto: what the branch was before: the landed commit's first parent.
        head: the commit that was checked.
    """

    landed: str
    onto: str
    head: str


def landing_of(repository: Repository, landed: str, head: str | None = None) -> Landing:
    """The landing that a commit is.

    Arguments:
        landed: names the commit on the branch: a merge, or a squashed or rebased commit with one parent.
        head: names what was checked; of a merge its second parent, else HEAD, by default.

    Raises:
        GitError: unknown revisions, an octopus merge, or a commit without parents.
        NothingCheckedError: the head is the landed commit itself.
    """
    commit = repository.commit(repository.resolve(landed))
    if not 1 <= len(commit.parents) <= 2:
        raise GitError(f"{landed} has {len(commit.parents)} parents: a landing has one or two")
    default = commit.parents[1] if len(commit.parents) == 2 else "HEAD"
    checked = repository.resolve(head or default)
    if checked == commit.sha:
        raise NothingCheckedError(
            f"{landed} is both what landed and what was checked; name the checked head: --landed {landed} --merge REV"
        )
    return Landing(commit.sha, commit.parents[0], checked)


def landed_differs(repository: Repository, landing: Landing) -> tuple[Finding, ...]:
    """Every file of the landed tree that is not as git merges the checked head onto the branch."""
    automatic = repository.automatic_merge(landing.onto, landing.head)
    trees = {
        "landed": repository.entries(landing.landed),
        "expected": repository.entries(automatic.tree),
        "onto": repository.entries(landing.onto),
        "head": repository.entries(landing.head),
    }
    paths = sorted({*trees["landed"], *trees["expected"]})
    differing = [path for path in paths if trees["landed"].get(path) != trees["expected"].get(path)]
    return tuple(_findings(repository, landing, trees, automatic.conflicts, differing))


def _findings(
    repository: Repository,
    landing: Landing,
    trees: dict[str, dict[str, Entry]],
    conflicts: frozenset[str],
    differing: list[str],
) -> Iterator[Finding]:
    for path in differing:
        there, onto, head = (trees[name].get(path) for name in ("landed", "onto", "head"))
        severity = Severity.ERROR
        if path in conflicts:
            if there == head:
                # The head's form of a conflict is what was checked; what it met is for the reader to judge.
                severity, how = Severity.WARNING, "conflicted when it landed and was taken from the checked head"
            elif there == onto:
                how = "conflicted when it landed and was taken from the branch: the checked change is not in it"
            else:
                how = "conflicted when it landed and was resolved to a form that nobody checked"
        elif there is None:
            how = "is gone from the landed tree"
        elif there == onto:
            how = "is as before the landing: the checked change is not in it"
        elif there == head:
            how = "is as the checked head has it: what the branch had changed since is undone"
        else:
            how = "differs from the checked head and from git's merge of it"
        line, excerpts = _place(repository, trees, path)
        yield Finding(
            code="GRD503",
            name=name_of("GRD503"),
            severity=severity,
            path=path,
            line=line,
            message=f"{path} {how} (landed {landing.landed[:10]}, checked {landing.head[:10]})",
            fingerprint=fingerprint("GRD503", path, "<module>", f"{how} {excerpts.merged or ''}"),
            evidence=excerpts,
            score=20.0 if severity is Severity.ERROR else 4.0,
        )


def _place(repository: Repository, trees: dict[str, dict[str, Entry]], path: str) -> tuple[int, Evidence]:
    """The first line of the landed file that is not as expected, and what the trees say there."""
    there, expected = (_lines(repository, trees[name].get(path)) for name in ("landed", "expected"))
    matcher = SequenceMatcher(None, expected, there, autojunk=False)
    block = next(((a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"), (0, 0, 0, 0))
    was, now = expected[block[0] : block[1]][:_LONGEST], there[block[2] : block[3]][:_LONGEST]
    return block[2] + 1, Evidence(theirs="\n".join(was) or None, merged="\n".join(now) or None)


def _lines(repository: Repository, entry: Entry | None) -> list[str]:
    if entry is None or entry.kind == "submodule":
        return []
    return repository.blob(entry.sha).decode("utf-8", "replace").splitlines()
