"""`guard config`: the settings in force and where each comes from, or the schema of their table."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from guard.commands.settings import load_config
from guard.config import Config, json_schema, place_of
from guard.errors import GitError
from guard.git import Repository


@click.command("config")
@click.option("--output-format", "-o", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--schema", is_flag=True, help="Print the JSON schema of [tool.guard] and guard.toml.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
def config(form: str, schema: bool, config_file: str | None) -> int:
    """Show each setting that is in force here, and where it comes from: a line of a file, or the default."""
    if schema:
        click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
        return 0
    settings = _settings(config_file)
    rows = [
        {
            "key": field.name.replace("_", "-"),
            "value": _plain(getattr(settings, field.name)),
            "from": _from(settings, field),
        }
        for field in dataclasses.fields(Config)
        if not field.metadata.get("internal")
    ]
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return 0
    for row in rows:
        click.echo(f"{row['key']} = {json.dumps(row['value'], ensure_ascii=False)}  # {row['from']}")
    return 0


def _settings(config_file: str | None) -> Config:
    try:
        with Repository.open() as repository:
            return load_config(repository, config_file)
    except GitError:
        return load_config(None, config_file)


def _from(settings: Config, field: dataclasses.Field[Any]) -> str:
    if settings.source is None:
        return "default"
    if field.name not in settings.given:
        return "default"
    return place_of(settings, field.name, Path.cwd())


def _plain(value: Any) -> Any:
    """A setting as TOML's own kinds of values, all of which JSON can write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | bool | int) else str(value)
