"""What CI runs, session by session: `nox -s lint types tests`; `nox -s bench -- CLONE LABELS` needs a clone."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "types", "tests"]
PYTHONS = ["3.11", "3.12", "3.13"]


@nox.session
def lint(session: nox.Session) -> None:
    """Style and format."""
    session.install("ruff>=0.9")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Types."""
    session.install("-e", ".[test]")
    session.run("mypy")


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The test suite."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "-n", "auto", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Planted reverts on a clone: nothing is labelled, so it runs on any repository."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.bench.planted_reverts", *session.posargs)
