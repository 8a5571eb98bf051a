"""What else speaks of the place that a case points to: a lint rule, or a change that `guard check` calls lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from guard.errors import GuardError
from guard.invariance.tree import Tree
from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet
from guard.lint.source import Source
from guard.model import Finding, Related


def with_lint(findings: Sequence[Finding], tree: Tree, rules: RuleSet) -> tuple[Finding, ...]:
    """The findings with what the lint rules say inside the definitions they point to."""
    if not findings:
        return ()
    paths = sorted({finding.path.removeprefix(tree.prefix) for finding in findings})
    sources = [Source(path, (tree.folder / path).read_bytes()) for path in paths if (tree.folder / path).is_file()]
    linted = lint_sources(sources, rules, project=ProjectIndex.of_directory(tree.folder)).findings
    told = []
    for finding in findings:
        path = finding.path.removeprefix(tree.prefix)
        last = finding.end_line or finding.line
        inside = [each for each in linted if each.path == path and finding.line <= each.line <= last]
        told.append(_with(finding, (Related(finding.path, each.line, _says(each.code, each.name)) for each in inside)))
    return tuple(told)


def with_report(findings: Sequence[Finding], file: Path) -> tuple[Finding, ...]:
    """The findings with those of a JSON report of `guard check` that name the same definition.

    Raises:
        GuardError: the file is no such report.
    """
    try:
        listed: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["findings"]
        return tuple(
            _with(
                finding,
                (
                    Related(each["path"], each["line"], _says(each["code"], each["name"], each["message"]))
                    for each in listed
                    if (each["path"], each["symbol"]) == (finding.path, finding.symbol)
                ),
            )
            for finding in findings
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise GuardError(f"--report {file}: no JSON report of guard check ({error})") from error


def _says(code: str, name: str, message: str = "") -> str:
    return f"{code} {name}: {message}" if message else f"{code} {name} speaks of this place"


def _with(finding: Finding, related: Iterable[Related]) -> Finding:
    return replace(finding, related=(*finding.related, *dict.fromkeys(related)))
