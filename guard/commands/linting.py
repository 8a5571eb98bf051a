"""Lint the files that a user names. Nothing here needs git: a hook on one file has to be fast."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guard.config import Config
from guard.documents.kinds import is_python
from guard.documents.parsing import require_parses
from guard.errors import ConfigError, GuardError, NotAnalysedError
from guard.globs import path_matches
from guard.lint.engine import lint_sources
from guard.lint.examples import example_failures
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, builtin_rules_directory, load_rules
from guard.lint.source import LintResult, Source
from guard.model import Finding, Outcome, Status
from guard.store.facts import FactStore

_PARSED_ANYHOW_BYTES = 1_000_000
PINS = Path("rules", "pins")
_SKIPPED_DIRECTORIES = {".git", ".hg", ".tox", ".venv", "__pycache__", "node_modules", "site-packages"}


def rules_for(config: Config, root: Path) -> RuleSet:
    """The built-in rules, those that the configuration names, and the pins of the repository.

    Raises:
        ConfigError: a rule does not load, or an example of a rule that is not built in does not hold.
    """
    directories = own_rules(config, root)
    rules = load_rules(directories)
    builtin = str(builtin_rules_directory().resolve())
    own = [rule for rule in rules if directories and not rules.file_of(rule).startswith(builtin + os.sep)]
    for failure in example_failures(own):
        raise ConfigError(f"{rules.file_of(failure.rule)}:1: {failure.key}: {failure.problem}")
    return rules


def own_rules(config: Config, root: Path) -> list[Path]:
    """Where a repository's own rules are: the places that its configuration names, and its pins.

    Raises:
        GuardError: a place is not there.
    """
    named = [root / name for name in config.rules]
    missing = [path for path in named if not path.exists()]
    if missing:
        raise GuardError(f"rules {missing[0]} named in the configuration are not there")
    pins = root / PINS
    return [*named, *([pins] if pins.is_dir() else [])]


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
    findings = result.findings
    if (root / PINS).is_dir():
        # Late: a hook on one file must not pay for pins that are not there.
        from guard.checks.pins import as_broken, content_broken, load_pins

        pinned = content_broken(load_pins(root), {source.path: source.data for source in sources})
        findings = (*(as_broken(finding) if is_pin(finding) else finding for finding in findings), *pinned)
    told = {outcome.subject for outcome in result.outcomes}
    unparsed = _unparsed([source for source in sources if source.path not in told])
    return LintResult(findings, (*result.outcomes, *unread, *unparsed), result.files)


def lint_text(data: bytes, name: str, config: Config, root: Path, store: FactStore) -> LintResult:
    """Lint text that an editor has and no file yet.

    Arguments:
        name: what it is called: the path that findings show, and by which rules and exclusions choose.
    """
    shown = _shown(Path(name), root)
    if excluded(shown, config):
        return LintResult((), (), 0)
    source = Source(shown, data)
    result = lint_sources([source], rules_for(config, root), project=ProjectIndex.of_directory(root), store=store)
    told = {outcome.subject for outcome in result.outcomes}
    unparsed = () if shown in told else _unparsed([source])
    return LintResult(result.findings, (*result.outcomes, *unparsed), result.files)


def _unparsed(sources: Sequence[Source]) -> Iterator[Outcome]:
    """Files that do not parse although no rule looks at them: few enough files are parsed just to say so.

    In a large tree that would cost more than the rules do, and nothing is missed there: no rule has anything to say of
    such a file.
    """
    if sum(len(source.data) for source in sources) > _PARSED_ANYHOW_BYTES:
        return
    for source in sources:
        try:
            require_parses(source.data)
        except NotAnalysedError as refused:
            yield Outcome("lint", Status.SKIPPED, f"not analysed: {refused.reason}", 0.0, source.path)


def is_pin(finding: Finding) -> bool:
    """Whether a pin of the repository speaks."""
    return finding.code.startswith("GRD501")


def files_of(paths: Sequence[str], config: Config, root: Path) -> Iterator[tuple[Path, str]]:
    """Files to lint, each once, with the path that findings show; what the configuration excludes is left out.

    Raises:
        GuardError: a path does not exist.
    """
    for file in _files(paths):
        shown = _shown(file, root)
        if not excluded(shown, config):
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
            place = Path(directory, name)
            # A pipe or a link to a device has no end; a link to nothing is told as one that cannot be read.
            if is_python(name) and (place.is_file() or not place.exists()):
                yield place


def _shown(file: Path, root: Path) -> str:
    try:
        return file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def excluded(path: str, config: Config) -> bool:
    """Whether the configuration keeps a path from the linter."""
    return path_matches(path, config.exclude)
