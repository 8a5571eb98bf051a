"""The whole evidence of a finding that a rule made in a file of the work tree."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from guard import __version__
from guard.commands.linting import lint_paths, rules_for
from guard.commands.output import OutputOptions, emit
from guard.commands.say import say
from guard.config import Config
from guard.documents.decoding import decode
from guard.lint.pages import rule_page
from guard.model import Finding, Report
from guard.report.plain import clean, one_line
from guard.store.facts import NullStore
from guard.store.seen import recall

_EVERYTHING = 2


def explain_lint(key: str, config: Config, root: Path, output: OutputOptions) -> bool:
    """Lint the file in which the finding was last shown, and print the finding and its rule.

    Args:
        key: the fingerprint, or its first digits.
        root: what shown paths are relative to.

    Returns:
        whether a rule still finds it there.
    """
    places = {seen.path for seen in recall(root) if seen.merge is None and seen.fingerprint.startswith(key.lower())}
    paths = [str(root / path) for path in sorted(places) if (root / path).is_file()]
    if not paths:
        return False
    result = lint_paths(paths, config, root, 1, NullStore())
    found = tuple(finding for finding in result.findings if finding.fingerprint.startswith(key.lower()))
    if not found:
        return False
    if output.formats:
        report = Report(command="explain", version=__version__, findings=found, files=len(paths))
        emit(report, output.formats, dataclasses.replace(output, verbose=_EVERYTHING).view())
        return True
    for finding in found:
        say(_text(finding, root))
    rule = rules_for(config, root).find(found[0].code)
    if rule is not None:
        say(f"\n{rule_page(rule)}", nl=False)
    return True


def _text(finding: Finding, root: Path) -> str:
    """The finding in full, with the lines that it stands on."""
    lines = decode((root / finding.path).read_bytes()).text.split("\n")
    first, last = finding.line, max(finding.line, finding.end_line or finding.line)
    shown = [f"{number:6} | {lines[number - 1]}" for number in range(max(1, first - 2), min(len(lines), last + 2) + 1)]
    head = f"{finding.severity.value} {finding.code} {one_line(finding.path)}:{finding.line} {finding.symbol}"
    return "\n".join([head, f"  {one_line(finding.message)}", "", *map(clean, shown)])
