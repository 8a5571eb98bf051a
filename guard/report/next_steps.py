"""What a reader can do about a finding, as commands that work as they are printed."""

from __future__ import annotations

import shlex

from guard.model import Finding, Report, Verdict
from guard.report.plain import one_line

REASON = "'why it is right'"
"""What stands for the reason in a printed `guard accept`, until a person writes a better one."""


def explain_command(report: Report, finding: Finding) -> str:
    """The command that shows all that is known of the finding."""
    return shlex.join(("guard", "explain", finding.fingerprint, *report.range_of(finding)))


def restore_command(report: Report, finding: Finding) -> str | None:
    """The command that prints the patch which brings the loss back; None where there is nothing to bring back."""
    if not restorable(finding):
        return None
    return shlex.join(("guard", "restore", finding.fingerprint, *report.range_of(finding)))


def accept_command(finding: Finding) -> str:
    """The command that remembers the finding as judged and accepted."""
    return f"guard accept {finding.fingerprint} --reason {REASON}"


def fix_command(finding: Finding) -> str | None:
    """The command that makes the safe edits of a rule in the finding's file; None where the rule has none."""
    if not finding.fixable or not finding.code.startswith("GRD1") or one_line(finding.path) != finding.path:
        return None  # a name that cannot be shown as it is cannot be typed either
    return shlex.join(("guard", "check", "--fix", finding.path))


def commands(report: Report, finding: Finding) -> dict[str, str]:
    """All of them, by verb."""
    found = {
        "explain": explain_command(report, finding),
        "restore": restore_command(report, finding),
        "fix": fix_command(finding),
        "accept": accept_command(finding),
    }
    return {verb: command for verb, command in found.items() if command is not None}


def what_edits_do(finding: Finding) -> str:
    """What a reader who takes a finding's edits gets."""
    if finding.merge is not None and finding.code.startswith("GRD2"):
        return "Bring the lost change back."
    return "Write the form that the rule asks for."


def restorable(finding: Finding) -> bool:
    """Whether the finding tells of something that can be brought back."""
    if finding.code == "GRD205" and not finding.fixable:
        return False  # it sums up a file: its single findings can be restored
    loss = finding.verdict is not None and finding.verdict.is_loss and finding.verdict is not Verdict.DEAD
    return finding.code.startswith("GRD2") and (loss or finding.verdict in {Verdict.SUPERSEDED, Verdict.REMOVED})
