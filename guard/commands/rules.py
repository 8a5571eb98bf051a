"""`guard rules`: list the rules, as text, JSON or a page; print the schema of rule files; try their examples."""

from __future__ import annotations

import json
from pathlib import Path

import click

from guard.codes import CODES
from guard.commands.linting import own_rules, rules_for
from guard.commands.say import say
from guard.config import load
from guard.lint.examples import ExampleFailure, example_failures
from guard.lint.language import Rule
from guard.lint.pages import codes_document, language_document, rules_document
from guard.lint.ruleset import load_rules
from guard.lint.schema import json_schema
from guard.report.plain import one_line
from guard.store.seen import root_of


@click.group("rules", invoke_without_command=True)
@click.option("--output-format", "-o", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--document", is_flag=True, help="Print all rules as one Markdown page.")
@click.option("--codes", is_flag=True, help="Print the other codes as one Markdown page.")
@click.option("--language", is_flag=True, help="Print the rule language as a Markdown page.")
@click.option("--schema", is_flag=True, help="Print the JSON schema of rule files.")
@click.pass_context
def rules(context: click.Context, form: str, document: bool, codes: bool, language: bool, schema: bool) -> int:
    """List the rules of the linter, those of this repository included, and the other codes that guard reports."""
    if context.invoked_subcommand is not None:
        return 0
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


@rules.command("test")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
def test(paths: tuple[Path, ...]) -> int:
    """Try the examples of rules: each bad one must be found, each good one must not.

    PATH is a rule file or a folder of them; without it the rules of this repository are tried, or, if it has none, the
    built-in ones.
    """
    root = root_of(Path.cwd())
    chosen = list(paths) or own_rules(load(root), root)
    loaded = load_rules(chosen, builtin=not chosen)
    if chosen:
        load_rules(chosen)  # a code or name that a built-in rule has is an error too
    failures: dict[str, list[ExampleFailure]] = {}
    for failure in example_failures(loaded):
        failures.setdefault(failure.rule.id, []).append(failure)
    for rule in loaded:
        place = one_line(_shown(loaded.file_of(rule)))
        for failure in failures.get(rule.id, ()):
            say(f"{place}: {rule.id} {rule.name}: {failure.key}: {one_line(failure.problem)}")
        if rule.id not in failures:
            untried = "" if rule.bad else "; without a bad example nothing shows that it finds anything"
            say(f"{place}: {rule.id} {rule.name}: {len(rule.bad)} bad, {len(rule.good)} good{untried}")
    wrong = sum(len(of_rule) for of_rule in failures.values())
    tried = sum(len(rule.bad) + len(rule.good) for rule in loaded)
    say(f"\n{len(loaded.rules)} rules, {tried} examples, {wrong} do not hold")
    return 1 if wrong else 0 if tried else 3


def _shown(place: str) -> str:
    path = Path(place)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else place
