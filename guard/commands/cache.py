"""`guard cache`: where what guard remembers between runs lies, and how to forget it."""

from __future__ import annotations

from pathlib import Path

import click

from guard.errors import GuardError
from guard.report.plain import plural
from guard.store.cache import default_directory

_OURS = ("facts-*.sqlite*", "seen-*.json*")


@click.group("cache")
def cache() -> None:
    """Show or empty the folder in which guard remembers parsed files and the findings it has shown."""


@cache.command("dir")
def directory() -> int:
    """Print the folder: GUARD_CACHE_DIR, else the platform's place for caches."""
    click.echo(str(default_directory()))
    return 0


@cache.command("clean")
def clean() -> int:
    """Delete what guard wrote there, and nothing else. It costs time, and the ranges of findings shown before."""
    folder = default_directory()
    files = _files(folder)
    size = sum(file.stat().st_size for file in files)
    try:
        for file in files:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise GuardError(f"{folder}: {error.strerror or error}") from error
    click.echo(f"deleted {plural(len(files), 'file')} ({size / 1e6:.1f} MB) in {folder}")
    return 0


def _files(folder: Path) -> list[Path]:
    return sorted(file for pattern in _OURS for file in folder.glob(pattern) if file.is_file())
