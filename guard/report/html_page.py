"""HTML: one file that needs no network, to be read by a person or kept as an artifact of a job.

The numbers and tables are written here; the findings travel as data and are drawn by the page's own script when
they come into sight. The policy in the head lets exactly that script run, so text from a repository cannot.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib import resources
from typing import Any

from guard.model import Finding, MergeRecord, Origin, Report, Severity, Status
from guard.report.about import catalogue, checks_run, not_checked, outcome_sentence
from guard.report.concise import totals
from guard.report.excerpt import tree_text
from guard.report.groups import Group, group, headline, origin_label, subject_of
from guard.report.html_tables import containment_table, heat_table, invariance_table, ledger_table, sync_tables
from guard.report.json_text import harmless, safe
from guard.report.next_steps import commands
from guard.report.plain import clean, one_line
from guard.report.resolution import resolution_html
from guard.report.text_merge import file_lines
from guard.report.view import View

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; base-uri 'none'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
_COMMANDS = {
    "contains": "fixes and branches",
    "verify": "invariances",
    "history": "past syncs",
    "forecast": "what a merge would bring",
}


def render(report: Report, view: View) -> str:
    """The whole page."""
    style, script = _asset("page.css"), _asset("page.js")
    groups = group(report.findings)
    return _PAGE.format(
        title=_text(_title(report)),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        body="\n".join(_body(report, view, groups)),
        data=_data(report, view, groups),
    )


def _body(report: Report, view: View, groups: list[Group]) -> list[str]:
    sections = [
        ("Conflict hunks", resolution_html(report.resolution)),
        ("Past syncs", sync_tables(report.syncs)),
        ("Fixes and branches", containment_table(report.contains)),
        ("Invariances", invariance_table(report.invariance)),
        ("What survives, by file and side", heat_table(report.merges)),
        ("Fix ledger", ledger_table(groups, report.merges, view)),
    ]
    shown = [(f"s{number}", name, html) for number, (name, html) in enumerate(sections) if html]
    links = "".join(f'<a href="#{mark}">{name}</a>' for mark, name, _ in shown)
    parts = [
        '<a class="skip" href="#findings">Skip to the findings</a>',
        f"<header><h1>{_text(_title(report))}</h1>{_merges(report, view)}{_summary(report, view)}"
        f'<nav>{links}<a href="#findings">Findings</a></nav>'
        '<button type="button" id="theme" aria-label="Switch between light and dark">◐</button></header>',
        "<main>",
        _outcomes(report),
    ]
    parts += [f'<section id="{mark}"><h2>{name}</h2>{html}</section>' for mark, name, html in shown]
    parts += [_asset("findings.html"), "</main>"]
    return parts


def _title(report: Report) -> str:
    subject = next((one_line(merge.subject) for merge in report.merges if merge.subject), "")
    kind = _COMMANDS.get(report.command, "merge report" if report.merges else report.command)
    return f"guard: {kind}" + (f" – {subject}" if subject else "")


def _merges(report: Report, view: View) -> str:
    rows = []
    for merge in report.merges:
        at = f", judged at {_sha(merge.checked, view)}" if merge.checked != merge.merged else ""
        bases = " ".join(_sha(base, view) for base in merge.base)
        rows.append(
            f"<li>merge {_sha(merge.merged, view)}{at}: theirs {_sha(merge.theirs, view)} "
            f"into ours {_sha(merge.ours, view)}, base {bases or 'none'}</li>"
        )
    return f'<ul class="merges">{"".join(rows)}</ul>' if rows else ""


def _summary(report: Report, view: View) -> str:
    cards: list[tuple[str, int | str, str]] = []
    for severity in Severity:
        count = report.count(severity)
        cards.append((severity.value, count, severity.value if count == 1 else f"{severity.value}s"))
    ran = len(checks_run(report))
    cards += [("plain", ran, "check ran" if ran == 1 else "checks ran"), ("plain", report.files, "files")]
    for merge in report.merges[:1]:
        for side, changes in (("ours", merge.ours_changes), ("theirs", merge.theirs_changes)):
            if changes.total:
                share = 100 * (changes.total - changes.lost) // changes.total
                cards.append(("plain", f"{share} %", f"of {changes.total:,} changes of {side} survive"))
        for line in file_lines(merge):
            name, _, numbers = line.partition(": ")
            cards.append(("plain", numbers, name))
    body = "".join(f'<div class="card {kind}"><b>{number}</b> {_text(label)}</div>' for kind, number, label in cards)
    return f'<div class="cards" title="{_text(totals(report, view))}">{body}</div>'


def _outcomes(report: Report) -> str:
    rows = [
        f'<li class="{outcome.status.value}">{_text(outcome_sentence(outcome))}</li>' for outcome in not_checked(report)
    ]
    rows += [f"<li>{_text(one_line(notice))}</li>" for notice in report.notices]
    if not any(outcome.status is Status.RAN for outcome in report.outcomes):
        rows.insert(0, '<li class="failed">nothing was checked</li>')
    ran = "".join(
        f"<tr><td>{_text(outcome.check)}</td><td>{outcome.seconds:.2f} s</td></tr>"
        for outcome in report.outcomes
        if outcome.status is Status.RAN and not outcome.subject
    )
    timings = f"<details><summary>Checks that ran</summary><table>{ran}</table></details>" if ran else ""
    folded = "".join(rows[8:])
    more = f"<details><summary>{len(rows) - 8} more</summary><ul>{folded}</ul></details>" if folded else ""
    return f'<section class="outcomes"><ul>{"".join(rows[:8])}</ul>{more}{timings}</section>'


def _data(report: Report, view: View, groups: list[Group]) -> str:
    """Findings by group as JSON inside a script element, where `<` may not stand."""
    rules = catalogue(report)
    document = {
        "groups": [_group(found, report, view) for found in groups],
        "trees": {merge.merged: _trees(merge) for merge in report.merges},
        "store": _store_key(report),
        "rules": {code: [rule.name, rule.short] for code, rule in rules.items()},
        "least": view.least.value,
    }
    text = harmless(json.dumps(safe(document), ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _store_key(report: Report) -> str:
    """Under which name the browser keeps what a person decided: the same for a new report of the same syncs."""
    names = [merge.merged for merge in report.merges] or [row.merge.merged for row in report.syncs]
    return f"{report.command} {hashlib.sha256(' '.join(names).encode()).hexdigest()[:16]}"


def _trees(merge: MergeRecord) -> list[str]:
    """Which commits base, ours, theirs and merged are."""
    return [merge.base[0][:10] if merge.base else "", merge.ours[:10], merge.theirs[:10], merge.checked[:10]]


def _group(found: Group, report: Report, view: View) -> dict[str, Any]:
    origin = found.origin
    url = None
    if origin is not None:
        url = view.pull_url(origin.pr) if origin.pr is not None else view.commit_url(origin.commit)
    return {
        "label": clean(found.label),
        "title": subject_of(origin) if origin else "",
        "said": headline(found),
        "url": url,
        "findings": [_finding(finding, report, view) for finding in found.findings],
    }


def _origin(origin: Origin, view: View) -> list[str | None]:
    """Label and subject, who wrote it and when, and where it can be read."""
    url = view.pull_url(origin.pr) if origin.pr is not None else view.commit_url(origin.commit)
    who = ", ".join(filter(None, (one_line(origin.author), clean(origin.date[:10]))))
    return [f"{origin_label(origin)} {subject_of(origin)}", who, url]


def _finding(finding: Finding, report: Report, view: View) -> dict[str, Any]:
    trees = tuple(tree_text(finding.evidence, tree) for tree in ("base", "ours", "theirs", "merged"))
    return {
        "c": finding.code,
        "s": finding.severity.value,
        "k": finding.confidence.value,
        "p": clean(finding.path),
        "l": finding.line,
        "y": clean(finding.symbol),
        "m": one_line(finding.message),
        "f": finding.fingerprint,
        "d": finding.lost_side.value if finding.lost_side else "",
        "v": finding.verdict.value if finding.verdict else "",
        "n": finding.numeric,
        "a": one_line(finding.accepted) if finding.accepted is not None else None,
        "o": [_origin(origin, view) for origin in finding.origins],
        "g": finding.merge,
        "x": list(commands(report, finding).values()),
        "h": clean(finding.patch) if finding.patch else None,
        "e": [clean(text) if text is not None else None for text in trees],
        "r": [clean(f"{place.tree} {place.path}:{place.line} {place.message}") for place in finding.related],
    }


def _sha(sha: str, view: View) -> str:
    url = view.commit_url(sha)
    short = f"<code>{_text(sha[:10])}</code>"
    return f'<a href="{_text(url)}">{short}</a>' if url else short


def _text(text: str) -> str:
    return escape(clean(text))


def _asset(name: str) -> str:
    return (resources.files("guard.report") / "page" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
