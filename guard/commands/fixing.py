"""`guard check --fix` and `--diff`: the safe edits of the rules, on files of the work tree."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from guard.commands.linting import files_of, rules_for
from guard.commands.replace_file import replace_file
from guard.commands.say import say, write_as_it_is
from guard.config import Config
from guard.documents.decoding import decode
from guard.errors import NotAnalysedError
from guard.lint.fixes import FixResult, fix_source
from guard.lint.notebooks import SUFFIX
from guard.lint.prefilter import Prefilter
from guard.lint.project import ProjectIndex
from guard.lint.source import Source


@dataclass(frozen=True, slots=True)
class Fixed:
    """One file that has a safe fix.

    Attributes:
        place: where it stands.
        before, after: its bytes.
        result: what was edited, and what was refused and why.
    """

    place: Path
    before: bytes
    after: bytes
    result: FixResult

    def diff(self) -> str:
        """A unified diff for `git apply`."""
        old, new = (decode(data).text.splitlines(keepends=True) for data in (self.before, self.after))
        path = self.result.path
        return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))


def fixes_of(
    paths: Sequence[str], config: Config, root: Path, select: Sequence[str], ignore: Sequence[str]
) -> Iterator[Fixed | str]:
    """The files below `paths` that a rule can mend, and one line for each place where it must not.

    Raises:
        GuardError: a path does not exist.
        ConfigError: a rule does not load.
    """
    rules = rules_for(config, root).only(select, ignore)
    prefilter = Prefilter(rules)
    project = ProjectIndex.of_directory(root)
    for place, shown in files_of(paths, config, root):
        if shown.endswith(SUFFIX):
            yield f"{shown}: not fixed: it is a notebook"
            continue
        if place.is_symlink():
            yield f"{shown}: not fixed: it is a symbolic link"
            continue
        try:
            before = place.read_bytes()
            if not prefilter.rules(before):
                continue
            result = fix_source(Source(shown, before), rules, project)
        except OSError as error:
            yield f"{shown}: not fixed: {error.strerror}"
            continue
        except NotAnalysedError as refused:
            yield f"{shown}: not fixed: {refused.reason}"
            continue
        for name, line, reason in result.refused:
            yield f"{shown}:{line}: {name} not fixed: {reason}"
        if result.data is not None:
            yield Fixed(place, before, result.data, result)


def fix_paths(
    paths: Sequence[str], config: Config, root: Path, select: Sequence[str], ignore: Sequence[str], write: bool
) -> int:
    """Mend the files, or print the patch that would; what must not be mended is told on standard error.

    Returns:
        How many files are mended, or would be.

    Raises:
        GuardError: a path does not exist, or a file cannot be written.
    """
    count = 0
    for fixed in fixes_of(paths, config, root, select, ignore):
        if isinstance(fixed, str):
            say(fixed, err=True)
            continue
        count += 1
        if write:
            replace_file(fixed.place, fixed.after)
            say(f"fixed {fixed.result.path}: {', '.join(name for name, _ in fixed.result.fixed)}", err=True)
        else:
            write_as_it_is(fixed.diff().encode("utf-8", "surrogateescape"))
    return count
