"""A rule as text: for `explain`, and as a page of all rules. Everything comes from the rule's own file."""

from __future__ import annotations

import dataclasses
import textwrap

from guard.codes import CODES
from guard.lint import language
from guard.lint.language import Rule
from guard.lint.ruleset import RuleSet
from guard.lint.schema import yaml_key

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
        if rule.fix.keeps:
            lines += textwrap.wrap(f"It keeps {rule.fix.keeps}.", WIDTH, initial_indent="  ", subsequent_indent="  ")
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
            keeps = f" The edit keeps {rule.fix.keeps}." if rule.fix.keeps else ""
            rows += ["", f"Fixable: yes, with `guard check --fix`.{keeps}"]
    return "\n".join(rows) + "\n"


_PARTS: tuple[tuple[str, type], ...] = (
    ("A rule", Rule),
    ("A clause of `match`", language.Clause),
    ("A place (`in`)", language.Place),
    ("A condition of `where` and `require`: exactly one key", language.Condition),
    ("`value`", language.ValueTest),
    ("`under`", language.Under),
    ("`has`", language.Has),
    ("`named`", language.Named),
    ("`then` and `reaches`", language.Then),
    ("`defined`", language.Defined),
    ("`unreferenced`", language.Unreferenced),
    ("`fix`", language.Fix),
    ("`fix.argument`", language.ArgumentFix),
)
_EXAMPLE = """```yaml
id: GRD510
name: my-count-carries-the-batch
severity: error
status: stable
summary: The count passed to scale_loss carries the batch size.
why: The count is per sequence; the loss is per micro-batch.
origin: [1234]
message: "$COUNT lacks the batch size"
match:
  - call: my_package.losses.scale_loss   # or Class.method, or a last name
    where:
      - value: {argument: [tokens, count], bind: COUNT}   # the first that is passed
    require:
      - value: {of: COUNT, factor: [batch_size, bsz]}     # in any order, through locals, torch.mul, .mul_
bad: ["from my_package.losses import scale_loss\\n\\ndef f(n, bsz):\\n    scale_loss(count=n)\\n"]
good: ["from my_package.losses import scale_loss\\n\\ndef f(n, bsz):\\n    scale_loss(count=bsz * n)\\n"]
```"""


def codes_document() -> str:
    """The codes that are no rules as one Markdown page, with an anchor for each."""
    rows = [
        "# Codes",
        "",
        "Written by `guard rules --codes`; do not edit. The rules of the linter: [rules.md](rules.md).",
    ]
    for code, (name, meaning) in CODES.items():
        rows += ["", f"## {code} {name}", "", f"{meaning[:1].upper()}{meaning[1:]}."]
    return "\n".join(rows) + "\n"


def language_document() -> str:
    """The rule language as one Markdown page, from the sentences that stand with its fields."""
    rows = ["# The rule language", "", "Written by `guard rules --language`; do not edit.", ""]
    rows += ["One YAML file is one rule. Put a repository's own into `rules/pins/`. Examples run as tests.", ""]
    rows += [textwrap.dedent(language.__doc__ or "").split("\n\n", 1)[1].strip(), "", _EXAMPLE]
    for title, kind in _PARTS:
        rows += ["", f"## {title}", "", "| key | meaning |", "|---|---|"]
        for field in dataclasses.fields(kind):
            needed = " (required)" if field.default is dataclasses.MISSING else ""
            meaning = field.metadata["doc"].replace("|", "\\|")
            rows.append(f"| `{yaml_key(field.name)}` | {meaning}{needed} |")
    return "\n".join(rows) + "\n"
