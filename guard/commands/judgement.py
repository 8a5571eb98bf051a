"""Run the checks of a selection and gather one report: what `check` prints, `explain` and `restore` look up."""

from __future__ import annotations

import functools
import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from guard import __version__
from guard.checks import CHECKS, CheckRun, run_check
from guard.checks.audit import repaired_since
from guard.checks.contract import CheckContext, CheckResult
from guard.checks.policy import mark
from guard.checks.remembered import key_of, remembered
from guard.checks.survival import changes_of, files_of
from guard.commands.not_judged import not_judged
from guard.commands.progress import Progress, count_check
from guard.commands.selection import SHORT, Selection
from guard.commands.streams import in_streams, pays
from guard.config import Config
from guard.documents.gc_paused import gc_paused
from guard.errors import GuardError, fault
from guard.git import Repository
from guard.model import Finding, MergeRecord, Outcome, Report, Severity, Side, Status
from guard.report.groups import group, headline
from guard.report.plain import plural
from guard.store.facts import FactStore, NullStore
from guard.sync.topology import Sync
from guard.sync.trees import FourTrees, load

if TYPE_CHECKING:
    from guard.lint.source import LintResult

FAMILIES: dict[str, tuple[str, ...]] = {
    "lost": ("GRD2",),
    "textual": ("GRD2", "GRD309"),
    "broken": ("GRD3",),
    "policy": ("GRD4",),
    "pins": ("GRD5",),
    "carried": ("GRD5",),
    "lint": ("GRD1", "GRD5", "GRD9"),
}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run goes about it.

    Attributes:
        checks: names of the registry to run, all by default.
        select: codes or names that the user wants; a check that can give none of them is not run.
        jobs: processes to use.
        store: remembered facts.
        progress: told what is being done, and how much of it is done.
        debug: let unexpected errors through.
    """

    checks: Sequence[str] = tuple(CHECKS)
    select: Sequence[str] = ()
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    store: FactStore = field(default_factory=NullStore)
    progress: Progress = field(default_factory=Progress)
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
    several = len(selection.syncs) > 1
    settings.progress.begin(*((len(selection.syncs), "merge") if several else (len(wanted) + lints, "check")))
    for sync in selection.syncs:
        waiting = lints and apart and not linted
        one = _judge_sync(repository, sync, config, settings, wanted, apart, lint if waiting else None)
        linted += [one.linted or _no_answer()] if waiting else []
        findings += one.findings
        outcomes += one.outcomes
        merges.append(one.record)
        files = max(files, one.files)
        settings.store.flush()
        if several:
            settings.progress.done(_said(one))
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
        range=selection.exact.words(),
    )


@dataclass(slots=True)
class _Judged:
    """One sync of a run: its record, what was found and how each check ended; and the linter's answer, if asked."""

    record: MergeRecord
    findings: list[Finding] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    files: int = 0
    linted: tuple[LintResult, Outcome] | None = None


def _judge_sync(
    repository: Repository,
    sync: Sync,
    config: Config,
    settings: RunSettings,
    wanted: Sequence[str],
    apart: bool,
    lint: Callable[[int], tuple[LintResult, Outcome]] | None,
) -> _Judged:
    """Run the wanted checks on one sync, and with them the linter where it was not asked yet."""
    settings.progress(f"reading the trees of {sync.merge[:SHORT]}")
    trees = load(repository, sync)
    record = MergeRecord(sync.merge, sync.checked, sync.ours, sync.theirs, sync.bases, sync.subject)
    judged = _Judged(record, files=len(trees.touched))
    context = CheckContext(trees, config, settings.jobs, settings.store, settings.progress, settings.debug)
    judged.outcomes += not_judged(trees)
    if apart:
        runs, judged.linted = in_streams(wanted, context, lint)
    else:
        runs = _in_order(wanted, context)
    for run in runs:
        # Of a conflict that is not resolved the index has no merged text: it is skipped, and not one side's loss.
        told = (found for found in run.result.findings if found.path not in sync.unmerged)
        judged.findings += (replace(found, merge=sync.merge) for found in told)
        judged.outcomes += (run.outcome, *run.result.outcomes)
        record = replace(record, survival=(*record.survival, *run.result.survival))
    if any(run.name == "lost" and run.outcome.status is Status.RAN for run in runs):
        record = _with_survival(record, trees, judged.findings)
    if sync.checked != sync.merge and "lost" in wanted:
        settings.progress(f"looking for repairs since {sync.merge[:SHORT]}")
        record, outcomes = _with_repairs(record, context)
        judged.outcomes += outcomes
    judged.record = record
    trees.forget()
    return judged


