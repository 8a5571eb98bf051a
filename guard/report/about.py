"""What a report says of the tool itself, and of each rule: one catalogue for all formats."""

from __future__ import annotations

from guard.codes import CODES
from guard.model import Outcome, Report, RuleHelp, Status
from guard.report.plain import one_line

NAME = "guard"
HOME = "https://pypi.org/project/merge-regression-guard/"


def catalogue(report: Report) -> dict[str, RuleHelp]:
    """Every code that the report may hold, by code, sorted: the list of codes, the enabled rules, and those met."""
    found = {finding.code: finding for finding in report.findings}
    rules = {code: RuleHelp(code, finding.name, finding.name.replace("-", " ")) for code, finding in found.items()}
    rules |= {code: RuleHelp(code, name, short) for code, (name, short) in CODES.items()}
    rules |= {rule.code: rule for rule in report.rules}
    return dict(sorted(rules.items()))


def name_in_documents(rule: RuleHelp) -> str:
    """The name under which guard's own documents speak of a code: a pin has a name of its own, and no page there."""
    return CODES[rule.code][0] if rule.code in CODES else rule.name


def checks_run(report: Report) -> list[str]:
    """The checks that ran, each once however many syncs, files or cases it ran on."""
    return list(dict.fromkeys(outcome.check for outcome in report.outcomes if outcome.status is Status.RAN))


def not_checked(report: Report) -> list[Outcome]:
    """The checks, files and cases that were skipped or failed; failed ones first."""
    left = [outcome for outcome in report.outcomes if outcome.status is not Status.RAN]
    return sorted(left, key=lambda outcome: outcome.status is not Status.FAILED)


def outcome_sentence(outcome: Outcome) -> str:
    """`lost failed: engine ended with 3`, in one line."""
    subject = f" {one_line(outcome.subject)}" if outcome.subject else ""
    return f"{outcome.check}{subject} {outcome.status.value}: {one_line(outcome.reason or 'no reason given')}"
