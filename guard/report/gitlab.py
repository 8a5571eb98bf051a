"""GitLab code quality: the list that a merge request shows as what it makes better or worse."""

from __future__ import annotations

from typing import Any

from guard.model import Finding, Report, Severity, Status, fingerprint
from guard.report.about import not_checked, outcome_sentence
from guard.report.groups import origin_label, rank
from guard.report.json_text import dump
from guard.report.next_steps import commands
from guard.report.plain import one_line
from guard.report.view import View

ROOT = "."
"""Where an entry points that belongs to no file."""


def render(report: Report, view: View) -> str:
    """Every standing finding, and an entry for each check that was skipped or failed."""
    entries = [_entry(finding, report) for finding in sorted(report.findings, key=rank) if finding.accepted is None]
    for outcome in not_checked(report):
        said = outcome_sentence(outcome)
        entries.append(
            {
                "description": said,
                "check_name": f"guard-{outcome.status.value}",
                "fingerprint": fingerprint("outcome", outcome.subject or ROOT, outcome.check, said),
                "severity": "blocker" if outcome.status is Status.FAILED else "info",
                "location": {"path": _path(outcome.subject or ROOT), "lines": {"begin": 1}},
            }
        )
    _tell_apart(entries)
    return dump(entries)


def _entry(finding: Finding, report: Report) -> dict[str, Any]:
    label = f" [{origin_label(finding.origins[0])}]" if finding.origins else ""
    lines = {"begin": max(finding.line, 1)}
    if finding.end_line is not None and finding.end_line > finding.line:
        lines["end"] = finding.end_line
    return {
        "description": f"{one_line(finding.message)}{label}",
        "content": {"body": "\n\n".join(f"`{command}`" for command in commands(report, finding).values())},
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": finding.fingerprint,
        "severity": _severity(finding),
        "location": {"path": _path(finding.path), "lines": lines},
    }


def _severity(finding: Finding) -> str:
    if finding.severity is Severity.ERROR:
        return "critical" if finding.numeric else "major"
    return "minor" if finding.severity is Severity.WARNING else "info"


def _path(path: str) -> str:
    return path.removeprefix("./").lstrip("/") or ROOT


def _tell_apart(entries: list[dict[str, Any]]) -> None:
    """GitLab keeps one entry of those with equal fingerprints, so later ones get their number among them."""
    seen: dict[str, int] = {}
    for entry in entries:
        mark = entry["fingerprint"]
        seen[mark] = seen.get(mark, 0) + 1
        if seen[mark] > 1:
            entry["fingerprint"] = f"{mark}-{seen[mark]}"
