"""GitHub annotations: workflow commands that the runner turns into notes at the lines of a pull request."""

from __future__ import annotations

from guard.model import Finding, Report, Severity, Status
from guard.report.about import not_checked, outcome_sentence
from guard.report.concise import totals
from guard.report.groups import group, origin_label
from guard.report.next_steps import explain_command, fix_command, restore_command
from guard.report.plain import clean, one_line, plural
from guard.report.view import View

MOST = 10
"""GitHub shows at most ten annotations of a kind for each step and drops the rest without a word."""
_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, view: View) -> str:
    """The ten worst of each kind as commands, then in plain lines how many more there are and the counts."""
    lines: list[str] = []
    room = dict.fromkeys(Severity, MOST)
    for outcome in not_checked(report):
        # What was skipped is said in the log and the summary: as a note at no line it would push findings out.
        if outcome.status is Status.FAILED and room[Severity.ERROR]:
            severity = Severity.ERROR
            room[severity] -= 1
            title = f"guard: {outcome.check} {outcome.status.value}"
            lines.append(_command(_COMMAND[severity], {"title": title}, outcome_sentence(outcome)))
        else:
            lines.append(f"guard: {outcome_sentence(outcome)}")
    left = dict.fromkeys(Severity, 0)
    groups = group(filter(view.shows, report.findings))
    # One place of each change first: ten places of one change would hide nine others.
    worst = [found.worst for found in groups] + [one for found in groups for one in found.findings[1:]]
    for finding in worst:
        if room[finding.severity]:
            room[finding.severity] -= 1
            lines.append(_annotation(finding, report))
        else:
            left[finding.severity] += 1
    lines += [f"guard: {plural(count, f'more {kind.value}')} in the summary" for kind, count in left.items() if count]
    lines.append(f"guard: {totals(report, view)}")
    return "\n".join(lines) + "\n"


def _annotation(finding: Finding, report: Report) -> str:
    values = {"file": clean(finding.path), "line": str(max(finding.line, 1))}
    if finding.end_line is not None and finding.end_line > finding.line:
        values["endLine"] = str(finding.end_line)
    elif finding.column > 1:
        values["col"] = str(finding.column)
    label = f" {origin_label(finding.origins[0])}" if finding.origins else ""
    values["title"] = f"{finding.code} {finding.name}{label}"
    command = restore_command(report, finding) or fix_command(finding) or explain_command(report, finding)
    said = f"{one_line(finding.message)} ({finding.fingerprint})\n{command}"
    return _command(_COMMAND[finding.severity], values, said)


def _command(command: str, values: dict[str, str], message: str) -> str:
    """A workflow command with what could end it or start another one escaped (GitHub's toolkit, `command.ts`)."""
    joined = ",".join(f"{key}={_escape(value, ':,')}" for key, value in values.items())
    return f"::{command} {joined}::{_escape(message)}"


def _escape(text: str, more: str = "") -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    for char in more:
        escaped = escaped.replace(char, f"%{ord(char):02X}")
    return escaped
