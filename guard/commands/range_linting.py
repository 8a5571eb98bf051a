"""Lint what a range changed, told apart from what stood there before."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from guard.checks.pins import broken_in_tree, pins_of
from guard.commands.linting import excluded, rules_for
from guard.commands.selection import Selection
from guard.config import Config
from guard.documents.decoding import stand_in
from guard.documents.kinds import is_python
from guard.errors import GitError, GuardError, MissingObjectError
from guard.git import Entry, Repository
from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet
from guard.lint.source import LintResult, Source, brought
from guard.model import Finding
from guard.store.facts import FactStore
from guard.sync.topology import Sync


def lint_range(repository: Repository, selection: Selection, config: Config, jobs: int, store: FactStore) -> LintResult:
    """Lint what the range changed, and keep what the range brought: what neither its start nor a merged branch has.

    A finding that the base and one side of a sync have, and the other side has not, is a fix that did not arrive. Of a
    merge that is as git makes it nothing of that kind is said: it blames the merge for what it did not decide. Pins are
    held against the whole tip, whatever changed: with a sync in the range the check of the sync does that.
    """
    root = repository.work_tree or Path.cwd()
    rules = rules_for(config, root)
    if selection.tip is None or selection.start is None:
        raise GuardError("a range to lint needs a start and a tip")
    resolved = [sync for sync in selection.syncs if not _is_automatic(repository, sync)]
    sides = dict.fromkeys((selection.start, *(side for sync in selection.syncs for side in (sync.ours, sync.theirs))))
    after = repository.entries(selection.tip)
    before = {side: repository.entries(side) for side in sides}
    # A file that is as one parent has it can only lack a fix of the other one.
    how_many = any if resolved or not selection.syncs or selection.start not in _sides(selection) else all
    changed = [
        path
        for path, entry in after.items()
        if is_python(path)
        and entry.kind == "file"
        and not excluded(path, config)
        and how_many(tree.get(path) != entry for tree in before.values())
    ]
    result = _lint_tree(repository, after, changed, rules, jobs, store)
    suspects = sorted({finding.path for finding in result.findings})
    before |= {sync.bases[0]: repository.entries(sync.bases[0]) for sync in resolved if suspects}
    lacking: dict[str, set[tuple[str, int]]] = {}
    for side, tree in before.items():
        earlier = _lint_tree(repository, tree, [path for path in suspects if path in tree], rules, jobs, store)
        lacking[side] = {(finding.fingerprint, finding.line) for finding in brought(earlier, result).findings}

    def has(side: str, finding: Finding) -> bool:
        return finding.path in before[side] and (finding.fingerprint, finding.line) not in lacking[side]

    def is_fixed(sync: Sync, finding: Finding) -> bool:
        fixed = (side for side in (sync.ours, sync.theirs) if finding.path in before[side] and not has(side, finding))
        return has(sync.bases[0], finding) and any(fixed)

    start = selection.start
    kept = [
        finding
        for finding in result.findings
        if not (has(start, finding) or any(has(sync.theirs, finding) for sync in selection.syncs))
        or any(is_fixed(sync, finding) for sync in resolved)
    ]
    pins = pins_of(repository, after)
    pinned = {rule.name for rule in pins.rules}
    told = [finding for finding in kept if finding.name not in pinned]
    outcomes = result.outcomes
    if not selection.syncs and pins:
        broken, unheld = broken_in_tree(pins, repository, after, jobs, store)
        told += broken
        outcomes = (*outcomes, *unheld)
    return LintResult(tuple(told), outcomes, result.files)


def _sides(selection: Selection) -> set[str]:
    return {side for sync in selection.syncs for side in (sync.ours, sync.theirs)}


def _is_automatic(repository: Repository, sync: Sync) -> bool:
    """Whether what is judged is the tree that git itself makes of the sides."""
    if sync.explicit or sync.unmerged:
        return False
    try:
        merge = repository.automatic_merge(sync.ours, sync.theirs)
    except GitError:
        return False
    return not merge.conflicts and merge.tree == repository.tree_of(sync.checked)


def _lint_tree(
    repository: Repository, tree: dict[str, Entry], paths: Iterable[str], rules: RuleSet, jobs: int, store: FactStore
) -> LintResult:
    read = functools.partial(_read, repository)
    wanted = list(paths)
    repository.prefetch(tree[path].sha for path in wanted)
    sources = [Source(path, read(tree[path].sha)) for path in wanted]
    project = ProjectIndex.of_tree(tree, read)
    return lint_sources(sources, rules, project=project, jobs=jobs, store=store)


def _read(repository: Repository, sha: str) -> bytes:
    """A file's bytes; in place of one that is not here something that no rule can parse and that says so."""
    try:
        return repository.blob(sha)
    except MissingObjectError as error:
        return stand_in(str(error))
