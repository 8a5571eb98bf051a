"""Lines for a person, apart from the report."""

from __future__ import annotations

import sys

import click

from guard.report.plain import clean


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text; whatever in it came from a repository cannot act on the terminal or in a log.

    Arguments:
        err: to standard error.
        nl: with a line end behind it.
    """
    click.echo(clean(text), err=err, nl=nl)


def write_as_it_is(data: bytes) -> None:
    """Write what another program is to read (a patch, a rule): byte for byte, and safe text on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        say(data.decode("utf-8", "surrogateescape"), nl=False)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def complain(text: str) -> None:
    """Print `guard: ` and a sentence to standard error."""
    print(clean(f"guard: {text}"), file=sys.stderr)
