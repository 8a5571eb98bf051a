"""`guard resolve`: join by syntax what a merge, rebase or cherry-pick left as conflicts."""

from __future__ import annotations

from dataclasses import replace

import click

from guard.commands.conflict_run import contents_of, plan_conflict, report_of
from guard.commands.output import OutputOptions, finish, output_options
from guard.commands.progress import progress
from guard.commands.selection import Selection, named_paths
from guard.errors import NothingCheckedError
from guard.git import Repository
from guard.git.merging import Replacement, in_progress, put_in_place, unmerged
from guard.merging.hunks import Labels
from guard.sync.topology import Sync


@click.command("resolve")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--dry-run", is_flag=True, help="Only tell what would be resolved and what would stay open.")
@output_options
def resolve(paths: tuple[str, ...], dry_run: bool, output: OutputOptions) -> int:
    """Resolve the conflicts that are open here, or those at PATHs, whoever made them.

    A file that was edited since git left its markers in it is not touched.
    """
    with Repository.open() as repository:
        stages = unmerged(repository)
        if paths:
            wanted = named_paths(repository, paths, Selection())
            stages = {
                path: entry
                for path, entry in stages.items()
                if any(one in (path, ".") or path.startswith(f"{one}/") for one in wanted)
            }
        if not stages:
            raise NothingCheckedError("no conflict is open here: nothing was resolved")
        verb, brought = in_progress(repository) or ("", "")
        sync = _sync(repository, verb, brought)
        contents = contents_of(repository, sorted(stages))
        with progress() as tell:
            tell("resolving conflicts")
            plan = plan_conflict(repository, sync, stages, contents, options=output)
        labels = Labels("HEAD", sync.bases[0][:12] if sync else "base", brought[:12] or "theirs")
        if not dry_run:
            files = [Replacement(f.path, f.content(labels), f.resolved) for f in plan.files if f.changed]
            put_in_place(repository, files, {path: data for path, data in contents.items() if data is not None})
        left = sum(len(file.resolution.open) if file.resolution else 1 for file in plan.files)
        said = f"{left} conflicts are left to you" if left else "no conflict is left in these files"
        return finish(report_of(replace(plan, notices=(*plan.notices, said)), "resolve", labels), output)


def _sync(repository: Repository, verb: str, brought: str) -> Sync | None:
    """The sync that is being made; a commit that is picked, replayed or taken back meets HEAD from its parent on."""
    if not brought or not repository.exists(brought):
        return None
    ours, theirs = repository.resolve("HEAD"), repository.resolve(brought)
    if verb == "merge":
        bases = repository.merge_bases(ours, theirs)
        return Sync(theirs, theirs, ours, theirs, bases, "merge in progress") if bases else None
    parents = repository.commit(theirs).parents
    if len(parents) != 1:
        return None
    base, theirs = (theirs, parents[0]) if verb == "revert" else (parents[0], theirs)
    return Sync(theirs, theirs, ours, theirs, (base,), f"{verb} in progress", explicit=True)
