"""Run the checks of a selection and gather one report: what `check` prints, `explain` and `restore` look up."""

from __future__ import annotations

import functools
import gc
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from guard import __version__
from guard.checks import CHECKS, CheckRun, run_check
from guard.checks.audit import repaired_since
from guard.checks.contract import CheckContext
from guard.checks.policy import mark
from guard.commands.selection import Selection
from guard.commands.streams import in_streams, pays
from guard.config import Config
from guard.documents.gc_paused import gc_paused
from guard.errors import GuardError
from guard.git import Repository
from guard.model import Finding, MergeRecord, Outcome, Report, Severity, Status
from guard.store.facts import FactStore, NullStore
from guard.sync.trees import load

if TYPE_CHECKING:
    from guard.lint.source import LintResult

FAMILIES: dict[str, tuple[str, ...]] = {
    "lost": ("GRD2",),
    "textual": ("GRD2",),
    "broken": ("GRD3",),
    "policy": ("GRD4",),
    "pins": ("GRD5",),
    "carried": ("GRD5",),
    "lint": ("GRD1", "GRD5", "GRD9"),
}


def _no_progress(_text: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run goes about it.

    Attributes:
        checks: names of the registry to run, all by default.
        select: codes or names that the user wants; a check that can give none of them is not run.
        jobs: processes to use.
        store: remembered facts.
        progress: told what is being done.
        debug: let unexpected errors through.
    """

    checks: Sequence[str] = tuple(CHECKS)
    select: Sequence[str] = ()
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    store: FactStore = field(default_factory=NullStore)
    progress: Callable[[str], None] = _no_progress
    debug: bool = False

    def selects(self, check: str) -> bool:
        """Whether the selected codes leave anything for a check (or "lint") to find. A name may be anyone's."""
        families = FAMILIES[check]
        return not self.select or any(
            not code.startswith("GRD") or code.startswith(families) or code == "GRD" for code in self.select
        )


def judge_selection(repository: Repository, selection: Selection, config: Config, settings: RunSettings) -> Report:
    """Judge every sync of the selection, and lint what the range changed.

    Returns:
        The report, worst findings first.
    """
    with gc_paused():
        return _judge_selection(repository, selection, config, settings)


def _judge_selection(repository: Repository, selection: Selection, config: Config, settings: RunSettings) -> Report:
    started = time.monotonic()
    findings: list[Finding] = []
    outcomes: list[Outcome] = []
    merges: list[MergeRecord] = []
    files = 0
    wanted = [name for name in settings.checks if settings.selects(name)]
    outcomes.extend(Outcome(n, Status.SKIPPED, "not selected") for n in settings.checks if n not in wanted)
    lints = settings.selects("lint") and selection.tip is not None
    apart = bool(selection.syncs) and pays(wanted, settings.jobs, lints=lints)
    linted: list[tuple[LintResult, Outcome]] = []
    if not lints and selection.tip is not None and settings.checks:
        outcomes.append(Outcome("lint", Status.SKIPPED, "not selected"))
    place = len(outcomes)
    lint = functools.partial(_linted, repository, selection, config, settings)
    if lints and not apart:
        settings.progress("linting what changed")
        linted.append(lint(settings.jobs))
    elif lints:
        # First, since a rule that does not load must not cost its author a whole judgement.
        _load_rules(config, repository)
    for sync in selection.syncs:
        settings.progress(f"reading the trees of {sync.merge[:10]}")
        trees = load(repository, sync)
        files = max(files, len(trees.touched))
        record = MergeRecord(sync.merge, sync.checked, sync.ours, sync.theirs, sync.bases, sync.subject)
        context = CheckContext(trees, config, settings.jobs, settings.store, settings.progress, settings.debug)
        outcomes.extend(Outcome("merge", Status.SKIPPED, "its conflict is not resolved", 0.0, p) for p in sync.unmerged)
        waiting = lints and not linted
        if apart:
            runs, first = in_streams(wanted, context, lint if waiting else None)
            linted += [first or _no_answer()] if waiting else []
        else:
            runs = _in_order(wanted, context)
        for run in runs:
            # Of a conflict that is not resolved the index has no merged text: it is skipped, and not one side's loss.
            findings.extend(found for found in run.result.findings if found.path not in sync.unmerged)
            outcomes.extend((run.outcome, *run.result.outcomes))
            record = replace(record, survival=(*record.survival, *run.result.survival))
            if run.name == "lost":
                record = replace(record, ours_changes=run.result.ours, theirs_changes=run.result.theirs)
        if sync.checked != sync.merge and "lost" in wanted:
            settings.progress(f"looking for repairs since {sync.merge[:10]}")
            record, told = _with_repairs(record, context)
            outcomes.extend(told)
        merges.append(record)
        trees.forget()
        if len(selection.syncs) > 1:
            gc.collect()
    for result, outcome in linted:
        findings[:0] = result.findings
        outcomes[place:place] = (outcome, *result.outcomes)
        files = max(files, result.files)
    if not selection.syncs:
        reason = selection.unanswered or "no merge in the range"
        outcomes.extend(Outcome(name, Status.SKIPPED, reason) for name in wanted)
    return Report(
        command="check",
        version=__version__,
        findings=ranked(mark(within(findings, selection.paths), config)),
        outcomes=tuple(outcomes),
        merges=tuple(merges),
        files=files,
        seconds=time.monotonic() - started,
        notices=selection.notices,
    )


def _load_rules(config: Config, repository: Repository) -> None:
    from guard.commands.linting import rules_for

    rules_for(config, repository.work_tree or Path.cwd())


def _no_answer() -> tuple[LintResult, Outcome]:
    from guard.lint.source import LintResult

    return LintResult((), (), 0), Outcome("lint", Status.FAILED, "its process ended without an answer")


def _in_order(names: Sequence[str], context: CheckContext) -> tuple[CheckRun, ...]:
    runs = []
    for name in names:
        context.progress(f"{name}: {context.trees.sync.merge[:10]}")
        runs.append(run_check(name, context))
    return tuple(runs)


def _linted(
    repository: Repository, selection: Selection, config: Config, settings: RunSettings, jobs: int
) -> tuple[LintResult, Outcome]:
    """What the linter says of the range, and how it ended; a fault of ours is an outcome, and never silence."""
    # Late: LibCST and the rules cost time that a run of one check does not have to spend.
    from guard.commands.range_linting import lint_range
    from guard.lint.source import LintResult

    started = time.monotonic()
    try:
        linted = lint_range(repository, selection, config, jobs, settings.store)
    except GuardError:
        raise
    except Exception as error:
        if settings.debug:
            raise
        reason = f"{type(error).__name__}: {error}"
        return LintResult((), (), 0), Outcome("lint", Status.FAILED, reason, time.monotonic() - started)
    seconds = time.monotonic() - started
    if not linted.files:
        return linted, Outcome("lint", Status.SKIPPED, "no Python file changed", seconds)
    return linted, Outcome("lint", Status.RAN, None, seconds)


def _with_repairs(record: MergeRecord, context: CheckContext) -> tuple[MergeRecord, tuple[Outcome, ...]]:
    """The record with what later commits of the range put right; a fault of ours is an outcome, and never silence."""
    try:
        return replace(record, repaired=repaired_since(context)), ()
    except GuardError:
        raise
    except Exception as error:
        if context.debug:
            raise
        return record, (Outcome("repairs", Status.FAILED, f"{type(error).__name__}: {error}", 0.0, record.merged[:10]),)


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, in an order that does not depend on the order of the checks; each place once."""
    once = {(finding.fingerprint, finding.path, finding.line): finding for finding in findings}
    return tuple(sorted(once.values(), key=_rank))


def within(findings: Iterable[Finding], paths: Sequence[str]) -> Iterable[Finding]:
    """The findings in some files and folders, given relative to the repository's root; all of them without any."""
    wanted = [path.removeprefix("./").rstrip("/") for path in paths]
    if not wanted or "." in wanted:
        return findings
    return [f for f in findings if any(f.path == path or f.path.startswith(f"{path}/") for path in wanted)]


def _rank(finding: Finding) -> tuple[int, float, str, int, str]:
    severity = list(Severity).index(finding.severity)
    return severity, -finding.score, finding.path, finding.line, finding.fingerprint
