"""`guard merge`: make a merge in the work tree, join by syntax what git left as conflicts, name what stays open."""

from __future__ import annotations

from dataclasses import replace

import click

from guard.commands.conflict_run import ConflictPlan, contents_of, plan_conflict, report_of
from guard.commands.output import OutputOptions, finish, output_options
from guard.commands.progress import progress
from guard.errors import GitError, GuardError, NothingCheckedError
from guard.git import Repository
from guard.git.merging import (
    Replacement,
    abort_merge,
    commit_merge,
    in_progress,
    put_in_place,
    start_merge,
    uninterrupted,
    unmerged,
)
from guard.merging.conflicted import conflicted_files
from guard.merging.hunks import Labels
from guard.model import Report
from guard.sync.topology import Sync


@click.command("merge")
@click.argument("revision", metavar="REV")
@click.option("--dry-run", is_flag=True, help="Only tell what would be resolved and what would stay open.")
@click.option("--commit", "commit_it", is_flag=True, help="Commit the merge where no conflict is left.")
@output_options
def merge(revision: str, dry_run: bool, commit_it: bool, output: OutputOptions) -> int:
    """Merge REV into the work tree as `git merge --no-commit` does, and resolve conflicts by syntax.

    A hunk is resolved where both sides' changes can be joined and the result is proven: it parses, holds exactly what
    both sides put in, and the judge finds no loss and no break in it. Any other stays as git's conflict, with a note
    on what each side brings. Nothing is committed without --commit; `git merge --abort` undoes the merge.
    """
    with Repository.open() as repository:
        sync = sync_with(repository, revision)
        if not dry_run and in_progress(repository):
            raise GitError("another merge, rebase or cherry-pick is in progress here: finish or abort it first")
        with progress(output.quiet) as tell:
            tell(f"merging {revision}")
            plan = planned(repository, sync, output)
        labels = Labels("HEAD", sync.bases[0][:12], revision)
        if not dry_run:
            plan = _write(repository, plan, revision, labels)
            if commit_it and all(file.resolved for file in plan.files):
                sha = commit_merge(repository, _message(report_of(plan, "merge", labels), revision))
                plan = replace(plan, notices=(*plan.notices, f"committed the merge as {sha[:10]}"))
            else:
                plan = replace(plan, notices=(*plan.notices, _next(plan, commit_it)))
        return finish(report_of(plan, "merge", labels), output)


def sync_with(repository: Repository, revision: str, into: str = "HEAD") -> Sync:
    """The sync that merging a revision would be.

    Arguments:
        into: what would receive it.

    Raises:
        NothingCheckedError: the receiver contains it already.
    """
    repository.require_history()
    ours, theirs = repository.resolve(into), repository.resolve(revision)
    if repository.is_ancestor(theirs, ours):
        raise NothingCheckedError(f"already up to date: {into} contains {revision}")
    bases = repository.merge_bases(ours, theirs)
    if not bases:
        raise GitError(f"{into} and {revision} have unrelated histories: there is no merge base to merge by")
    return Sync(theirs, theirs, ours, theirs, bases, f"merge of {revision}")


def planned(repository: Repository, sync: Sync, options: OutputOptions) -> ConflictPlan:
    """What a merge would resolve, from git's own merge made aside.

    Arguments:
        options: how the judge goes about it.
    """
    automatic = repository.automatic_merge(sync.ours, sync.theirs)
    entries = repository.entries(automatic.tree)
    contents = {
        path: repository.blob(entries[path].sha) if path in entries and entries[path].kind == "file" else None
        for path in automatic.conflicts
    }
    return plan_conflict(repository, sync, automatic.stages, contents, automatic=automatic.tree, options=options)


def _write(repository: Repository, plan: ConflictPlan, revision: str, labels: Labels) -> ConflictPlan:
    """Let git make the merge, then put what was resolved in its place; all of it or nothing."""
    with uninterrupted():
        start_merge(repository, revision)
        try:
            stages = unmerged(repository)
            contents = contents_of(repository, sorted(stages))
            # With other settings than the plain ones git merges otherwise; there its own result stays.
            there = {item.path: item for item in conflicted_files(repository, stages, contents)}
            apart = [
                file
                for file in plan.files
                if file.changed and (file.path not in there or there[file.path].segments != file.conflicted.segments)
            ]
            if apart:
                names = ", ".join(file.path for file in apart)
                raise GuardError(
                    f"git merges {names} by settings of its own here (git config, .gitattributes): nothing was done"
                )
            files = [Replacement(file.path, file.content(labels), file.resolved) for file in plan.files if file.changed]
            put_in_place(repository, files, {path: data for path, data in contents.items() if data is not None})
        except BaseException:
            abort_merge(repository)
            raise
    return plan


def _next(plan: ConflictPlan, commit_it: bool) -> str:
    left = sum(len(file.resolution.open) if file.resolution else 1 for file in plan.files)
    if left:
        refused = "nothing was committed: " if commit_it else ""
        return f"{refused}{left} conflicts are left to you; then: guard check --hook && git commit"
    return "no conflict is left; look at it (git diff HEAD), then: git commit"


def _message(report: Report, revision: str) -> str:
    """The message of the merge commit: what was merged, and what was resolved how."""
    lines = [f"Merge {revision}", ""]
    if report.resolution:
        lines.append("Conflicts joined by syntax (guard merge):")
        lines += [f"- {row.path}:{row.line} {row.symbol}: {row.reason}" for row in report.resolution]
    return "\n".join(lines) + "\n"
