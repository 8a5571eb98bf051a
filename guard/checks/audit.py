"""One past sync, audited: what it lost and broke, what of that was put right later and by whom, what is still open."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from guard.checks import run_check
from guard.checks.contract import CheckContext
from guard.checks.findings import finding_of
from guard.checks.lost import counted, grouped, tests_there
from guard.checks.orphans import orphan_tests
from guard.checks.policy import mark
from guard.git import Repository
from guard.judge.sync_changes import judge_sync
from guard.model import Finding, MergeRecord, Outcome, Severity, Side, Status, SyncRow, Verdict
from guard.provenance.attribution import attribute
from guard.provenance.blame import origin
from guard.provenance.repairs import (
    AllWatches,
    CodeWatch,
    LineWatch,
    StatementWatch,
    Watch,
    WordWatch,
    repaired_by,
    road,
)
from guard.sync.readings import Readings
from guard.sync.topology import Sync
from guard.sync.trees import FourTrees, load

# Breaks that a definition anywhere in the tree may mend.
_READ_IN_VAIN = frozenset({"GRD302", "GRD303", "GRD312"})
OTHER_CHECKS = ("textual", "broken")


@dataclass(frozen=True, slots=True)
class Audit:
    """What became of one sync.

    Attributes:
        row: its line in the table.
        open: findings that still stand at the tip.
        repaired: findings that a later commit put right, named in `repaired_by`.
    """

    row: SyncRow
    open: tuple[Finding, ...] = ()
    repaired: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


def audit_sync(context: CheckContext, tip: str, date: str, heir: str | None = None) -> Audit:
    """Audit a sync by its own tree, then follow what it lost to the tip.

    Arguments:
        context: the sync, judged by its own tree (`checked` is the merge).
        tip: full SHA of a commit that contains the sync.
        date: of the sync, ISO 8601.
        heir: full SHA of what the newest later sync brought in: what theirs itself has given up by then is not open.
    """
    trees = context.trees
    repository, sync = trees.repository, trees.sync
    readings = Readings(repository)
    way = road(repository, sync.merge, tip)
    judged = judge_sync(trees, context.jobs)
    told = attribute(repository, sync, [change for change in judged.changes if change.verdict.is_loss])
    counts, survival = counted(judged.changes)
    watched: list[tuple[Finding, Sequence[Watch]]] = []
    for group in grouped(told):
        if group[0].verdict.is_loss:
            watches: list[Watch] = [CodeWatch(change, sync, trees.base_tree, readings) for change in group]
            watched.append((finding_of(group, tests_there(group, trees.merged)), watches))
    orphans = orphan_tests(trees, [change for change in told if change.verdict.is_loss])
    watched += [(finding, [_orphan_watch(trees, finding, readings)]) for finding in orphans]
    outcomes = list(judged.outcomes)
    for name in OTHER_CHECKS:
        run = run_check(name, context)
        outcomes += [run.outcome, *run.result.outcomes]
        watched += [(finding, [_watch(repository, finding, readings, sync)]) for finding in run.result.findings]
    watched = [
        (replace(finding, merge=sync.merge), watches)
        for finding, watches in watched
        if finding.severity is not Severity.NOTE
    ]
    trees.forget()
    opened: list[Finding] = []
    repaired: list[Finding] = []
    given_up = not_followed = 0
    for finding, followed in watched:
        if not any(watch.is_open(sync.merge) for watch in followed):
            # Its evidence does not tell it from other text: it stands as long as its file does not change.
            name = f":{finding.path}"
            if readings.digest(sync.merge + name) == readings.digest(tip + name):
                opened.append(finding)
            else:
                not_followed += 1
            continue
        settled = _settle(repository, finding, followed, way)
        if settled.repaired_by is None and _given_up(finding, followed, heir):
            given_up += 1
            continue
        (repaired if settled.repaired_by is not None else opened).append(settled)
    record = MergeRecord(
        sync.merge, sync.checked, sync.ours, sync.theirs, sync.bases, sync.subject,
        counts[Side.OURS], counts[Side.THEIRS], survival, tuple(mark(repaired, context.config)),
    )  # fmt: skip
    row = replace(_row(record, date, opened, repaired), given_up=given_up, not_followed=not_followed)
    failed = [o for o in outcomes if o.status is Status.FAILED]
    if failed:
        row = replace(row, status=Status.FAILED, reason=f"{failed[0].check}: {failed[0].reason}")
    return Audit(row, tuple(mark(opened, context.config)), record.repaired, tuple(outcomes))


def repaired_since(context: CheckContext) -> tuple[Finding, ...]:
    """What a sync had lost in its own tree and the tip of the range has again, with the commit that put it right.

    Arguments:
        context: a sync that is judged by the tip of a range.
    """
    sync = context.trees.sync
    repository = context.trees.repository
    way = road(repository, sync.merge, sync.checked)
    if len(way) < 2:
        return ()
    trees = load(repository, replace(sync, checked=sync.merge))
    judged = judge_sync(trees, context.jobs)
    told = attribute(repository, sync, [change for change in judged.changes if change.verdict.is_loss])
    readings = Readings(repository)
    repaired = []
    for group in grouped(told):
        if group[0].verdict.is_loss:
            watches = [CodeWatch(change, sync, trees.base_tree, readings) for change in group]
            settled = _settle(repository, finding_of(group), watches, way)
            if settled.repaired_by is not None and settled.severity is not Severity.NOTE:
                repaired.append(settled)
    return tuple(repaired)


def _settle(repository: Repository, finding: Finding, watches: Sequence[Watch], way: Sequence[str]) -> Finding:
    """The finding with the commit that repaired it, or as it stands at the tip."""
    tip = way[-1]
    still = [watch for watch in watches if watch.is_open(tip)]
    if still:
        standing = [now for watch in still if isinstance(watch, CodeWatch) and (now := watch.standing(tip)) is not None]
        if standing:
            lines = [change.place.line for change in standing]
            return replace(finding, line=min(lines), end_line=max(c.place.end_line for c in standing))
        return finding
    shas = [sha for watch in watches if (sha := repaired_by(repository, watch, way)) is not None]
    # Of several commits that each put a part right, the last one made the whole right.
    order = {sha: index for index, sha in enumerate(way)}
    last = max(shas, key=lambda sha: order.get(sha, -1), default=None)
    if last is None:
        return finding
    return replace(finding, repaired_by=origin(repository.commit(last)))


def _watch(repository: Repository, finding: Finding, readings: Readings, sync: Sync) -> Watch:
    """What to look for in later versions of a finding that is not the judge's."""
    signs: list[Watch] = [LineWatch.of(finding, readings, sync.merge)]
    if finding.code.startswith("GRD3"):
        statement = StatementWatch.of(finding, readings, sync.merge)
        signs += [statement] if statement is not None else []
    telling = tuple(sign for sign in signs if sign.is_open(sync.merge))
    watch: Watch = AllWatches(telling or tuple(signs))
    if finding.code in _READ_IN_VAIN and finding.subject:
        watch = WordWatch(finding.subject.rpartition(".")[2], watch, repository, sync.merge)
    return watch


