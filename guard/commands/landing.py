"""`guard check --landed REV`: whether what landed is what was checked."""

from __future__ import annotations

import time

from guard import __version__
from guard.checks.landed import landed_differs, landing_of
from guard.commands.range_options import RangeOptions
from guard.errors import GuardError
from guard.git import Repository
from guard.model import Outcome, Report, Status


def check_landed(repository: Repository, landed: str, chosen: RangeOptions) -> Report:
    """Compare a landed tree with git's merge of the checked head onto what it landed on.

    Arguments:
        landed: names the commit on the branch.
        chosen: `--merge` names the checked head.

    Raises:
        GuardError: another range option is given, or a revision is unknown.
    """
    chosen.refuse_empty()
    if chosen.since or chosen.ours or chosen.theirs or chosen.base or chosen.merged:
        raise GuardError("--landed goes with --merge only, which names the head that was checked")
    started = time.monotonic()
    repository.require_history()
    landing = landing_of(repository, landed, chosen.merge)
    findings = landed_differs(repository, landing)
    place = f"{landing.landed[:10]} on {landing.onto[:10]}"
    notice = (
        f"{len(findings)} files of {place} are not as checked in {landing.head[:10]}"
        if findings
        else f"{place} is the checked head {landing.head[:10]} as git merges it"
    )
    seconds = time.monotonic() - started
    return Report(
        command="check",
        version=__version__,
        findings=findings,
        outcomes=(Outcome("landed", Status.RAN, None, seconds),),
        seconds=seconds,
        notices=(notice,),
    )
