"""RDJSON: the diagnostics that reviewdog turns into review comments with suggestions."""

from __future__ import annotations

from typing import Any

from guard.model import Edit, Finding, Report, RuleHelp, Severity, Status
from guard.report.about import HOME, NAME, catalogue, name_in_documents, not_checked, outcome_sentence
from guard.report.groups import origin_label, rank
from guard.report.json_text import dump
from guard.report.next_steps import explain_command, fix_command, restore_command
from guard.report.plain import one_line
from guard.report.view import View

_SEVERITY = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}


def render(report: Report, view: View) -> str:
    """Every standing finding, then an entry for each check that was skipped or failed."""
    rules = catalogue(report)
    standing = [finding for finding in sorted(report.findings, key=rank) if not finding.accepted]
    diagnostics = [_diagnostic(finding, report, view, rules[finding.code]) for finding in standing]
    for outcome in not_checked(report):
        diagnostics.append(
            {
                "message": outcome_sentence(outcome),
                "location": {"path": outcome.subject or "."},
                "severity": "ERROR" if outcome.status is Status.FAILED else "INFO",
                "code": {"value": f"guard-{outcome.status.value}"},
            }
        )
    document = {"source": {"name": NAME, "url": HOME}, "diagnostics": diagnostics}
    return dump(document)


def _diagnostic(finding: Finding, report: Report, view: View, rule: RuleHelp) -> dict[str, Any]:
    label = f" [{origin_label(finding.origins[0])}]" if finding.origins else ""
    code = {"value": finding.code}
    url = view.rule_url(finding.code, name_in_documents(rule))
    url = url or (view.commit_url(finding.origins[0].commit) if finding.origins else None)
    if url:
        code["url"] = url
    said = f"{one_line(finding.message)}{label} ({finding.name}, {finding.fingerprint})"
    entry: dict[str, Any] = {
        "message": f"{said}{_next(report, finding)}",
        "location": {"path": finding.path, "range": _lines(finding.line, finding.end_line)},
        "severity": _SEVERITY[finding.severity],
        "code": code,
    }
    if finding.related:
        entry["related_locations"] = [
            {
                "message": f"{place.tree}: {one_line(place.message)}",
                "location": {"path": place.path, "range": _lines(place.line, None)},
            }
            for place in finding.related
        ]
    suggestions = [_suggestion(edit) for edit in finding.edits if edit.path == finding.path]
    if suggestions:
        entry["suggestions"] = suggestions
    return entry


def _next(report: Report, finding: Finding) -> str:
    command = restore_command(report, finding) or fix_command(finding) or explain_command(report, finding)
    return f"\n\n`{command}`"


def _lines(start: int, end: int | None) -> dict[str, Any]:
    """Whole lines: without columns the end line is part of the range."""
    places = {"start": {"line": max(start, 1)}}
    if end is not None and end > start:
        places["end"] = {"line": end}
    return places


def _suggestion(edit: Edit) -> dict[str, Any]:
    """An insertion has a range without length, which needs columns; a replacement takes whole lines."""
    if edit.end < edit.start:
        point = {"line": edit.start, "column": 1}
        return {"range": {"start": point, "end": point}, "text": edit.text}
    return {"range": {"start": {"line": edit.start}, "end": {"line": edit.end}}, "text": edit.text.removesuffix("\n")}
