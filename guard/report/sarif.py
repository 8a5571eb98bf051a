"""SARIF 2.1.0 (OASIS standard, errata 01) as GitHub code scanning and editors read it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from guard.model import Finding, Report, RuleHelp, Severity, Status
from guard.report.about import HOME, NAME, catalogue, name_in_documents, not_checked, outcome_sentence
from guard.report.excerpt import tree_text
from guard.report.groups import origin_label, rank, subject_of
from guard.report.json_text import dump
from guard.report.next_steps import commands, what_edits_do
from guard.report.plain import one_line
from guard.report.view import View

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST_RESULTS = 5000
"""GitHub shows at most so many results of a run."""
FINGERPRINT = "guard/v1"
GITHUB_FINGERPRINT = "primaryLocationLineHash"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_PRECISION = {"high": "very-high", "medium": "medium", "low": "low"}
_TREES = ("base", "ours", "theirs")


def render(report: Report, view: View) -> str:
    """One run with all rules, the findings worst first, and a notification for whatever was not checked."""
    rules = catalogue(report)
    index = {code: number for number, code in enumerate(rules)}
    ordered = sorted(report.findings, key=rank)
    shown = ordered[:MOST_RESULTS]
    notices = [_notification(outcome_sentence(outcome), outcome.status) for outcome in not_checked(report)]
    notices += [_notification(one_line(notice), None) for notice in report.notices]
    if len(ordered) > len(shown):
        left = len(ordered) - len(shown)
        notices.append(_notification(f"{left} further findings are left out: the format's readers take 5,000", None))
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": NAME,
                "version": report.version,
                "informationUri": HOME,
                "rules": [_rule(rule, view) for rule in rules.values()],
            }
        },
        "automationDetails": {"id": f"{NAME}/{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the checked repository."}}},
        "invocations": [
            {
                "executionSuccessful": all(outcome.status is not Status.FAILED for outcome in report.outcomes),
                "toolExecutionNotifications": notices,
            }
        ],
        "results": [_result(finding, index[finding.code], report) for finding in shown],
    }
    if view.link_base and report.merges:
        run["versionControlProvenance"] = [
            {"repositoryUri": view.link_base, "revisionId": merge.checked} for merge in report.merges
        ]
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return dump(document)


def _rule(rule: RuleHelp, view: View) -> dict[str, Any]:
    url = view.rule_url(rule.code, name_in_documents(rule))
    help_text = rule.help or f"{rule.short[:1].upper()}{rule.short[1:]}."
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.short},
        "fullDescription": {"text": f"{rule.name}: {rule.short}"},
        "help": {"text": f"{help_text}\n\nguard explain {rule.code}", "markdown": help_text},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
        **({"helpUri": url} if url else {}),
        "properties": {"tags": ["merge" if rule.code[3] in "2345" else "correctness"]},
    }


def _result(finding: Finding, index: int, report: Report) -> dict[str, Any]:
    origin = finding.origins[0] if finding.origins else None
    said = one_line(finding.message)
    if origin is not None:
        said += f" [{origin_label(origin)} {subject_of(origin)}]"
    merged = tree_text(finding.evidence, "merged")
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "message": {"text": said},
        "locations": [
            {
                **_place(finding.path, finding.line, finding.end_line, finding.column, merged),
                "logicalLocations": [{"fullyQualifiedName": one_line(finding.symbol)}],
            }
        ],
        "partialFingerprints": {
            FINGERPRINT: finding.fingerprint,
            # Without the file at hand the fingerprint serves: it is as stable, and as much one finding's own.
            GITHUB_FINGERPRINT: finding.line_hash or f"{finding.fingerprint}:1",
        },
        "properties": {**_properties(finding), "commands": commands(report, finding)},
    }
    related = _related(finding)
    if related:
        result["relatedLocations"] = related
    if finding.accepted is not None:
        result["suppressions"] = [{"kind": "external", "justification": one_line(finding.accepted)}]
    if finding.edits:
        result["fixes"] = [_fix(finding)]
    return result


def _properties(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.name,
        "precision": _PRECISION[finding.confidence.value],
        "numeric": finding.numeric,
        "verdict": finding.verdict.value if finding.verdict else None,
        "lostSide": finding.lost_side.value if finding.lost_side else None,
        "subject": finding.subject,
        "score": finding.score,
        "origins": [
            {"commit": origin.commit, "pr": origin.pr, "subject": origin.subject} for origin in finding.origins
        ],
    }


def _related(finding: Finding) -> list[dict[str, Any]]:
    """What the other trees say, then the places that the finding names; their lines are those of their own tree."""
    known = {place.tree: place for place in reversed(finding.related) if place.path == finding.path}
    places = []
    for tree in _TREES:
        text = tree_text(finding.evidence, tree)
        if text is not None:
            line = known[tree].line if tree in known else finding.line
            about = "says" if tree in known else "says near here"
            places.append({**_place(finding.path, line, None, 1, text), "message": {"text": f"{tree} {about}: {text}"}})
    for place in finding.related:
        said = f"{place.tree}: {one_line(place.message)}"
        places.append({**_place(place.path, place.line, None, 1, None), "message": {"text": said}})
    return [{"id": number, **place} for number, place in enumerate(places, start=1)]


def _place(path: str, line: int, end: int | None, column: int, text: str | None) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(line, 1), "startColumn": max(column, 1)}
    if end is not None and end > line:
        region["endLine"] = end
    if text is not None:
        region["snippet"] = {"text": text}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


def _fix(finding: Finding) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in finding.edits:
        after = max(edit.end, edit.start - 1) + 1
        deleted = {"startLine": edit.start, "startColumn": 1, "endLine": after, "endColumn": 1}
        changes.setdefault(edit.path, []).append({"deletedRegion": deleted, "insertedContent": {"text": edit.text}})
    return {
        "description": {"text": what_edits_do(finding)},
        "artifactChanges": [
            {"artifactLocation": _artifact(path), "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }


def _notification(text: str, status: Status | None) -> dict[str, Any]:
    level = "error" if status is Status.FAILED else "warning" if status is Status.SKIPPED else "note"
    return {"level": level, "message": {"text": text}, "descriptor": {"id": status.value if status else "notice"}}
