"""`guard forecast`: before anything is merged, what a merge would leave open, who is behind it, and how risky it is."""

from __future__ import annotations

import click

from guard.commands.conflict_run import report_of
from guard.commands.merge import planned, sync_with
from guard.commands.output import OutputOptions, finish, output_options
from guard.commands.progress import progress
from guard.git import Repository
from guard.merging.hunks import Labels


@click.command("forecast")
@click.argument("revision", metavar="REV")
@click.option("--into", metavar="REV", default="HEAD", show_default=True, help="The branch that would receive it.")
@output_options
def forecast(revision: str, into: str, output: OutputOptions) -> int:
    """List the conflicts that a merge of REV would leave to a person, the riskiest first; nothing is written.

    Exit 1 where there are any, 0 where guard merge would leave none, 3 where there is nothing to merge.
    """
    with Repository.open() as repository:
        sync = sync_with(repository, revision, into)
        with progress() as tell:
            tell(f"trying the merge of {revision}")
            plan = planned(repository, sync, output)
        return finish(report_of(plan, "forecast", Labels(into, sync.bases[0][:12], revision)), output)
