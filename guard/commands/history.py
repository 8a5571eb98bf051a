"""`guard history`: every past sync of a range, what it lost, what was repaired, what is still open."""

from __future__ import annotations

import datetime
import re
import time
from dataclasses import replace
from pathlib import Path

import click

from guard import __version__
from guard.checks import ledger
from guard.checks.audit import Audit, audit_sync
from guard.checks.breaks.gathering import remembering
from guard.checks.contract import CheckContext
from guard.checks.remembered import key_of, remembered
from guard.commands.acceptance import accepted_by_commits
from guard.commands.check import configured, jobs, store
from guard.commands.judgement import ranked
from guard.commands.output import NOTHING_CHECKED, OutputOptions, finish, output_options
from guard.commands.progress import AGAIN, Progress, progress
from guard.commands.settings import load_config
from guard.commands.target import other_branches
from guard.commands.web import remote_address
from guard.config import Config
from guard.errors import GuardError, NothingCheckedError, fault
from guard.git import Repository
from guard.model import Finding, MergeRecord, Outcome, Report, Status, SyncRow
from guard.parallel import in_processes
from guard.report.plain import plural
from guard.store import baseline
from guard.store.facts import FactStore
from guard.sync import topology
from guard.sync.topology import Sync
from guard.sync.trees import load


