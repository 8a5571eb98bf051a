"""`guard explain`: one rule or code, or the whole evidence of one finding."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

import click

from guard.codes import CODES
from guard.commands.linting import rules_for
from guard.commands.output import OutputOptions, output_options
from guard.commands.range_options import RangeOptions, range_options
from guard.commands.say import say
from guard.commands.settings import load_config
from guard.config import load
from guard.errors import GuardError
from guard.lint.pages import rule_page
from guard.store.seen import root_of

_FINGERPRINT = re.compile(r"[0-9a-f]{6,16}")


@click.command("explain")
@click.argument("key", metavar="RULE|FINGERPRINT")
@range_options
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
@output_options
def explain(key: str, chosen: RangeOptions, config_file: str | None, output: OutputOptions) -> int:
    """Explain a rule by code or name with its examples, or show all that is known of one finding.

    For a finding of a sync give the range options of the report it stands in; one that a rule made in a file of the
    work tree is looked for where it was last shown.
    """
    root = root_of(Path.cwd())
    config = load_config(None, config_file) if config_file else load(root)
    known = rules_for(config, root)
    rule = known.find(key)
    if rule is not None:
        say(rule_page(rule), nl=False)
        return 0
    by_name = {name: code for code, (name, _) in CODES.items()}
    code = by_name.get(key, key.upper())
    if code in CODES:
        name, meaning = CODES[code]
        say(f"{code} {name}\n\n{meaning[:1].upper()}{meaning[1:]}.")
        return 0
    if not _FINGERPRINT.fullmatch(key.lower()):
        near = get_close_matches(key.lower(), [rule.name for rule in known] + list(by_name), n=3)
        near = near or get_close_matches(key.upper(), [rule.id for rule in known] + list(CODES), n=3)
        meant = f" (near: {', '.join(near)})" if near else ""
        raise GuardError(f"{key!r} is no rule, code or fingerprint{meant}: `guard rules` lists the rules")
    from guard.commands.explain_finding import explain_finding
    from guard.commands.explain_lint import explain_lint

    if not chosen.given and explain_lint(key, config, root, output):
        return 0
    return explain_finding(key, chosen, config_file, output)
