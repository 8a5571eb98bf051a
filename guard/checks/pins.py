"""GRD501: the user's pins, held against a whole tree. A broken pin is an error, merge or not."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from guard.checks.contract import CheckContext, CheckResult
from guard.checks.pinning.content import ContentPin, check_content
from guard.checks.pinning.places import PinPlaces, Read
from guard.checks.pinning.rules import at_its_places, speaks_of
from guard.documents.kinds import is_python
from guard.git import Entry, Repository
from guard.lint.engine import lint_sources
from guard.lint.language import Rule
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, load_rules
from guard.lint.schema import load_yaml
from guard.lint.source import Source
from guard.model import Finding, Outcome, Severity
from guard.store.facts import FactStore, NullStore

DIRECTORY = "rules/pins"
CONTENT = "content"
CODE = "GRD501"


@dataclass(frozen=True, slots=True)
class Pins:
    """The pins of a repository: rules, and definitions pinned by content."""

    rules: RuleSet
    content: tuple[ContentPin, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rules.rules or self.content)


def check_pins(context: CheckContext) -> CheckResult:
    """Hold the pins against the merged tree, all of it."""
    trees = context.trees
    pins = pins_of(trees.repository, trees.merged)
    if not pins:
        return CheckResult()
    context.progress(f"holding {len(pins.rules.rules) + len(pins.content)} pins against the tree")
    findings, outcomes = broken_in_tree(pins, trees.repository, trees.merged, context.jobs, context.store)
    return CheckResult(findings, outcomes)


def pins_of(repository: Repository, tree: Mapping[str, Entry]) -> Pins:
    """The pins of the work tree, or of a tree in a bare repository.

    Raises:
        ConfigError: a pin does not load.
    """
    if repository.work_tree is not None:
        return load_pins(repository.work_tree)
    chosen = [path for path in tree if path.startswith(DIRECTORY + "/") and path.endswith(".yaml")]
    if not chosen:
        return Pins(RuleSet((), ""))
    with tempfile.TemporaryDirectory(prefix="guard-pins-") as folder:
        for path in chosen:
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(repository.blob(tree[path].sha))
        return load_pins(Path(folder))


def load_pins(root: Path) -> Pins:
    """The pins under a repository's root; none where it has no folder of them.

    Raises:
        ConfigError: a pin does not load.
    """
    folder = root / DIRECTORY
    rules = load_rules([folder], builtin=False) if folder.is_dir() else RuleSet((), "")
    content = tuple(load_yaml(ContentPin, file) for file in sorted((folder / CONTENT).glob("*.yaml")))
    return Pins(rules, content)


def broken_in_tree(
    pins: Pins, repository: Repository, tree: Mapping[str, Entry], jobs: int = 1, store: FactStore | None = None
) -> tuple[tuple[Finding, ...], tuple[Outcome, ...]]:
    """The pins that do not hold in a tree of the repository."""

    def read(path: str) -> bytes | None:
        entry = tree.get(path)
        return repository.blob(entry.sha) if entry is not None and entry.kind == "file" else None

    paths = [path for path, entry in tree.items() if is_python(path) and entry.kind == "file"]
    return broken_pins(pins, paths, read, ProjectIndex.of_tree(dict(tree), repository.blob), jobs, store)


def broken_pins(
    pins: Pins, paths: Sequence[str], read: Read, project: ProjectIndex, jobs: int = 1, store: FactStore | None = None
) -> tuple[tuple[Finding, ...], tuple[Outcome, ...]]:
    """The pins that do not hold among some files.

    Arguments:
        paths: Python files to look at.
        read: the bytes of a path.
        project: the tree around them.
    """
    rules: list[Rule] = []
    homeless: list[Finding] = []
    tree = PinPlaces(paths, read)
    for rule in pins.rules:
        found = at_its_places(rule, tree, paths)
        homeless += found.without_place
        if found.rule.match:
            rules.append(found.rule)
    places = repr([clause.in_ for rule in rules for clause in rule.match])
    ruleset = replace(pins.rules, rules=tuple(rules), digest=f"{pins.rules.digest} at {places}")
    wanted = [path for path in paths if any(speaks_of(rule, path) for rule in rules)]
    sources = [Source(path, data) for path in wanted if (data := read(path)) is not None]
    result = lint_sources(sources, ruleset, project=project, jobs=jobs, store=store or NullStore())
    findings = [as_broken(finding) for finding in result.findings if finding.code.startswith("GRD5")]
    by_content, unread = check_content(pins.content, paths, read)
    outcomes = [replace(outcome, check="pins") for outcome in result.outcomes]
    return (*findings, *homeless, *by_content), (*outcomes, *unread)


def content_broken(pins: Pins, files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """The content pins that do not hold in some files, given with their bytes; pins of other files say nothing."""
    findings, _ = check_content(pins.content, list(files), files.get, whole=False)
    return tuple(findings)


def as_broken(finding: Finding) -> Finding:
    """A finding of a pin's rule as the report tells it: one code for all pins; what is not certain is a note."""
    score = 15.0 if finding.severity is Severity.ERROR else finding.score
    return replace(finding, code=CODE, score=score)
