"""`guard merge-driver`: what git calls for a file with `merge=guard` in .gitattributes."""

from __future__ import annotations

from pathlib import Path

import click

from guard.commands.output import CLEAN, FOUND
from guard.commands.replace_file import replace_file
from guard.commands.say import complain
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.git.patch import store_blob
from guard.merging.conflicted import conflicted_files
from guard.merging.hunks import MARKER_SIZE, Hunk, Labels, marked
from guard.merging.resolving import resolve_file


@click.command("merge-driver")
@click.argument("base", type=click.Path(path_type=Path), metavar="%O")
@click.argument("ours", type=click.Path(path_type=Path), metavar="%A")
@click.argument("theirs", type=click.Path(path_type=Path), metavar="%B")
@click.argument("path", metavar="%P")
@click.option("--marker-size", type=click.IntRange(min=1), default=MARKER_SIZE, metavar="%L", help="As git gives it.")
def merge_driver(base: Path, ours: Path, theirs: Path, path: str, marker_size: int) -> int:
    """Join base %O, ours %A and theirs %B of the file %P; the result is written to %A.

    Exit 0 where no conflict is left, 1 where markers stand in the file. A driver sees one file: that the result parses
    and holds what both sides put in is proven here, and what other files make of it by `guard check` afterwards.
    """
    with Repository.open() as repository:
        try:
            data = [file.read_bytes() for file in (base, ours, theirs)]
        except OSError as error:
            raise GuardError(f"cannot read {error.filename}: {error.strerror}") from error
        stages = {n: Entry("100644", store_blob(repository, content)) for n, content in enumerate(data, 1)}
        (found,) = conflicted_files(repository, {path: stages}, None)
    if found.source is None:
        complain(f"{path}: {found.reason}; ours is kept, and the conflict is left to you")
        return FOUND
    resolution = resolve_file(path, found.segments, {})
    labels = Labels()
    text = "".join(
        marked(part, labels, marker_size) if isinstance(part, Hunk) else "".join(part) for part in resolution.segments
    )
    replace_file(ours, found.source.encode(text))
    for outcome in resolution.open:
        complain(f"{path}: a conflict is left to you: {outcome.reason}")
    return FOUND if resolution.open else CLEAN
