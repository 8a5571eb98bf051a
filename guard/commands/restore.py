"""`guard restore`: print, or apply, the patch that brings lost changes back into merged; or the whole repair branch."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence

import click

from guard.checks.repairing import Repair, by_fix, repairs
from guard.checks.restoration import Restoration
from guard.commands.check import jobs, store
from guard.commands.judgement import RunSettings, judge_selection
from guard.commands.looking_up import Found, look_up, selection_of
from guard.commands.output import CLEAN, COULD_NOT_RUN, FOUND, OutputOptions
from guard.commands.progress import progress
from guard.commands.range_options import RangeOptions, range_options
from guard.commands.say import complain, say, write_as_it_is
from guard.commands.selection import Selection
from guard.commands.settings import load_config
from guard.commands.work_tree import apply as apply_to_work_tree
from guard.commands.work_tree import require_inside
from guard.config import Config
from guard.errors import GuardError, NothingCheckedError
from guard.git import Entry, Repository
from guard.git.patch import changed_tree, patch_between
from guard.git.series import as_branch, as_patches, author_of, commit_series
from guard.model import Finding, Severity, Status
from guard.sync.topology import Sync
from guard.sync.trees import load

_FIX = re.compile(r"#(\d+)")


@click.command("restore")
@click.argument("names", nargs=-1, metavar="[FINGERPRINT|#PR]...")
@range_options
@click.option("--all-errors", is_flag=True, help="Everything that is an error: a series of commits, one a fix.")
@click.option("--branch", metavar="NAME", help="With --all-errors: make it a new branch instead of printing patches.")
@click.option("--apply", "apply_it", is_flag=True, help="Write it into the work tree instead of printing a patch.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
def restore(
    names: tuple[str, ...],
    chosen: RangeOptions,
    all_errors: bool,
    branch: str | None,
    apply_it: bool,
    config_file: str | None,
) -> int:
    """Bring lost changes back into merged: print the smallest patch (for git apply), or write it with --apply.

    FINGERPRINT is what a report shows for a finding; its first six digits are enough. '#4941' means everything that
    the sync lost of that pull request. Give the range options of the report. What restored code reads comes along;
    a patch that would break something else is not offered. What cannot be restored is named, and the rest is
    restored: exit 0 if all of it was, 1 if some, 2 if nothing.

    --all-errors prints a series of patches for git am, one commit a fix, each of them judged before the next.
    """
    if bool(names) == all_errors or (branch and not all_errors) or (apply_it and all_errors):
        raise GuardError("name what to restore, or give --all-errors (with --branch NAME or for git am)")
    with Repository.open() as repository:
        config = load_config(repository, config_file)
        options = OutputOptions()
        with progress() as tell:
            settings = RunSettings(
                select=("GRD2", "GRD3", "GRD4"), jobs=jobs(options), store=store(options), progress=tell
            )
            selection = selection_of(repository, chosen, config, names)
            found = _found(repository, selection, config, names, settings)
            sync, findings = _of_one_tree(found)
            trees = load(repository, sync)
            if all_errors:
                made = list(repairs(trees, by_fix(findings), config, tell))
            else:
                made = list(repairs(trees, [tuple(findings)], config, tell))
                if len(findings) > 1 and not made[0].changes:
                    made = list(repairs(trees, [(finding,) for finding in findings], config, tell))
        if all_errors:
            return _series(repository, sync, made, branch)
        return _patch(repository, sync, trees.merged, made, apply_it)


def _found(
    repository: Repository, selection: Selection, config: Config, names: Sequence[str], settings: RunSettings
) -> list[Found]:
    """What is to be restored: the named findings, those of the named fixes, or all errors."""
    marks = [name for name in names if not _FIX.fullmatch(name)]
    pulls = {int(name[1:]) for name in names if _FIX.fullmatch(name)}
    found = look_up(repository, selection, config, marks, settings) if marks else []
    if names and not pulls:
        return found
    if not selection.syncs:
        raise NothingCheckedError(f"{selection.unanswered or 'there is no merge to restore from'}; name its range")
    from dataclasses import replace

    for sync in selection.syncs:
        report = judge_selection(repository, replace(selection, syncs=(sync,), tip=None), config, settings)
        failed = [f"{o.check}: {o.reason}" for o in report.outcomes if o.status is Status.FAILED]
        if failed:
            raise GuardError(f"not every check came to its end: {'; '.join(failed)}")
        found += [Found(finding, sync) for finding in report.findings if _wanted(finding, pulls)]
    missing = [pull for pull in pulls if not any(o.pr == pull for item in found for o in item.finding.origins)]
    if missing:
        raise GuardError(f"nothing of #{missing[0]} was lost in this range")
    if not found:
        raise NothingCheckedError("no finding of this range is an error: there is nothing to restore")
    return found


def _wanted(finding: Finding, pulls: set[int]) -> bool:
    """Whether a finding is of one of the fixes; without any, whether it is an error that a restoration may mend."""
    if not finding.code.startswith(("GRD2", "GRD3")) or finding.accepted is not None:
        return False
    if not pulls:
        return finding.severity is Severity.ERROR
    fixed = finding.code.startswith("GRD2") and finding.severity is not Severity.NOTE
    return fixed and any(origin.pr in pulls for origin in finding.origins)


def _of_one_tree(found: Sequence[Found]) -> tuple[Sync, list[Finding]]:
    by_sync: dict[Sync, list[Finding]] = defaultdict(list)
    for item in found:
        if item.sync is None:
            raise GuardError(f"{item.finding.code} is a finding of the linter: see guard check --fix")
        by_sync[item.sync].append(item.finding)
    if len(by_sync) > 1:
        raise GuardError("the findings are of several merges: restore them one after the other, each with its --merge")
    ((sync, findings),) = by_sync.items()
    return sync, findings


def _patch(repository: Repository, sync: Sync, merged: dict[str, Entry], made: Sequence[Repair], apply_it: bool) -> int:
    _require_inside(made)
    changes: dict[str, Entry | None] = {}
    for repair in made:
        changes.update(repair.changes)
        for finding, restoration in repair.refused:
            _explain(finding, restoration)
    if apply_it and changes:
        for path in apply_to_work_tree(repository, merged, changes):
            say(f"restored {path}", err=True)
    elif changes:
        write_as_it_is(patch_between(repository, sync.checked, changed_tree(repository, sync.checked, changes)))
    return _status(made)


def _series(repository: Repository, sync: Sync, made: Sequence[Repair], branch: str | None) -> int:
    _require_inside(made)
    steps = [(_message(repair, sync), repair.changes) for repair in made if repair.changes]
    for repair in made:
        for finding, restoration in repair.refused:
            _explain(finding, restoration)
    if steps:
        tip = commit_series(repository, sync.checked, steps, author_of(repository))
        if branch:
            as_branch(repository, tip, branch)
            say(f"made the branch {branch}: {len(steps)} commits on {sync.checked[:10]}", err=True)
        else:
            write_as_it_is(as_patches(repository, sync.checked, tip))
    return _status(made)


def _message(repair: Repair, sync: Sync) -> str:
    lines = [f"Restore {repair.title}", "", f"Lost or broken in the merge {sync.merge[:12]}:"]
    refused = {finding.fingerprint for finding, _ in repair.refused}
    for finding in repair.findings:
        if finding.fingerprint not in refused:
            lines.append(
                f"- {finding.path}: {finding.symbol}: {finding.message} ({finding.code} {finding.fingerprint})"
            )
    return "\n".join(lines) + "\n"


def _status(made: Sequence[Repair]) -> int:
    if not any(repair.refused for repair in made):
        return CLEAN
    done = any(repair.changes for repair in made)
    return FOUND if done else COULD_NOT_RUN


def _require_inside(made: Sequence[Repair]) -> None:
    """Refuse before anything is made of it what no work tree may hold, in a patch or a branch as well."""
    for repair in made:
        for path in repair.changes:
            require_inside(path)


def _explain(finding: Finding, restoration: Restoration) -> None:
    complain(f"{finding.fingerprint} cannot be restored: {restoration.refused}")
    if restoration.own:
        side = finding.lost_side
        say(f"the edit of {side.value if side else 'the side'} itself:", err=True)
        say(os.fsencode(restoration.own).decode("utf-8", "backslashreplace"), err=True)
