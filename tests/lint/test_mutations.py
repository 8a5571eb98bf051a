"""Mutated files end as findings or as a reason, never as a crash (tests/bench/lint_mutations.py: two thousand)."""

from __future__ import annotations

import random

from guard.lint.engine import FileLinter
from guard.lint.source import Source
from guard.model import Status
from tests.bench.lint_mutations import mutate
from tests.lint.programs import BUILTIN, ROOT


def test_mutated_fixtures_are_analysed_or_say_why_not() -> None:
    chance = random.Random(7)
    linter = FileLinter(BUILTIN, None, 10.0)
    files = sorted((ROOT / "fixtures" / "lint").glob("*.py"))
    analysed = 0
    for _ in range(150):
        path = chance.choice(files)
        result = linter.lint(Source(path.name, mutate(path.read_bytes(), chance)))
        analysed += result.outcome is None
        assert result.outcome is None or result.outcome.status is Status.SKIPPED, result.outcome
    assert analysed > 15
