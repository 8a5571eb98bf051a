"""The options that name a range of syncs; `check`, `explain` and `restore` share them. Parsing them needs no git."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from guard.errors import GuardError


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """What the user asked for, as typed."""

    since: str | None = None
    merge: str | None = None
    ours: str | None = None
    theirs: str | None = None
    base: str | None = None
    merged: str | None = None

    @property
    def given(self) -> bool:
        """Whether any range was named."""
        return any(value is not None for value in self._values().values())

    def refuse_empty(self) -> None:
        """An empty revision is an unset variable of a script; to take it as "not given" would judge something else.

        Raises:
            GuardError: a revision is empty.
        """
        for name, value in self._values().items():
            if value == "":
                raise GuardError(f"--{name} is empty: it needs a revision")

    @classmethod
    def of_words(cls, words: Sequence[str]) -> RangeOptions:
        """The options that these words give: the inverse of `words`."""
        return cls(**{name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)})

    def words(self) -> tuple[str, ...]:
        """The options as typed, for a command that asks for the same range."""
        return tuple(word for name, value in self._values().items() if value for word in (f"--{name}", value))

    def _values(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def range_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the range options to a click command; it receives them as one `RangeOptions` named `chosen`."""

    @functools.wraps(command)
    def with_range(*arguments: Any, **options: Any) -> Any:
        names = RangeOptions.__dataclass_fields__
        chosen = RangeOptions(**{name: options.pop(name) for name in names})
        return command(*arguments, chosen=chosen, **options)

    for option in (
        click.option("--merged", metavar="REV", help="The result, with --ours and --theirs (default: HEAD)."),
        click.option("--base", metavar="REV", help="Overrides the merge base."),
        click.option("--theirs", metavar="REV", help="What was merged in (main)."),
        click.option("--ours", metavar="REV", help="The branch that receives (dev)."),
        click.option("--merge", metavar="REV", help="Judge this merge by its own tree."),
        click.option(
            "--since",
            metavar="REV|merge-base|A...B",
            help="Judge every sync since REV by the tip, so that what a later commit repaired counts as repaired.",
        ),
    ):
        with_range = option(with_range)
    return with_range
