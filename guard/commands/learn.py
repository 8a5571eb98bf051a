"""`guard learn`: write a pin from a fix commit."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from guard.checks.pinning.making import RULE, Pin, make_pins
from guard.checks.pins import CONTENT, DIRECTORY
from guard.commands.say import say, write_as_it_is
from guard.errors import GuardError
from guard.git import Repository
from guard.provenance.landings import named, read_landings


@click.command("learn")
@click.argument("commit", metavar="COMMIT")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    help=f"Folder to write to. Default: {DIRECTORY}; a bare repository prints.",
)
@click.option("--print", "only_print", is_flag=True, help="Print the pin and write nothing.")
@click.option("--force", is_flag=True, help="Replace a pin that is there.")
def learn(commit: str, folder: Path | None, only_print: bool, force: bool) -> int:
    """Write a pin from a fix: COMMIT is a commit, or a pull request as `#5798`.

    The pin states the post-fix form at its place. It was tried before it is written: the pre-fix form is found, the
    fix's own tree is clean. What no rule can state is pinned by content.
    """
    with Repository.open() as repository:
        # The cut-off commit of a shallow clone looks like a root, and all of its content like the fix.
        repository.require_history()
        tips = [repository.resolve("HEAD")] if repository.exists("HEAD") else []
        landings = read_landings(repository, tips) if commit.startswith("#") and tips else None
        chosen = named(repository, landings, commit)[0] if landings else repository.commit(repository.resolve(commit))
        pins = make_pins(repository, chosen)
        root = repository.work_tree
    for pin in pins:
        if only_print or (folder is None and root is None):
            # A bare repository has no place of its own for a pin.
            write_as_it_is(pin.text.encode("utf-8", "surrogateescape"))
            continue
        file = _place(pin, folder, root)
        if file.exists() and not force:
            raise GuardError(f"{file} is there already; --force replaces it")
        _write(file, pin.text)
        say(f"wrote {file}")
    for pin in pins:
        told = ", ".join(f"{symbol} in {path}" for path, symbol in pin.places)
        how = f"states: {', '.join(pin.shapes)}" if pin.kind == RULE else f"pinned by content: {', '.join(pin.shapes)}"
        say(f"{how} ({told})", err=True)
    return 0


def _place(pin: Pin, folder: Path | None, root: Path | None) -> Path:
    chosen = folder if folder is not None else Path(root or ".", DIRECTORY)
    return (chosen if pin.kind == RULE else chosen / CONTENT) / f"{pin.name}.yaml"


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=".pin-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(partial).chmod(0o644)
        Path(partial).replace(file)
    except OSError as error:
        raise GuardError(f"cannot write the pin to {file}: {error.strerror or error}") from error
