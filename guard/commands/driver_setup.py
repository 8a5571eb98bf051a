"""Install the merge driver: a line in .gitattributes, and the command in the settings of this clone."""

from __future__ import annotations

from pathlib import Path

import click

from guard.commands.replace_file import replace_file
from guard.git import Repository
from guard.git.merging import as_user

ATTRIBUTES_FILE = ".gitattributes"
LINES = ("*.py merge=guard", "*.pyi merge=guard")
SETTINGS = (
    ("merge.guard.name", "guard: join both sides by syntax"),
    ("merge.guard.driver", "guard merge-driver --marker-size %L %O %A %B %P"),
)


def install_driver(root: Path, *, dry_run: bool) -> int:
    """Let git call `guard merge-driver` for Python files.

    Where a clone has the attributes and not the settings (they are no part of a repository), git merges as ever.
    """
    file = root / ATTRIBUTES_FILE
    old = file.read_text("utf-8", "surrogateescape") if file.exists() else ""
    there = {" ".join(line.split()) for line in old.splitlines()}
    added = [line for line in LINES if line not in there]
    with Repository.open(root) as repository:
        git = as_user(repository)
        known = {name: git.run("config", "--get", name, accept=(0, 1)).output.decode().strip() for name, _ in SETTINGS}
        wanted = [(name, value) for name, value in SETTINGS if known[name] != value]
        for line in added:
            click.echo(f"--- {ATTRIBUTES_FILE}\n    {line}")
        for name, value in wanted:
            click.echo(f"--- git config {name}\n    {value}")
        if dry_run or not (added or wanted):
            click.echo("nothing was written" if dry_run else "nothing to write: the merge driver is installed")
            return 0
        if added:
            text = old if not old or old.endswith("\n") else old + "\n"
            replace_file(file, (text + "".join(f"{line}\n" for line in added)).encode("utf-8", "surrogateescape"))
        for name, value in wanted:
            git.run("config", "--local", name, value)
    click.echo(f"installed; commit {ATTRIBUTES_FILE}, and run this once in every clone that is to use the driver")
    return 0
