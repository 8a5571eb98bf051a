"""Shell completion, asked as bash asks: through the environment of the program."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from guard.cli import VERBS
from guard.report import FORMATS


def complete(words: str, position: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'guard'; from guard.cli import main; main()"],
        env={**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(position), "_GUARD_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "position", "expected"),
    [
        ("guard ", 1, list(VERBS)),
        ("guard check -o ", 3, list(FORMATS)),
        ("guard check --select lost-", 3, ["lost-change", "lost-file", "lost-test", "lost-text"]),
    ],
)
def test_bash_completes_verbs_formats_and_codes(words: str, position: int, expected: list[str]) -> None:
    assert complete(words, position) == expected
