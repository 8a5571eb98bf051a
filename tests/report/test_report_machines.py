"""Every machine format against its published schema, with strings that try to break it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import jsonschema
import pytest
from lxml import etree
from synthetic import large, small

from guard.model import Edit, Finding, Report, Severity
from guard.report import View, render

SCHEMAS = Path(__file__).parent / "schemas"
VIEW = View(link_base="https://example.org/team/repo")
LARGE = large(1500)
EMPTY = Report("check", "1")
REPORTS = pytest.mark.parametrize("report", [small(), LARGE, EMPTY], ids=["small", "large", "empty"])


def validate(text: str, schema: str) -> None:
    document = json.loads((SCHEMAS / schema).read_text())
    jsonschema.validators.validator_for(document)(document).validate(json.loads(text))


def with_edits() -> Report:
    report = small()
    edits = (
        Edit(report.findings[0].path, 3, 4, "a\nb\n"),
        Edit(report.findings[0].path, 9, 8, "new\n"),
    )
    return dataclasses.replace(report, findings=(dataclasses.replace(report.findings[0], edits=edits),))


@REPORTS
def test_sarif_is_valid(report: Report) -> None:
    validate(render(report, "sarif", VIEW), "sarif-2.1.0.json")


def test_sarif_says_what_the_issue_asks() -> None:
    run = json.loads(render(small(), "sarif", VIEW))["runs"][0]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["GRD101"]["help"]["markdown"] == "# Why\n\n`x` <b>&</b>"
    assert {"GRD102", "GRD201", "GRD305", "GRD903"} <= set(rules)
    first = run["results"][0]
    assert (first["ruleId"], first["level"]) == ("GRD201", "error")
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "GRD201"
    assert first["partialFingerprints"] == {
        "guard/v1": "99f707ef02f096ed",
        "primaryLocationLineHash": "99f707ef02f096ed:1",
    }
    assert [place["message"]["text"].split(":")[0] for place in first["relatedLocations"]] == [
        "base says near here",
        "ours says near here",
        "theirs says",
        "theirs",
    ]
    assert first["relatedLocations"][2]["physicalLocation"]["region"]["startLine"] == 571
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert [result["suppressions"][0]["justification"] for result in suppressed] == ["dev keeps its own setup"]
    said = run["invocations"][0]
    assert said["executionSuccessful"] is True
    assert [note["message"]["text"] for note in said["toolExecutionNotifications"]] == [
        "lint megatron/bad.py skipped: does not parse: line 3"
    ]
    assert run["versionControlProvenance"][0]["revisionId"] == small().merges[0].checked


def test_sarif_keeps_the_five_thousand_worst() -> None:
    many = tuple(
        Finding("GRD202", "lost-change", Severity.WARNING, "a.py", 1, "m", f"{number:016x}", score=number)
        for number in range(5100)
    )
    run = json.loads(render(dataclasses.replace(EMPTY, findings=many), "sarif", VIEW))["runs"][0]
    assert len(run["results"]) == 5000
    assert min(result["properties"]["score"] for result in run["results"]) == 100
    assert "100 further findings" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_sarif_fixes_replace_whole_lines() -> None:
    text = render(with_edits(), "sarif", VIEW)
    validate(text, "sarif-2.1.0.json")
    replacements = json.loads(text)["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert [part["deletedRegion"] for part in replacements] == [
        {"startLine": 3, "startColumn": 1, "endLine": 5, "endColumn": 1},
        {"startLine": 9, "startColumn": 1, "endLine": 9, "endColumn": 1},
    ]


@REPORTS
def test_gitlab_is_valid_and_its_fingerprints_are_unique(report: Report) -> None:
    text = render(report, "gitlab", VIEW)
    validate(text, "gitlab-code-quality.json")
    marks = [entry["fingerprint"] for entry in json.loads(text)]
    assert len(marks) == len(set(marks))


def test_gitlab_shows_failed_checks_as_blockers() -> None:
    kinds = {entry["check_name"]: entry["severity"] for entry in json.loads(render(LARGE, "gitlab", VIEW))}
    assert kinds["guard-failed"] == "blocker"
    assert kinds["guard-skipped"] == "info"


@REPORTS
def test_junit_follows_its_xsd(report: Report) -> None:
    schema = etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))
    document = etree.fromstring(render(report, "junit", VIEW).encode())
    schema.assertValid(document)


def test_junit_counts_errors_as_failures() -> None:
    root = etree.fromstring(render(LARGE, "junit", VIEW).encode())
    standing = LARGE.count(Severity.ERROR)
    assert len(root.findall(".//failure")) == standing
    assert sum(int(suite.get("failures")) for suite in root) == standing
    assert [element.get("type") for element in root.findall(".//error")] == ["failed"]
    accepted = sum(1 for finding in LARGE.findings if finding.accepted)
    assert len(root.findall(".//skipped")) == accepted + 1


@pytest.mark.parametrize("report", [small(), LARGE, EMPTY, with_edits()], ids=["small", "large", "empty", "edits"])
def test_rdjson_is_valid(report: Report) -> None:
    validate(render(report, "rdjson", VIEW), "rdformat.json")


def test_rdjson_suggestions() -> None:
    diagnostic = json.loads(render(with_edits(), "rdjson", VIEW))["diagnostics"][0]
    assert diagnostic["suggestions"] == [
        {"range": {"start": {"line": 3}, "end": {"line": 4}}, "text": "a\nb"},
        {"range": {"start": {"line": 9, "column": 1}, "end": {"line": 9, "column": 1}}, "text": "new\n"},
    ]


def test_github_annotations_cannot_be_broken_out_of() -> None:
    lines = render(LARGE, "github", View(persona="audit")).splitlines()
    commands = [line for line in lines if line.startswith("::")]
    rest = [line for line in lines if not line.startswith("::")]
    assert all(re.match(r"::(error|warning|notice) [^:]*::\S", line) for line in commands)
    assert all(line.startswith("guard: ") for line in rest)
    kinds = [line.split(" ")[0] for line in commands]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"::error": 10, "::warning": 10, "::notice": 10}
    assert f"guard: {LARGE.count(Severity.ERROR) - 9} more errors in the summary" in rest


def test_github_names_each_change_before_a_second_place() -> None:
    lines = render(small(), "github", View()).splitlines()
    places = [line.split("file=")[1].split(",")[0] for line in lines if line.startswith("::warning")]
    assert places[0] == "megatron/training/arguments.py"


def test_github_escapes() -> None:
    finding = Finding("GRD201", "reverted-fix", Severity.ERROR, "a,b:c%.py", 3, "50 %\n::error::x", "f" * 16)
    text = render(Report("check", "1", (finding,)), "github", View())
    assert text.splitlines()[0] == (
        "::error file=a%2Cb%3Ac%25.py,line=3,title=GRD201 reverted-fix::50 %25 : :error::x (ffffffffffffffff)"
        "%0Aguard explain ffffffffffffffff"
    )


@pytest.mark.parametrize("name", ["sarif", "gitlab", "junit", "rdjson", "json"])
def test_no_machine_format_drops_a_finding(name: str) -> None:
    text = render(LARGE, name, VIEW)
    shown = set(re.findall(r"\b[0-9a-f]{16}\b", text))
    assert {found.fingerprint for found in LARGE.findings if not found.accepted} <= shown
