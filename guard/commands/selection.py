"""Which syncs a command speaks of: the user's words as merges to judge."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from guard.commands.range_options import RangeOptions
from guard.commands.target import find_target, other_branches
from guard.config import Config
from guard.errors import GitError, GuardError, NothingCheckedError
from guard.git import Repository
from guard.git.index import merge_heads
from guard.sync import topology
from guard.sync.topology import Sync

SHORT = 10
"""Digits of a SHA in what is said."""
_NAMED = 12  # digits of a SHA in a command that a report names


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be checked.

    Attributes:
        syncs: merges to judge, oldest first.
        start, tip: commit or tree SHAs between which the branch changed, for the differential linter; None where no
            range was asked for.
        unanswered: why a merge that seems to be there could not be judged (exit 3), if so.
        notices: lines for the reader.
        paths: show findings of these files and folders only; empty for all.
        exact: the options by which just this is selected again, later and elsewhere: with SHAs and no branch's name.
    """

    syncs: tuple[Sync, ...] = ()
    start: str | None = None
    tip: str | None = None
    unanswered: str | None = None
    notices: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    exact: RangeOptions = field(default_factory=RangeOptions)


def select(repository: Repository, chosen: RangeOptions, config: Config) -> Selection:
    """Turn the user's words into syncs.

    Raises:
        GuardError: a revision is empty, or options that exclude each other are given.
        GitError: a revision is unknown, histories are unrelated, or an octopus merge stands in the range.
        NothingCheckedError: `--merge` names a commit with one parent.
    """
    chosen.refuse_empty()
    if chosen.since and (chosen.merge or chosen.ours or chosen.theirs):
        raise GuardError("--since cannot be combined with --merge, --ours or --theirs")
    if chosen.ours or chosen.theirs or chosen.base or chosen.merged:
        if chosen.merge or not (chosen.ours and chosen.theirs):
            raise GuardError("--ours and --theirs go together (and without --merge); --base and --merged go with them")
        sync = topology.from_sides(repository, chosen.ours, chosen.theirs, chosen.base, chosen.merged)
        sides = {"ours": sync.ours, "theirs": sync.theirs, "merged": sync.checked}
        sides |= {"base": sync.bases[0]} if chosen.base else {}
        exact = RangeOptions(**{name: sha[:_NAMED] for name, sha in sides.items()})
        return Selection((sync,), sync.ours, sync.checked, exact=exact)
    if chosen.merge:
        return _of_merge(_one_merge(repository, chosen.merge, config))
    if chosen.since:
        return _since(repository, chosen.since, config)
    return _here(repository, config)


def named_paths(repository: Repository, paths: Sequence[str], selection: Selection) -> tuple[str, ...]:
    """The user's paths as the trees know them: relative to the top of the repository, with forward slashes.

    Args:
        paths: as typed, relative to the working directory; in a bare repository relative to the tree.
        selection: the trees in which a path may be, besides the work tree.

    Raises:
        GuardError: a path is outside of the repository, or in none of the trees: no finding could ever be in it, and
            silence would look like a pass.
    """
    top = repository.work_tree
    sides = (sha for sync in selection.syncs for sha in (sync.checked, sync.ours, sync.theirs, *sync.bases))
    trees = [sha for sha in dict.fromkeys((selection.tip, selection.start, *sides)) if sha is not None]
    found = []
    for path in paths:
        # A link in the path leads on; a link at its end is meant itself.
        full = Path(path).absolute()
        inside = path if top is None else os.path.relpath(full.parent.resolve() / full.name, top.resolve())
        name = os.path.normpath(inside)
        if Path(name).parts[0] in {os.pardir, os.sep}:
            raise GuardError(f"{path} is outside of the repository {top or repository.git_directory}")
        name = name.replace(os.sep, "/")
        if (top is None or not os.path.lexists(top / name)) and not any(repository.holds(sha, name) for sha in trees):
            raise GuardError(f"{path} does not exist, neither in the work tree nor in what is judged")
        found.append(name)
    return tuple(found)


