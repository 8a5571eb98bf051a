"""Lint the files that a user names. Nothing here needs git: a hook on one file has to be fast."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from guard.codes import name_of
from guard.config import Config
from guard.documents.kinds import is_python
from guard.documents.parsing import require_parses
from guard.errors import ConfigError, GuardError, NotAnalysedError
from guard.globs import path_matches
from guard.lint.engine import lint_sources
from guard.lint.examples import example_failures
from guard.lint.notebooks import SUFFIX, Notebook, read_notebook
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, load_rules
from guard.lint.source import LintResult, Source
from guard.model import Finding, Outcome, Severity, Status, fingerprint
from guard.store.facts import FactStore

_AT_LINE = re.compile(r"not analysed: line (\d+): (.*)", re.DOTALL)
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
    places = [place.resolve() for place in directories]
    own = [rule for rule in rules if any(Path(rules.file_of(rule)).is_relative_to(place) for place in places)]
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
    notebooks: dict[str, Notebook] = {}
    for file, shown in files_of(paths, config, root):
        try:
            source = _source(file.read_bytes(), shown, notebooks)
        except OSError as error:
            unread.append(Outcome("lint", Status.SKIPPED, f"cannot be read: {error.strerror}", 0.0, shown))
        except NotAnalysedError as refused:
            unread.append(Outcome("lint", Status.SKIPPED, f"not analysed: {refused.reason}", 0.0, shown))
        else:
            sources.append(source)
    result = lint_sources(sources, rules, project=ProjectIndex.of_directory(root), jobs=jobs, store=store)
    findings = result.findings
    if notebooks:
        findings = tuple(notebooks[f.path].located(f) if f.path in notebooks else f for f in findings)
    if (root / PINS).is_dir():
        # Late: a hook on one file must not pay for pins that are not there.
        from guard.checks.pins import as_broken, content_broken, load_pins

        pinned = content_broken(load_pins(root), {source.path: source.data for source in sources})
        findings = (*(as_broken(finding) if is_pin(finding) else finding for finding in findings), *pinned)
    told = {outcome.subject for outcome in result.outcomes}
    unparsed = tuple(_unparsed([source for source in sources if source.path not in told]))
    outcomes = (*result.outcomes, *unread, *unparsed)
    broken = (*unreadable(outcomes), *(f for path, notebook in notebooks.items() for f in broken_cells(path, notebook)))
    return LintResult((*findings, *broken), outcomes, result.files)


def _source(data: bytes, shown: str, notebooks: dict[str, Notebook]) -> Source:
    """A file as the rules read it; the program of a notebook, which is remembered by its path."""
    if not shown.endswith(SUFFIX):
        return Source(shown, data)
    notebook = notebooks[shown] = read_notebook(data)
    return Source(shown, notebook.data)


def unreadable(outcomes: Iterable[Outcome]) -> Iterator[Finding]:
    """A finding at the line of each file that is no Python; its outcome still says that no rule looked at it."""
    for outcome in outcomes:
        said = _AT_LINE.fullmatch(outcome.reason or "")
        if said is not None and outcome.subject is not None:
            yield _no_python(outcome.subject, int(said.group(1)), said.group(2), "")


def broken_cells(path: str, notebook: Notebook) -> Iterator[Finding]:
    """A finding for each cell of a notebook that is no Python; the other cells are linted."""
    for cell, line, problem in notebook.broken:
        yield _no_python(path, line, f"cell {cell}, line {line}: {problem}", f"cell {cell}")


def _no_python(path: str, line: int, message: str, symbol: str) -> Finding:
    mark = fingerprint("GRD904", path, symbol, message)
    return Finding("GRD904", name_of("GRD904"), Severity.ERROR, path, line, message, mark, symbol=symbol)


def lint_text(data: bytes, name: str, config: Config, root: Path, store: FactStore) -> LintResult:
    """Lint text that an editor has and no file yet.

    Arguments:
        name: what it is called: the path that findings show, and by which rules and exclusions choose.
    """
    shown = _shown(Path(name), root)
    if excluded(shown, config):
        return LintResult((), (), 0)
    notebooks: dict[str, Notebook] = {}
    try:
        source = _source(data, shown, notebooks)
    except NotAnalysedError as refused:
        reason = f"not analysed: {refused.reason}"
        return LintResult((), (Outcome("lint", Status.SKIPPED, reason, 0.0, shown),), 1)
    result = lint_sources([source], rules_for(config, root), project=ProjectIndex.of_directory(root), store=store)
    told = {outcome.subject for outcome in result.outcomes}
    outcomes = (*result.outcomes, *(() if shown in told else _unparsed([source])))
    found = [notebooks[shown].located(f) if notebooks else f for f in result.findings]
    cells = [broken for notebook in notebooks.values() for broken in broken_cells(shown, notebook)]
    return LintResult((*found, *unreadable(outcomes), *cells), outcomes, result.files)


def unread_settings(paths: Sequence[str], root: Path) -> list[str]:
    """One line for each `[tool.guard]` in a folder between the root and the given paths, which is not read."""
    top = root.resolve()
    folders: dict[Path, None] = {}
    for name in (".", *paths):
        place = Path(name).resolve()
        for folder in (place, *place.parents):
            if folder == top or not folder.is_relative_to(top):
                break
            folders[folder] = None
    found = []
    for folder in sorted(folders):
        file = folder / "pyproject.toml"
        try:
            table = tomllib.loads(file.read_text("utf-8")).get("tool", {}) if file.is_file() else {}
        except (OSError, ValueError):
            continue
        if isinstance(table, dict) and "guard" in table:
            shown = file.relative_to(top).as_posix()
            where = "settings come from the root of the repository (or --config)"
            found.append(f"{shown} has [tool.guard], which is not read: {where}")
    return found


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
            if (is_python(name) or name.endswith(SUFFIX)) and (place.is_file() or not place.exists()):
                yield place


def _shown(file: Path, root: Path) -> str:
    try:
        return file.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return file.as_posix()


def excluded(path: str, config: Config) -> bool:
    """Whether the configuration keeps a path from the linter."""
    return path_matches(path, config.exclude)