@click.command("history")
@click.argument("span", metavar="RANGE")
@click.option("--since", metavar="DATE", help="With a branch as RANGE: its syncs since this date.")
@click.option(
    "--from", "source", metavar="REV", help="The branch that is merged in. Default: the remote's main branch."
)
@click.option("--ledger", "ledger_file", metavar="FILE", type=click.Path(path_type=Path), help="Write what was found.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
@output_options
def history(
    span: str,
    since: str | None,
    source: str | None,
    ledger_file: Path | None,
    config_file: str | None,
    output: OutputOptions,
) -> int:
    """Audit all past syncs in a range: one row a sync, losses repaired and still open.

    RANGE is A..B, or a branch together with --since. Each sync is judged by its own tree, and what it lost is followed
    to the end of the range. What is still open there is a finding.
    """
    started = time.monotonic()
    with Repository.open() as repository, progress(output.quiet, AGAIN if output.cache else "") as tell:
        repository.require_history()
        config = load_config(repository, config_file)
        output = configured(output, config, repository.work_tree)
        start, tip = ends(repository, span, since)
        others = (repository.resolve(source),) if source else other_branches(repository, config)
        tell("looking for syncs")
        syncs = topology.in_range(repository, start, tip, others)
        if not syncs:
            raise NothingCheckedError(f"there is no sync in {start[:10]}..{tip[:10]}")
        audits = _audits(repository, syncs, tip, config, jobs(output), store(output), tell)
        address = remote_address(repository)
        audits = [_with_accepted(repository, audit, tip, output) for audit in audits]
        if ledger_file is not None:
            ledger.write(ledger_file, tip, audits)
    report = Report(
        command="history",
        version=__version__,
        findings=ranked(finding for audit in audits for finding in audit.open),
        outcomes=tuple(_outcome(audit) for audit in audits),
        merges=(),
        syncs=tuple(audit.row for audit in audits),
        seconds=time.monotonic() - started,
        notices=(_summary(audits, tip),),
    )
    status = finish(report, output, link_base=address)
    return NOTHING_CHECKED if status == 0 and not audits else status


def ends(repository: Repository, span: str, since: str | None) -> tuple[str, str]:
    """The commits that a range starts after and ends with: (start, tip).

    Raises:
        GuardError: a branch without a date, or a date before the branch began.
    """
    if ".." in span:
        one, _, other = span.replace("...", "..").partition("..")
        return repository.resolve(one or "HEAD"), repository.resolve(other or "HEAD")
    tip = repository.resolve(span)
    if since is None:
        raise GuardError(f"{span} is no range: give A..B, or a date, as in guard history {span} --since 2026-03-01")
    try:
        # git reads what it does not understand as "now", and the range would be silently empty.
        if not re.fullmatch(r"@\d+", since):
            datetime.date.fromisoformat(since[:10])
    except ValueError:
        raise GuardError(f"--since {since}: a date is written like 2026-03-01") from None
    arguments = ("rev-list", "--first-parent", "-1", f"--before={since}", tip)
    start = repository.git(*arguments).decode("ascii").strip()
    if not start:
        raise GuardError(f"{span} has no commit before {since}: give the range as A..B")
    return start, tip


def _audits(
    repository: Repository,
    syncs: list[Sync],
    tip: str,
    config: Config,
    workers: int,
    store: FactStore,
    tell: Progress,
) -> list[Audit]:
    tell(f"auditing {len(syncs)} syncs")
    tell.begin(len(syncs), "sync")
    newest = max(syncs, key=lambda sync: repository.commit(sync.theirs).date)

    def audit(sync: Sync) -> Audit:
        date = repository.commit(sync.merge).date
        try:
            trees = load(repository, replace(sync, checked=sync.merge))
            heir = None if sync.theirs == newest.theirs else newest.theirs
            context = CheckContext(trees, config, 1, store)
            key = key_of(f"audit {tip} {heir}", trees, config)
            return remembered(store, key, Audit, lambda: audit_sync(context, tip, date, heir), _is_whole)
        except Exception as error:  # one sync that cannot be audited is a failed row, in every format
            record = MergeRecord(sync.merge, sync.merge, sync.ours, sync.theirs, sync.bases, sync.subject)
            reason = fault(error)
            return Audit(SyncRow(record, date, 0, 0, 0, 0, 0, (), Status.FAILED, reason))

    # Syncs of one branch share most files: what a process read for one serves the next.
    with remembering():
        return in_processes(audit, syncs, workers, lambda _sync, audit: tell.done(_said(audit)))


def _is_whole(audit: Audit) -> bool:
    return audit.row.status is Status.RAN


def _said(audit: Audit) -> str:
    """What a person who waits is told of one sync."""
    row = audit.row
    said = f"{row.merge.merged[:10]} {row.date[:10]} {row.merge.subject}"
    if row.status is Status.FAILED:
        return f"{said}: failed: {row.reason}"
    return f"{said}: {row.lost} lost, {row.revived} revived, {row.breaks} broken, {row.open} still open"


def _outcome(audit: Audit) -> Outcome:
    row = audit.row
    return Outcome("history", row.status, row.reason, 0.0, row.merge.merged[:10])


def _with_accepted(repository: Repository, audit: Audit, tip: str, output: OutputOptions) -> Audit:
    """The audit with what the baseline or a commit since the sync accepts counted as accepted, and not as open."""
    if not audit.open:
        return audit
    record = replace(audit.row.merge, checked=tip)
    report = Report("history", __version__, findings=audit.open, merges=(record,))
    report = accepted_by_commits(repository, report)
    if output.baseline is not None:
        report = baseline.apply(report, baseline.read(output.baseline), str(output.baseline))
    told = {finding.fingerprint: finding for finding in report.findings}
    standing = tuple(told[finding.fingerprint] for finding in audit.open)
    accepted = sum(finding.accepted is not None for finding in standing)
    row = replace(audit.row, accepted=accepted, open=len(standing) - accepted)
    return replace(audit, row=row, open=standing)


def _summary(audits: list[Audit], tip: str) -> str:
    rows = [audit.row for audit in audits]
    total = sum(row.lost + row.revived + row.breaks for row in rows)
    said = f"{plural(len(rows), 'sync')} up to {tip[:10]}: {plural(total, 'loss or break', 'losses and breaks')}: "
    said += f"{sum(row.repaired for row in rows):,} repaired, {sum(row.accepted for row in rows):,} accepted, "
    said += f"{sum(row.open for row in rows):,} still open"
    different = len({_key(finding) for audit in audits for finding in audit.open if finding.accepted is None})
    if different < sum(row.open for row in rows):
        said += f" ({different:,} places: some were lost by several syncs)"
    aside = (
        (sum(row.given_up for row in rows), "given up later by theirs itself"),
        (
            sum(row.not_followed for row in rows),
            "not followed: told from no other text in a file that changed",
        ),
    )
    return said + "".join(f"; {count:,} more {what}" for count, what in aside if count)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.path, finding.fingerprint
