"""The branch that `--since merge-base` is relative to, and why it is that one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from guard.config import Config
from guard.errors import GuardError
from guard.git import Repository

# Names by which a repository tells its long-lived branches, those that receive syncs first.
LONG_LIVED = ("dev", "develop", "development", "next", "staging", "main", "master", "trunk")
# Names of the branch that others fork from, where no remote tells which it is.
DEFAULTS = ("main", "master")


@dataclass(frozen=True, slots=True)
class Target:
    """A branch to be relative to.

    Attributes:
        name: a revision.
        why: what makes it the one, as a phrase behind its name.
    """

    name: str
    why: str


def find_target(repository: Repository, config: Config) -> Target:
    """The configured branch; else the upstream, the branch that an open sync is made for, or the default branch.

    Of these the first one counts that lacks something of HEAD: relative to a branch that contains it there is nothing
    to check. The upstream of a pushed branch is that branch's own copy, so it counts where HEAD has a merge over it.

    Raises:
        GuardError: none of them is there.
    """
    if config.target:
        for name in _configured(repository, config.target):
            if repository.exists(name):
                return Target(name, "the configured target")
        raise GuardError(
            f"the configured target {config.target!r} is no revision here: fetch it, or correct [tool.guard]"
        )
    contained = None
    for target in _candidates(repository):
        if not _contains_head(repository, target.name):
            return target
        contained = contained or target
    if contained is not None:
        return contained
    raise GuardError(
        "no branch to be relative to: set target in [tool.guard], or name it as in guard check --since TARGET...HEAD"
    )


def other_branches(repository: Repository, config: Config) -> tuple[str, ...]:
    """Tips of the long-lived branches that are merged in whole, where the repository tells which they are."""
    remote = repository.remote()
    receivers = _configured(repository, config.target) if config.target else ("HEAD@{upstream}", f"{remote}/HEAD")
    target = next((repository.resolve(name) for name in receivers if repository.exists(name)), None)
    names = [config.sync_from, f"{remote}/HEAD", *(f"{remote}/{name}" for name in DEFAULTS), *DEFAULTS]
    tips = {repository.resolve(name): None for name in names if name and repository.exists(name)}
    return tuple(tip for tip in tips if tip != target)


def _configured(repository: Repository, target: str) -> tuple[str, ...]:
    return target, f"{repository.remote()}/{target}"


def _candidates(repository: Repository) -> Iterator[Target]:
    """Branches to be relative to, the most telling first."""
    remote = repository.remote()
    branch = _ask(repository, "symbolic-ref", "--quiet", "--short", "HEAD")
    upstream = _ask(repository, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "HEAD@{upstream}")
    is_copy = upstream is not None and upstream.partition("/")[2] == branch
    if upstream and (not is_copy or _has_merge(repository, upstream)):
        yield Target(upstream, f"the upstream of {branch}")
    own = {name for name in (branch, upstream, f"{remote}/{branch}") if name}
    if branch not in LONG_LIVED:
        yield from _of_open_sync(repository, own)
    for name in (f"{remote}/HEAD", *(f"{remote}/{default}" for default in DEFAULTS), *DEFAULTS):
        if name != branch and repository.exists(name):
            yield Target(_ask(repository, "rev-parse", "--abbrev-ref", name) or name, "the default branch")
    if upstream and is_copy:
        yield Target(upstream, f"the upstream of {branch}")


def _of_open_sync(repository: Repository, own: set[str]) -> Iterator[Target]:
    """The branch that received HEAD's newest merge but has not got it yet: it holds the merge's ours, not the merge."""
    if not repository.exists("HEAD"):
        return
    head = repository.resolve("HEAD")
    merge = repository.git("rev-list", "--first-parent", "--merges", "--max-count=1", head).decode("ascii").strip()
    if not merge:
        return
    ours = repository.commit(merge).parents[0]
    if own.issuperset(_branches(repository, "--contains", merge)):
        open_for = [
            name for name in _branches(repository, "--contains", ours, "--no-contains", merge) if name not in own
        ]
        for name in sorted(open_for, key=lambda name: _fitness(repository, name, head)):
            yield Target(name, f"for which {merge[:10]} is the open sync")


def _fitness(repository: Repository, name: str, head: str) -> tuple[int, int, str]:
    """Sort key: branches with the name of a long-lived one first, then those that HEAD has least over."""
    short = name.partition("/")[2] or name
    known = next((rank for rank, usual in enumerate(LONG_LIVED) if usual in {short, name}), len(LONG_LIVED))
    ahead = repository.git("rev-list", "--count", head, f"^{repository.resolve(name)}").decode("ascii")
    return known, int(ahead), name


def _branches(repository: Repository, *conditions: str) -> list[str]:
    """Short names of local and remote branches, without the remotes' HEAD."""
    form = "--format=%(symref)%00%(refname:short)"
    output = repository.git_here("for-each-ref", form, *conditions, "refs/heads", "refs/remotes")
    rows = (line.split("\0") for line in output.decode("utf-8", "surrogateescape").splitlines())
    return [name for symbolic, name in rows if not symbolic]


def _contains_head(repository: Repository, name: str) -> bool:
    return repository.exists("HEAD") and repository.is_ancestor(repository.resolve("HEAD"), repository.resolve(name))


def _has_merge(repository: Repository, upstream: str) -> bool:
    """Whether HEAD has a merge over its upstream."""
    if not repository.exists("HEAD") or not repository.exists(upstream):
        return False
    over = (repository.resolve("HEAD"), f"^{repository.resolve(upstream)}")
    return bool(repository.git("rev-list", "--merges", "--max-count=1", *over).strip())


def _ask(repository: Repository, *arguments: str) -> str | None:
    """What git says of a name; None where it knows none."""
    said = repository.git_here(*arguments, accept=(0, 1, 128)).decode("utf-8", "surrogateescape").strip()
    return said if said and not said.startswith("HEAD@") else None