def _orphan_watch(trees: FourTrees, finding: Finding, readings: Readings) -> Watch:
    """A test that speaks of something undefined: open while its line stands and nothing defines the word."""
    rows = (trees.blob("merged", finding.path) or b"").decode("utf-8", "replace").splitlines()
    line = rows[finding.line - 1].strip() if 0 < finding.line <= len(rows) else ""
    lines = LineWatch((finding.path,), frozenset(), {line: 1}, readings)
    word = (finding.subject or "").rpartition(".")[2]
    return WordWatch(word, lines, trees.repository, trees.sync.merge) if word else lines


def _given_up(finding: Finding, watches: Sequence[Watch], heir: str | None) -> bool:
    """Whether theirs itself, as a later sync brought it in, no longer has what it lost."""
    if heir is None or finding.lost_side is not Side.THEIRS or finding.code.startswith("GRD3"):
        return False
    return all(watch.is_open(heir) for watch in watches)


def _row(record: MergeRecord, date: str, opened: list[Finding], repaired: list[Finding]) -> SyncRow:
    all_of_it = [*opened, *repaired]
    by: dict[str, int] = defaultdict(int)
    subjects: dict[str, tuple[str, float]] = {}
    for finding in repaired:
        if finding.repaired_by is not None:
            by[finding.repaired_by.commit] += 1
            subjects[finding.repaired_by.commit] = (
                finding.repaired_by.subject,
                days_between(date, finding.repaired_by.date),
            )
    revived = sum(finding.verdict is Verdict.REVIVED for finding in all_of_it)
    breaks = sum(finding.code.startswith("GRD3") for finding in all_of_it)
    return SyncRow(
        record,
        date,
        lost=len(all_of_it) - revived - breaks,
        revived=revived,
        breaks=breaks,
        repaired=len(repaired),
        open=len(opened),
        repaired_by=tuple((sha, *subjects[sha]) for sha in sorted(by, key=lambda sha: (-by[sha], sha))),
    )


def days_between(earlier: str, later: str) -> float:
    """Days between two ISO 8601 times; 0 where one is not told."""
    if not earlier or not later:
        return 0.0
    gap = datetime.datetime.fromisoformat(later) - datetime.datetime.fromisoformat(earlier)
    return round(gap.total_seconds() / 86400, 2)
