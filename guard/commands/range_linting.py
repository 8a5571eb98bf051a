"""Lint what a range changed, told apart from what stood there before."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from guard.checks.pins import broken_in_tree, pins_of
from guard.commands.linting import excluded, rules_for
from guard.commands.selection import Selection
from guard.config import Config
from guard.documents.kinds import is_python
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet
from guard.lint.source import LintResult, Source, brought
from guard.model import Finding
from guard.store.facts import FactStore


def lint_range(repository: Repository, selection: Selection, config: Config, jobs: int, store: FactStore) -> LintResult:
    """Lint what the range changed, and keep what a side that has the file does not have: the range brought it.

    For a sync both parents count: a finding that ours has and theirs has not is a fix of theirs that did not
    arrive, and the other way round. Pins are held against the whole tip, whatever changed: with a sync in the range
    the check of the sync does that.
    """
    root = repository.work_tree or Path.cwd()
    rules = rules_for(config, root)
    if selection.tip is None or selection.start is None:
        raise GuardError("a range to lint needs a start and a tip")
    sides = dict.fromkeys((selection.start, *(side for sync in selection.syncs for side in (sync.ours, sync.theirs))))
    after = repository.entries(selection.tip)
    before = {side: repository.entries(side) for side in sides}
    changed = [
        path
        for path, entry in after.items()
        if is_python(path)
        and entry.kind == "file"
        and not excluded(path, config)
        and any(tree.get(path) != entry for tree in before.values())
    ]
    result = _lint_tree(repository, after, changed, rules, jobs, store)
    suspects = sorted({finding.path for finding in result.findings})
    fresh: dict[tuple[str, int], object] = {}
    kept: list[Finding] = []
    for tree in before.values():
        known = [path for path in suspects if path in tree]
        earlier = _lint_tree(repository, tree, known, rules, jobs, store)
        new = brought(earlier, result)
        for finding in new.findings:
            lacks = finding.path in tree or not any(finding.path in other for other in before.values())
            if lacks and (finding.fingerprint, finding.line) not in fresh:
                fresh[finding.fingerprint, finding.line] = finding
                kept.append(finding)
    pins = pins_of(repository, after)
    pinned = {rule.name for rule in pins.rules}
    told = [finding for finding in kept if finding.name not in pinned]
    outcomes = result.outcomes
    if not selection.syncs and pins:
        broken, unheld = broken_in_tree(pins, repository, after, jobs, store)
        told += broken
        outcomes = (*outcomes, *unheld)
    return LintResult(tuple(told), outcomes, result.files)


def _lint_tree(
    repository: Repository, tree: dict[str, Entry], paths: Iterable[str], rules: RuleSet, jobs: int, store: FactStore
) -> LintResult:
    sources = [Source(path, repository.blob(tree[path].sha)) for path in paths]
    project = ProjectIndex.of_tree(tree, repository.blob)
    return lint_sources(sources, rules, project=project, jobs=jobs, store=store)
