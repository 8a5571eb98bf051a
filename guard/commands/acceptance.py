"""Findings that the people of a sync have accepted in its commits: the trailer `Guard-Accept: FINGERPRINT reason`."""

from __future__ import annotations

from guard.git import Repository
from guard.model import Report
from guard.store import baseline

MESSAGE_FILE = "MERGE_MSG"
"""Where git keeps the message of a merge until it is committed; `COMMIT_EDITMSG` may still be the last commit's."""


def accepted_by_commits(repository: Repository, report: Report) -> Report:
    """Mark the findings that a commit of the branch accepts: the merge itself, those after it, or the one being made.

    Commits that only theirs brought say nothing here: who wrote them could not have seen the merge.
    """
    for merge in report.merges:
        if repository.exists(f"{merge.checked}^{{commit}}"):
            sides = [f"^{side}" for side in (merge.ours, merge.theirs)]
            for commit in repository.commits([merge.checked, *sides]):
                report = baseline.accept(report, baseline.trailers(commit.message), commit.sha[:10])
        else:  # a merge in progress: its message is being written
            file = repository.git_directory / MESSAGE_FILE
            if file.is_file():
                said = baseline.trailers(file.read_text("utf-8", "replace"))
                report = baseline.accept(report, said, "the message of this merge")
    return report
