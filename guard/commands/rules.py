"""`guard rules`: list the rules, as text, JSON or a Markdown page, or print the schema of rule files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from guard.codes import CODES
from guard.commands.linting import rules_for
from guard.commands.say import say
from guard.config import load
from guard.lint.language import Rule
from guard.lint.pages import codes_document, language_document, rules_document
from guard.lint.schema import json_schema
from guard.store.seen import root_of


@click.command("rules")
@click.option("--output-format", "-o", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--document", is_flag=True, help="Print all rules as one Markdown page.")
@click.option("--codes", is_flag=True, help="Print the other codes as one Markdown page.")
@click.option("--language", is_flag=True, help="Print the rule language as a Markdown page.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of rule files.")
def rules(form: str, document: bool, codes: bool, language: bool, schema: bool) -> int:
    """List the rules of the linter, those of this repository included, and the other codes that guard reports."""
    if schema:
        click.echo(json.dumps(json_schema(Rule), indent=2, ensure_ascii=False))
        return 0
    if codes:
        click.echo(codes_document(), nl=False)
        return 0
    if language:
        click.echo(language_document(), nl=False)
        return 0
    root = root_of(Path.cwd())
    loaded = rules_for(load(root), root)
    if document:
        click.echo(rules_document(loaded), nl=False)
        return 0
    if form == "json":
        rows = [
            {
                "code": rule.id,
                "name": rule.name,
                "severity": rule.severity.value,
                "status": rule.status,
                "summary": rule.summary,
                "origin": list(rule.origin),
                "fixable": rule.fix is not None,
            }
            for rule in loaded
        ]
        rows += [{"code": code, "name": name, "summary": meaning} for code, (name, meaning) in CODES.items()]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    width = max(len(rule.name) for rule in loaded) if loaded.rules else 0
    for rule in loaded:
        state = "" if rule.status == "stable" else f" ({rule.status})"
        say(f"{rule.id} {rule.name:{width}}  {rule.severity.value:7}  {rule.summary}{state}")
    say("\nguard's own codes:")
    for code, (name, meaning) in CODES.items():
        say(f"{code} {name:{width}}  {meaning}")
    return 0
