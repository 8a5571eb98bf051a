"""Findings of one file as bytes and back, for the fact store."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass

from guard.model import Confidence, Edit, Finding, Outcome, Severity, Status

_FIELDS = ("code", "name", "path", "line", "message", "fingerprint", "end_line", "column", "symbol", "subject")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file gave: findings, an outcome where it was not analysed, and what the answer depended on."""

    findings: tuple[Finding, ...]
    outcome: Outcome | None
    depends: Mapping[str, str]


def to_bytes(result: FileResult) -> bytes:
    """Serialise a result."""
    rows = []
    for finding in result.findings:
        row = {name: getattr(finding, name) for name in _FIELDS}
        row["severity"] = finding.severity.value
        row["confidence"] = finding.confidence.value
        row["numeric"] = finding.numeric
        row["fixable"] = finding.fixable
        row["edits"] = [dataclasses.astuple(edit) for edit in finding.edits]
        rows.append(row)
    outcome = result.outcome
    ended = None if outcome is None else [outcome.check, outcome.status.value, outcome.reason, outcome.subject]
    return json.dumps({"findings": rows, "outcome": ended, "depends": dict(result.depends)}).encode()


def from_bytes(data: bytes) -> FileResult | None:
    """Read a result; None where the bytes are not one."""
    try:
        body = json.loads(data)
        findings = []
        for row in body["findings"]:
            row["severity"] = Severity(row["severity"])
            row["confidence"] = Confidence(row["confidence"])
            row["edits"] = tuple(Edit(*edit) for edit in row["edits"])
            findings.append(Finding(**row))
        outcome = None
        if body["outcome"] is not None:
            check, status, reason, subject = body["outcome"]
            outcome = Outcome(check, Status(status), reason, subject=subject)
        return FileResult(tuple(findings), outcome, body["depends"])
    except (ValueError, KeyError, TypeError):
        return None
