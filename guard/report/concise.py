"""One finding a line, as editors and grep want it: `path:line:column: severity code message`."""

from __future__ import annotations

from guard.model import Finding, Report, Severity, Status
from guard.report.groups import origin_label, rank
from guard.report.paint import OF_SEVERITY, Paint
from guard.report.plain import one_line, plural
from guard.report.view import View, counted


def render(report: Report, view: View) -> str:
    """Every shown finding in one line, worst first, then what was not checked, then the counts."""
    paint = Paint(view.color)
    lines = [_line(finding, paint) for finding in sorted(filter(view.shows, report.findings), key=rank)]
    for outcome in report.outcomes:
        if outcome.status is not Status.RAN:
            subject = f" {one_line(outcome.subject)}" if outcome.subject else ""
            lines.append(f"{outcome.status.value}: {outcome.check}{subject}: {one_line(outcome.reason or 'no reason')}")
    lines.append(totals(report, view))
    return "\n".join(lines) + "\n"


def totals(report: Report, view: View) -> str:
    """`2 errors, 1 warning (14 notes hidden, 3 accepted)`."""
    said = [plural(report.count(severity), severity.value) for severity in (Severity.ERROR, Severity.WARNING)]
    hidden = counted(report, view)
    if not hidden[Severity.NOTE]:
        said.append(plural(report.count(Severity.NOTE), "note"))
    aside = [f"{plural(count, severity.value)} hidden" for severity, count in hidden.items() if count]
    if report.hidden:
        aside.append(f"{report.hidden:,} more hidden")
    accepted = sum(1 for finding in report.findings if finding.accepted is not None)
    if accepted:
        aside.append(f"{accepted:,} accepted")
    return ", ".join(said) + (f" ({', '.join(aside)})" if aside else "")


def _line(finding: Finding, paint: Paint) -> str:
    place = f"{one_line(finding.path)}:{finding.line}:{finding.column}"
    label = f" [{origin_label(finding.origins[0])}]" if finding.origins else ""
    severity = paint(finding.severity.value, OF_SEVERITY[finding.severity])
    return f"{paint(place, 'bold')}: {severity} {finding.code} {one_line(finding.message)}{label}"
