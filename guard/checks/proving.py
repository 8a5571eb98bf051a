"""The proof by the judge: of joined hunks, those in which it finds something lost or broken are opened again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guard.checks import run_check
from guard.checks.contract import CheckContext
from guard.config import Config
from guard.merging.resolve import HunkOutcome
from guard.model import Finding, Outcome, Severity, Status
from guard.store.facts import FactStore
from guard.sync.trees import FourTrees

PROOFS = ("lost", "textual", "broken")


@dataclass(frozen=True, slots=True)
class Proof:
    """What the judge says of joined hunks.

    Attributes:
        refuted: by path, the numbers of the hunks that are not to be joined, with the reason.
        outcomes: how the checks ended; one that failed proves nothing.
    """

    refuted: Mapping[str, Mapping[int, str]]
    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> bool:
        """Whether a check did not come to its end."""
        return any(outcome.status is Status.FAILED for outcome in self.outcomes)


def prove(trees: FourTrees, hunks: Mapping[str, Sequence[HunkOutcome]], jobs: int, store: FactStore) -> Proof:
    """Judge a merge in which hunks were joined.

    Arguments:
        trees: the sync; merged has the joined hunks, and open ones as ours has them.
        hunks: the hunks of each conflicted file, with their lines in merged.
        jobs: processes that the judge may use.
        store: remembered facts: most of them hold for the next try as well.
    """
    refuted: dict[str, dict[int, str]] = {}
    outcomes = []
    for name in PROOFS:
        run = run_check(name, CheckContext(trees, Config(), jobs, store))
        outcomes.append(Outcome(f"proof: {name}", run.outcome.status, run.outcome.reason, run.outcome.seconds))
        for finding in run.result.findings:
            if finding.severity is Severity.NOTE or not finding.code.startswith(("GRD2", "GRD3")):
                continue
            for number in _blamed(finding, hunks.get(finding.path, ())):
                reason = f"the judge finds {finding.name} in the joined form: {finding.message}"
                refuted.setdefault(finding.path, {}).setdefault(number, reason)
    return Proof(refuted, tuple(outcomes))


def _blamed(finding: Finding, hunks: Sequence[HunkOutcome]) -> list[int]:
    """The joined hunks that a finding is of: the one it begins in, else those it reaches or that speak of its subject.

    A finding that begins in an open hunk is of the side that fills it here, and of no joined one.
    """
    first, last = finding.line - 1, finding.end_line or finding.line
    begins = [o for o in hunks if o.lines[0] <= first < o.lines[1]]
    if begins:
        return [o.number for o in begins if o.resolved]
    touched = [o for o in hunks if o.lines[0] <= last and first <= o.lines[1]]
    if touched:
        return [o.number for o in touched if o.resolved]
    if not finding.subject:
        return []
    word = finding.subject.rsplit(".", 1)[-1]
    return [o.number for o in hunks if o.resolved and any(word in line for form in _forms(o) for line in form)]


def _forms(outcome: HunkOutcome) -> tuple[Sequence[str], ...]:
    return outcome.hunk.base, outcome.hunk.ours, outcome.hunk.theirs
