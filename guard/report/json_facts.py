"""JSON, version 1: the facts of a run as they are (schema: `schemas/report.schema.json`)."""

from __future__ import annotations

from typing import Any

from guard.model import (
    ChangeCount,
    Containment,
    Evidence,
    FileCount,
    Finding,
    HunkRecord,
    Invariance,
    MergeRecord,
    Origin,
    Outcome,
    Report,
    Severity,
    SyncRow,
)
from guard.report.excerpt import tree_text
from guard.report.json_text import dump
from guard.report.next_steps import commands
from guard.report.view import View

VERSION = 1


def render(report: Report, view: View) -> str:
    """All facts, whatever the view hides; keys are only ever added within a version."""
    return dump(facts(report))


def facts(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries, lists and scalars."""
    document: dict[str, Any] = {
        "version": VERSION,
        "tool": {"name": "guard", "version": report.version},
        "command": report.command,
        "merges": [_merge(merge) for merge in report.merges],
        "outcomes": [_outcome(outcome) for outcome in report.outcomes],
        "findings": [{**finding_facts(finding), "commands": commands(report, finding)} for finding in report.findings],
    }
    if report.contains:
        document["contains"] = [_containment(row) for row in report.contains]
    if report.invariance:
        document["invariance"] = [_invariance(row) for row in report.invariance]
    if report.syncs:
        document["syncs"] = [_sync(row) for row in report.syncs]
    document["range"] = list(report.range)
    if report.resolution:
        document["resolution"] = [_hunk(row) for row in report.resolution]
    document["notices"] = list(report.notices)
    document["summary"] = {
        **{severity.value: report.count(severity) for severity in Severity},
        "hidden": report.hidden,
        "accepted": sum(1 for finding in report.findings if finding.accepted is not None),
        "files": report.files,
        "seconds": round(report.seconds, 3),
    }
    return document


def finding_facts(finding: Finding) -> dict[str, Any]:
    """One finding as a dictionary."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "path": finding.path,
        "line": finding.line,
        "end_line": finding.end_line if finding.end_line is not None else finding.line,
        "column": finding.column,
        "symbol": finding.symbol,
        "subject": finding.subject,
        "message": finding.message,
        "lost_side": finding.lost_side.value if finding.lost_side else None,
        "verdict": finding.verdict.value if finding.verdict else None,
        "numeric": finding.numeric,
        "origins": [_origin(origin) for origin in finding.origins],
        "evidence": _evidence(finding.evidence),
        "related": [
            {"path": place.path, "line": place.line, "message": place.message, "tree": place.tree}
            for place in finding.related
        ],
        "fixable": finding.fixable,
        "fingerprint": finding.fingerprint,
        "score": finding.score,
        "policy": finding.policy,
        "accepted": finding.accepted,
        "repaired_by": _origin(finding.repaired_by) if finding.repaired_by else None,
        "merge": finding.merge,
        "patch": finding.patch,
        "edits": [
            {"path": edit.path, "start": edit.start, "end": edit.end, "text": edit.text} for edit in finding.edits
        ],
    }


def _origin(origin: Origin) -> dict[str, Any]:
    return {
        "commit": origin.commit,
        "pr": origin.pr,
        "subject": origin.subject,
        "is_fix": origin.is_fix,
        "tests": list(origin.tests),
        "date": origin.date,
        "author": origin.author,
    }


def _evidence(evidence: Evidence) -> dict[str, str | None]:
    return {tree: tree_text(evidence, tree) for tree in ("base", "ours", "theirs", "merged")}


def _count(count: ChangeCount) -> dict[str, int]:
    return {"total": count.total, "kept": count.kept, "lost": count.lost}


def _files(count: FileCount) -> dict[str, Any]:
    return {
        "total": count.total,
        "whole": count.whole,
        "taken": count.taken,
        "taken_changes": {"total": count.taken_changes, "kept": count.taken_kept},
    }


def _merge(merge: MergeRecord) -> dict[str, Any]:
    return {
        "merged": merge.merged,
        "checked": merge.checked,
        "ours": merge.ours,
        "theirs": merge.theirs,
        "base": list(merge.base),
        "subject": merge.subject,
        "changes": {"ours": _count(merge.ours_changes), "theirs": _count(merge.theirs_changes)},
        "files": {"ours": _files(merge.ours_files), "theirs": _files(merge.theirs_files)},
        "survival": [
            {"path": row.path, "side": row.side.value, "total": row.total, "kept": row.kept} for row in merge.survival
        ],
        "repaired": [finding_facts(finding) for finding in merge.repaired],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "check": outcome.check,
        "status": outcome.status.value,
        "reason": outcome.reason,
        "seconds": round(outcome.seconds, 3),
        "subject": outcome.subject,
    }


def _containment(row: Containment) -> dict[str, Any]:
    return {
        "fix": row.fix,
        "pr": row.pr,
        "rev": row.rev,
        "status": row.status,
        "place": row.place,
        "by": row.by,
        "subject": row.subject,
        "numeric": row.numeric,
    }


def _invariance(row: Invariance) -> dict[str, Any]:
    cut = {"dp": row.cut.dp, "cp": row.cut.cp, "tp": row.cut.tp, "ep": row.cut.ep, "mbs": row.cut.mbs}
    return {
        "case": row.case,
        "tree": row.tree,
        "cut": {**cut, "etp": row.cut.etp, "pp": row.cut.pp, "vpp": row.cut.vpp},
        "status": row.status,
        "ratio": row.ratio,
        "rel": row.rel,
        "tolerance": row.tolerance,
        "reason": row.reason,
        "seconds": round(row.seconds, 3),
    }


def _hunk(row: HunkRecord) -> dict[str, Any]:
    return {
        "path": row.path,
        "line": row.line,
        "end_line": row.end_line,
        "symbol": row.symbol,
        "status": "resolved" if row.resolved else "open",
        "reason": row.reason,
        "numeric": row.numeric,
        "ours": [_origin(origin) for origin in row.ours],
        "theirs": [_origin(origin) for origin in row.theirs],
        "would_lose": [{"side": side, "what": what} for side, what in row.would_lose],
        "rank": row.rank,
    }


def _sync(row: SyncRow) -> dict[str, Any]:
    return {
        "merge": _merge(row.merge),
        "date": row.date,
        "lost": row.lost,
        "revived": row.revived,
        "breaks": row.breaks,
        "repaired": row.repaired,
        "open": row.open,
        "accepted": row.accepted,
        "given_up": row.given_up,
        "not_followed": row.not_followed,
        "repaired_by": [
            {"commit": commit, "subject": subject, "days": days} for commit, subject, days in row.repaired_by
        ],
        "status": row.status.value,
        "reason": row.reason,
    }