def in_progress(repository: Repository) -> Selection | None:
    """The merge being made right now; None when there is none."""
    heads = merge_heads(repository)
    if not heads:
        return None
    if len(heads) > 1:
        raise GitError(f"an octopus merge of {len(heads)} heads is in progress, which guard does not judge")
    sync = topology.in_progress(repository, repository.resolve(heads[0]))
    return Selection((sync,), sync.ours, sync.checked)


def _here(repository: Repository, config: Config) -> Selection:
    """No range was named: a merge in progress, else HEAD where it is a merge."""
    current = in_progress(repository) if repository.work_tree is not None else None
    if current is not None:
        return current
    if not repository.exists("HEAD"):
        return Selection(notices=("the branch has no commit yet; no merge was checked",))
    head = repository.resolve("HEAD")
    parents = re.findall(rb"^parent ", repository.git("cat-file", "commit", head).split(b"\n\n", 1)[0], re.MULTILINE)
    if len(parents) > 1:
        sync = topology.from_merge(repository, head, others=other_branches(repository, config))
        return _of_merge(sync)
    return Selection(notices=("no merge was checked: none is in progress and HEAD is none (see --since, --merge)",))


def _of_merge(sync: Sync) -> Selection:
    return Selection((sync,), sync.ours, sync.checked, exact=RangeOptions(merge=sync.merge[:_NAMED]))


def _one_merge(repository: Repository, revision: str, config: Config) -> Sync:
    others = other_branches(repository, config)
    try:
        return topology.from_merge(repository, revision, others=others)
    except NothingCheckedError:
        commit = repository.commit(repository.resolve(revision))
        if config.sync_from and topology.looks_like_sync(commit):
            return topology.from_squash(repository, commit, repository.resolve(config.sync_from))
        raise


def _since(repository: Repository, since: str, config: Config) -> Selection:
    start, tip, about = _ends(repository, since, config)
    exact = RangeOptions(since=f"{start[:_NAMED]}..{tip[:_NAMED]}")
    others = other_branches(repository, config)
    syncs = topology.in_range(repository, start, tip, others)
    squashed = topology.squashed_in_range(repository, start, tip) if not syncs else []
    if squashed and config.sync_from:
        source = repository.resolve(config.sync_from)
        syncs = [topology.from_squash(repository, commit, source, tip) for commit in reversed(squashed)]
        squashed = []
    if squashed:
        message = topology.one_parent_message(squashed[0])
        return Selection((), start, tip, message, (*about, message), exact=exact)
    notices = about if syncs else (*about, f"no merge was checked: there is none in {start[:SHORT]}..{tip[:SHORT]}")
    return Selection(tuple(syncs), start, tip, None, notices, exact=exact)


def _ends(repository: Repository, since: str, config: Config) -> tuple[str, str, tuple[str, ...]]:
    """(start, tip) of `--since`, and what the reader has to know of how they were found."""
    repository.require_history()
    if "..." in since:
        one, _, other = since.partition("...")
        head, tip = repository.resolve(one or "HEAD"), repository.resolve(other or "HEAD")
        return _fork(repository, head, tip), tip, ()
    if ".." in since:
        one, _, other = since.partition("..")
        return repository.resolve(one or "HEAD"), repository.resolve(other or "HEAD"), ()
    tip = repository.resolve("HEAD")
    if since == "merge-base":
        target = find_target(repository, config)
        start = _fork(repository, repository.resolve(target.name), tip)
        said = f"relative to {target.name}, {target.why}, which HEAD left at {start[:SHORT]}"
        if start == tip:
            said += "; it contains HEAD, so nothing is left to check (name another, as in --since BRANCH...HEAD)"
        return start, tip, (said,)
    return repository.resolve(since), tip, ()


def _fork(repository: Repository, target: str, tip: str) -> str:
    bases = repository.merge_bases(target, tip)
    if not bases:
        raise GitError(f"{target[:10]} and {tip[:10]} have unrelated histories: there is no merge base")
    # Where a sync made several, the one on the target's own line is where the branch left it.
    line = set(repository.git("rev-list", "--first-parent", target).decode().split())
    return next((base for base in bases if base in line), bases[0])
