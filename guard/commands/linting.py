"""Which files the linter sees: the paths a user names, or what a range changed, told apart from what stood before."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guard.checks.pins import as_broken, broken_in_tree, content_broken, load_pins, pins_of
from guard.commands.selection import Selection
from guard.config import Config
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.globs import path_matches
from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, load_rules
from guard.lint.source import LintResult, Source, brought
from guard.model import Finding, Outcome, Status
from guard.source.store import FactStore

_SKIPPED_DIRECTORIES = {".git", ".hg", ".tox", ".venv", "__pycache__", "node_modules", "site-packages"}


def rules_for(config: Config, root: Path) -> RuleSet:
    """The built-in rules, those that the configuration names, and the pins of the repository.

    Raises:
        ConfigError: a rule does not load.
    """
    named = [root / name for name in config.rules]
    missing = [path for path in named if not path.exists()]
    if missing:
        raise GuardError(f"rules {missing[0]} named in the configuration are not there")
    pins = root / "rules" / "pins"
    return load_rules([*named, *([pins] if pins.is_dir() else [])])


def lint_paths(paths: Sequence[str], config: Config, root: Path, jobs: int, store: FactStore) -> LintResult:
    """Lint files and folders of the work tree, whole.

    Raises:
        GuardError: a path does not exist.
    """
    rules = rules_for(config, root)
    sources, unread = [], []
    for file, shown in files_of(paths, config, root):
        try:
            sources.append(Source(shown, file.read_bytes()))
        except OSError as error:
            unread.append(Outcome("lint", Status.SKIPPED, f"cannot be read: {error.strerror}", 0.0, shown))
    result = lint_sources(sources, rules, project=ProjectIndex.of_directory(root), jobs=jobs, store=store)
    pinned = content_broken(load_pins(root), {source.path: source.data for source in sources})
    findings = tuple(as_broken(finding) if _is_pin(finding) else finding for finding in result.findings)
    return LintResult((*findings, *pinned), (*result.outcomes, *unread), result.files)


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
        if path.endswith(".py")
        and entry.kind == "file"
        and not _excluded(path, config)
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


def _is_pin(finding: Finding) -> bool:
    return finding.code.startswith("GRD501")


def _lint_tree(
    repository: Repository, tree: dict[str, Entry], paths: Iterable[str], rules: RuleSet, jobs: int, store: FactStore
) -> LintResult:
    sources = [Source(path, repository.blob(tree[path].sha)) for path in paths]
    project = ProjectIndex.of_tree(tree, repository.blob)
    return lint_sources(sources, rules, project=project, jobs=jobs, store=store)


def files_of(paths: Sequence[str], config: Config, root: Path) -> Iterator[tuple[Path, str]]:
    """Files to lint, each once, with the path that findings show; what the configuration excludes is left out.

    Raises:
        GuardError: a path does not exist.
    """
    for file in _files(paths):
        shown = _shown(file, root)
        if not _excluded(shown, config):
            yield file, shown


def _files(paths: Sequence[str]) -> Iterator[Path]:
    seen = set()
    for name in paths:
        place = Path(name)
        if place.is_dir():
            found: Iterable[Path] = _walk(place)
        elif place.is_file():
            found = [place]
        else:
            raise GuardError(f"{name} does not exist")
        for file in found:
            if file not in seen:
                seen.add(file)
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_DIRECTORIES)
        for name in sorted(names):
            if name.endswith(".py"):
                yield Path(directory, name)


def _shown(file: Path, root: Path) -> str:
    try:
        return file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def _excluded(path: str, config: Config) -> bool:
    return path_matches(path, config.exclude)