def _with_survival(record: MergeRecord, trees: FourTrees, findings: Sequence[Finding]) -> MergeRecord:
    """The record with how much of each side survives."""
    return replace(
        record,
        ours_changes=changes_of(record.survival, Side.OURS),
        theirs_changes=changes_of(record.survival, Side.THEIRS),
        ours_files=files_of(trees, record.survival, findings, Side.OURS),
        theirs_files=files_of(trees, record.survival, findings, Side.THEIRS),
    )


def _said(judged: _Judged) -> str:
    """What a person who waits for the whole range is told of one merge as soon as it is judged."""
    counts = Counter(finding.severity for finding in judged.findings)
    told = [plural(counts[kind], kind.value) for kind in (Severity.ERROR, Severity.WARNING) if counts[kind]]
    failed = [outcome.check for outcome in judged.outcomes if outcome.status is Status.FAILED]
    told += [f"failed: {', '.join(failed)}"] if failed else []
    line = (
        f"{judged.record.merged[:SHORT]} {judged.record.subject}: {', '.join(told) or 'nothing lost, nothing broken'}"
    )
    worst = next(iter(group(judged.findings)), None)
    if worst is not None and worst.worst.severity is Severity.ERROR and worst.origin is not None:
        line += f"; {worst.label} {headline(worst, 0)}"
    return line


def _load_rules(config: Config, repository: Repository) -> None:
    from guard.commands.linting import rules_for

    rules_for(config, repository.work_tree or Path.cwd())


def _no_answer() -> tuple[LintResult, Outcome]:
    from guard.lint.source import LintResult

    return LintResult((), (), 0), Outcome("lint", Status.FAILED, "its process ended without an answer")


def _in_order(names: Sequence[str], context: CheckContext) -> tuple[CheckRun, ...]:
    runs = []
    for name in names:
        context.progress(f"{name}: {context.trees.sync.merge[:SHORT]}")
        runs.append(run_check(name, context))
        count_check(context.progress)
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
        reason = fault(error)
        return LintResult((), (), 0), Outcome("lint", Status.FAILED, reason, time.monotonic() - started)
    seconds = time.monotonic() - started
    if not linted.files:
        return linted, Outcome("lint", Status.SKIPPED, "no Python file changed", seconds)
    return linted, Outcome("lint", Status.RAN, None, seconds)


def _with_repairs(record: MergeRecord, context: CheckContext) -> tuple[MergeRecord, tuple[Outcome, ...]]:
    """The record with what later commits of the range put right; a fault of ours is an outcome, and never silence."""
    try:
        key = key_of("repairs", context.trees, context.config)
        ask = functools.partial(_repairs, context)
        found = remembered(context.store, key, CheckResult, ask, lambda _result: True)
        return replace(record, repaired=found.findings), ()
    except GuardError:
        raise
    except Exception as error:
        if context.debug:
            raise
        return record, (Outcome("repairs", Status.FAILED, fault(error), 0.0, record.merged[:10]),)


def _repairs(context: CheckContext) -> CheckResult:
    return CheckResult(repaired_since(context))


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, in an order that does not depend on the order of the checks; each place once, of its last sync."""
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
