"""GRD502: fixes of theirs that earlier syncs lost and that this one still lacks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from guard.checks.contract import CheckContext, CheckResult
from guard.codes import name_of
from guard.config import read_regular
from guard.errors import ConfigError
from guard.model import Confidence, Finding, Origin, Severity, Side, Verdict, fingerprint
from guard.provenance.blame import origins
from guard.provenance.carried_losses import Carried, SavedLoss, from_history, from_ledger, read_losses
from guard.provenance.containment import Ledger

_VERDICT = {"reverted": Verdict.REVERTED, "dead": Verdict.DEAD, "partly": Verdict.PARTLY, "missing": Verdict.LOST}


def check_carried(context: CheckContext) -> CheckResult:
    """Say which fixes that theirs has were lost by an earlier sync and are still missing in merged.

    A ledger file (`ledger` in the configuration, written by `guard history --ledger`) is taken where there is one;
    else the history of the merge bases is asked.
    """
    trees = context.trees
    repository, sync = trees.repository, trees.sync
    context.progress("looking for fixes that earlier syncs lost")
    ledger = Ledger(repository)
    theirs = ledger.tree(sync.theirs, trees.theirs, (sync.theirs, sync.theirs))
    merged = ledger.tree(sync.checked, trees.merged, (sync.ours, sync.theirs))
    saved = _saved(context)
    if saved is not None:
        found: Iterable[Carried] = from_ledger(ledger, saved, merged, theirs)
    else:
        date = repository.commit(sync.theirs).date
        found = from_history(ledger, sync.bases, merged, theirs, date)
    told = list(found)
    facts = origins(repository, (item.commit.sha for item in told))
    return CheckResult(tuple(_finding(item, facts[item.commit.sha], ledger.fix(item.commit).paths[0]) for item in told))


def _saved(context: CheckContext) -> tuple[SavedLoss, ...] | None:
    name = context.config.ledger
    if name is None:
        return None
    work_tree = context.trees.repository.work_tree
    if work_tree is not None:
        place = Path(work_tree, name)
        data = read_regular(place) if place.exists() else None
    else:
        data = context.trees.blob("merged", name)
    if data is None:
        raise ConfigError(
            f"{name}: the ledger named in the configuration is not there; guard history --ledger makes it"
        )
    return read_losses(data, name)


def _finding(item: Carried, origin: Origin, changed: str) -> Finding:
    """Tell of one fix; `changed` is a file of it, for where the tree has no place for it."""
    path, line = item.answer.place or (changed, 1)
    fix = f"#{origin.pr}" if origin.pr is not None else origin.commit[:10]
    state = {"dead": "is there but dead", "partly": "is only partly there"}.get(item.answer.status, "is still missing")
    message = f"{fix} ({origin.subject}), lost by the sync {item.lost_by[:10]}, {state} although theirs has it"
    return Finding(
        code="GRD502",
        name=name_of("GRD502"),
        severity=Severity.ERROR if item.numeric and item.answer.status != "partly" else Severity.WARNING,
        path=path,
        line=max(1, line),
        message=message,
        fingerprint=fingerprint("GRD502", path, item.answer.symbol, origin.commit),
        confidence=Confidence.HIGH if item.answer.status in ("reverted", "dead") else Confidence.MEDIUM,
        symbol=item.answer.symbol,
        lost_side=Side.THEIRS,
        verdict=_VERDICT[item.answer.status],
        numeric=item.numeric,
        origins=(origin,),
        score=(12.0 if item.numeric else 3.0) * (0.3 if item.answer.status == "partly" else 1.0),
    )
