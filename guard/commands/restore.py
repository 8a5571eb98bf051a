"""`guard restore`: print, or apply, the patch that brings a lost change back into merged."""

from __future__ import annotations

import os
import sys
from collections import defaultdict

import click

from guard.checks.restoration import Restoration, with_changes
from guard.checks.restoration import restore as restoration_of
from guard.commands.check import jobs, store
from guard.commands.judgement import RunSettings
from guard.commands.looking_up import Found, look_up, selection_of
from guard.commands.output import COULD_NOT_RUN, OutputOptions
from guard.commands.progress import progress
from guard.commands.range_options import RangeOptions, range_options
from guard.commands.settings import load_config
from guard.commands.work_tree import apply as apply_to_work_tree
from guard.config import Config
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.git.patch import changed_tree, patch_between
from guard.sync.topology import Sync
from guard.sync.trees import load


@click.command("restore")
@click.argument("fingerprints", nargs=-1, required=True, metavar="FINGERPRINT...")
@range_options
@click.option("--apply", "apply_it", is_flag=True, help="Write it into the work tree instead of printing a patch.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
def restore(fingerprints: tuple[str, ...], chosen: RangeOptions, apply_it: bool, config_file: str | None) -> int:
    """Bring lost changes back into merged: print the smallest patch (for git apply), or write it with --apply.

    FINGERPRINT is what a report shows for a finding; its first six digits are enough. Give the range options of the
    report. Of several changes either all are restored or none.
    """
    with Repository.open() as repository:
        config = load_config(repository, config_file)
        selection = selection_of(repository, chosen, config, fingerprints)
        options = OutputOptions()
        with progress() as tell:
            settings = RunSettings(
                select=("GRD2", "GRD3", "GRD4"), jobs=jobs(options), store=store(options), progress=tell
            )
            found = look_up(repository, selection, config, fingerprints, settings)
        return _restore(repository, found, config, apply_it)


def _restore(repository: Repository, found: list[Found], config: Config, apply_it: bool) -> int:
    by_sync: dict[Sync, list[Found]] = defaultdict(list)
    for item in found:
        if item.sync is None:
            raise GuardError(f"{item.finding.code} is a finding of the linter: see guard check --fix")
        by_sync[item.sync].append(item)
    checked = {sync.checked for sync in by_sync}
    if len(checked) > 1:
        raise GuardError("the findings are of merges with different trees: restore them one after the other")
    changes: dict[str, Entry | None] = {}
    refused: list[tuple[Found, Restoration]] = []
    for sync, items in by_sync.items():
        trees = load(repository, sync)
        before = trees.merged
        trees = with_changes(trees, changes)
        for item in items:
            restoration = restoration_of(trees, item.finding, config, among_others=bool(changes))
            if restoration.refused is not None:
                refused.append((item, restoration))
            changes.update(restoration.changes)
            trees = with_changes(trees, restoration.changes)
    if refused:
        for item, restoration in refused:
            _explain(item, restoration)
        return COULD_NOT_RUN
    if apply_it:
        for path in apply_to_work_tree(repository, before, changes):
            click.echo(f"restored {path}", err=True)
        return 0
    tip = next(iter(checked))
    patch = patch_between(repository, tip, changed_tree(repository, tip, changes))
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()
    return 0


def _explain(item: Found, restoration: Restoration) -> None:
    mark = item.finding.fingerprint
    click.echo(f"guard: {mark} cannot be restored: {restoration.refused}", err=True)
    if restoration.own:
        side = item.finding.lost_side
        click.echo(f"the edit of {side.value if side else 'the side'} itself:", err=True)
        click.echo(os.fsencode(restoration.own).decode("utf-8", "backslashreplace"), err=True)
