"""What the linter takes and gives: sources and the result of a run."""

from __future__ import annotations

from dataclasses import dataclass

from guard.model import Finding, Outcome


@dataclass(frozen=True, slots=True)
class Source:
    """One file to lint: its path inside the tree, with forward slashes, and its bytes."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class LintResult:
    """Findings in order of path and place, what was not analysed and why, and how many files were looked at."""

    findings: tuple[Finding, ...]
    outcomes: tuple[Outcome, ...]
    files: int


def brought(before: LintResult, after: LintResult) -> LintResult:
    """What `after` says and `before` does not: differential mode, by content and never by line number.

    A finding whose fingerprint stands n times before and m > n times after gives the last m - n of them.
    """
    left: dict[str, int] = {}
    for finding in before.findings:
        left[finding.fingerprint] = left.get(finding.fingerprint, 0) + 1
    fresh = []
    for finding in after.findings:
        if left.get(finding.fingerprint, 0) > 0:
            left[finding.fingerprint] -= 1
        else:
            fresh.append(finding)
    return LintResult(tuple(fresh), after.outcomes, after.files)
