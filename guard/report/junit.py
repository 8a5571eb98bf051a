"""JUnit XML (the Jenkins xUnit dialect): a test case for each check and each finding; an error is a failure."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from guard.model import Evidence, Finding, Outcome, Report, Severity, Status
from guard.report.excerpt import tree_text
from guard.report.groups import origin_label, rank, subject_of
from guard.report.next_steps import commands
from guard.report.plain import clean, one_line
from guard.report.view import View

_NO_XML = re.compile("[\ufffe\uffff]")
_TREES = ("base", "ours", "theirs", "merged")
Case = tuple[str, str]
"""How it ended (a key of the counts, or `passed`) and its element."""


def render(report: Report, view: View) -> str:
    """A suite of the checks and one for each code; warnings and notes pass, with their text as output."""
    suites = [_suite("checks", [_check(outcome) for outcome in report.outcomes], report.seconds)]
    by_code: dict[str, list[Finding]] = {}
    for finding in sorted(report.findings, key=rank):
        by_code.setdefault(f"{finding.code} {finding.name}", []).append(finding)
    suites += [_suite(name, [_case(finding, report) for finding in by_code[name]], 0.0) for name in sorted(by_code)]
    body = "\n".join(suites)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="guard {report.command}">\n{body}\n</testsuites>\n'
    )


def _suite(name: str, cases: list[Case], seconds: float) -> str:
    counts = {kind: sum(1 for ended, _ in cases if ended == kind) for kind in ("failure", "error", "skipped")}
    head = (
        f'<testsuite name={_attribute(name)} tests="{len(cases)}" failures="{counts["failure"]}" '
        f'errors="{counts["error"]}" skipped="{counts["skipped"]}" time="{_time(seconds)}">'
    )
    return "\n".join([head, *(element for _, element in cases), "</testsuite>"])


def _check(outcome: Outcome) -> Case:
    name = f"{outcome.check} {outcome.subject}" if outcome.subject else outcome.check
    head = f'<testcase name={_attribute(name)} classname="guard.checks" time="{_time(outcome.seconds)}"'
    reason = outcome.reason or "no reason given"
    if outcome.status is Status.RAN:
        return "passed", f"{head}/>"
    if outcome.status is Status.SKIPPED:
        return "skipped", f"{head}><skipped message={_attribute(reason)}/></testcase>"
    inner = f'<error message={_attribute(reason)} type="failed">{_text(reason)}</error>'
    return "error", f"{head}>{inner}</testcase>"


def _case(finding: Finding, report: Report) -> Case:
    name = f"{finding.path}:{finding.line} {finding.symbol} [{finding.fingerprint}]"
    classname = f"guard.{finding.code}.{finding.path}"
    head = f'<testcase name={_attribute(name)} classname={_attribute(classname)} time="0.000"'
    if finding.accepted is not None:
        return "skipped", f"{head}><skipped message={_attribute(f'accepted: {finding.accepted}')}/></testcase>"
    if finding.severity is Severity.ERROR:
        mark = f'message={_attribute(finding.message)} type="{finding.code}"'
        return "failure", f"{head}><failure {mark}>{_text(_evidence(finding, report))}</failure></testcase>"
    said = _text(f"{finding.severity.value}: {_evidence(finding, report)}")
    return "passed", f"{head}><system-out>{said}</system-out></testcase>"


def _evidence(finding: Finding, report: Report) -> str:
    lines = [one_line(finding.message)]
    lines += [f"from {origin_label(origin)} {subject_of(origin)}" for origin in finding.origins]
    for tree in _TREES if finding.evidence != Evidence() else ():
        text = tree_text(finding.evidence, tree)
        lines.append(f"{tree}:\n{clean(text)}" if text is not None else f"{tree}: nothing")
    lines += commands(report, finding).values()
    return "\n".join(lines)


def _text(text: str) -> str:
    return escape(_NO_XML.sub("?", clean(text)))


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("?", one_line(text)))


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
