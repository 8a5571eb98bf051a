"""Rule help for reports: what SARIF, HTML and the selectors need to know of the rules of this repository."""

from __future__ import annotations

from pathlib import Path

from guard.model import RuleHelp


def rule_help(root: Path) -> tuple[RuleHelp, ...]:
    """Name, summary and page of every rule that this repository uses, the built-in ones included.

    Raises:
        ConfigError: a rule or the configuration does not load.
    """
    from guard.commands.linting import rules_for
    from guard.config import load
    from guard.lint.pages import rule_page

    return tuple(
        RuleHelp(rule.id, rule.name, rule.summary, rule_page(rule), rule.severity)
        for rule in rules_for(load(root), root)
    )
