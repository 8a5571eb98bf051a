"""A rule as text: for `explain`, and as a page of all rules. Everything comes from the rule's own file."""

from __future__ import annotations

import textwrap

from guard.lint.language import Rule
from guard.lint.ruleset import RuleSet

WIDTH = 100


def rule_page(rule: Rule) -> str:
    """One rule as plain text: what it asks, why, where it comes from, bad and good code, how to suppress it."""
    lines = [f"{rule.id} {rule.name} ({rule.severity.value}, {rule.status})", ""]
    lines += [*textwrap.wrap(rule.summary, WIDTH), "", "Why", *_paragraphs(rule.why)]
    if rule.origin:
        lines += ["", "Origin", "  " + ", ".join(f"#{number}" for number in rule.origin)]
    for title, examples in (("Found", rule.bad), ("Not found", rule.good)):
        for example in examples:
            lines += ["", title, textwrap.indent(example.rstrip(), "    ")]
    if rule.fix is not None:
        lines += ["", "Fix", "  guard check --fix makes the edit where the callee and all values are certain."]
    lines += ["", "Suppress", f"  # guard: allow[{rule.name}] the reason, which is required"]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent="  ", subsequent_indent="  ")


def rules_document(rules: RuleSet) -> str:
    """All rules as one Markdown page."""
    rows = ["# Rules", ""]
    rows += ["Written from the files under `rules/` by `guard rules --document`; do not edit.", ""]
    rows += ["| code | name | severity | status | what it asks |", "|---|---|---|---|---|"]
    for rule in rules:
        link = f"[{rule.id}](#{rule.id.lower()}-{rule.name})"
        rows.append(f"| {link} | {rule.name} | {rule.severity.value} | {rule.status} | {rule.summary} |")
    for rule in rules:
        rows += ["", f"## {rule.id} {rule.name}", "", rule.summary, "", " ".join(rule.why.split())]
        if rule.origin:
            rows += ["", "Origin: " + ", ".join(f"#{number}" for number in rule.origin) + "."]
        for title, examples in (("Found:", rule.bad), ("Not found:", rule.good)):
            for example in examples:
                rows += ["", title, "", "```python", example.rstrip(), "```"]
        if rule.fix is not None:
            rows += ["", "Fixable: yes, with `guard check --fix`."]
    return "\n".join(rows) + "\n"
