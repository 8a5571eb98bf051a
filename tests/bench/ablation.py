#!/usr/bin/env python3
"""Which tests need each heuristic of the judge: switch one off at a time, and see that a test turns red.

usage: ablation.py [--only NAME ...] [TESTS ...]

Prints a line for each heuristic: the first test that fails without it, or that none does. Exit 1 if one is needed by
no test: then it has no case, and is to get one or to go.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from guard.judge.heuristics import HEURISTICS
from guard.judge.registry import Heuristic, switch_off

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "GUARD_ABLATION"
TESTS = ("test_matches.py", "test_fitting.py", "test_verdicts.py", "test_place_and_order.py", "test_heuristics.py")


def pytest_configure() -> None:
    """As a pytest plugin (`-p tests.bench.ablation`): switch off what the environment names."""
    switch_off(*os.environ.get(VARIABLE, "").split())


def first_red(heuristic: Heuristic, tests: list[str]) -> str:
    """The first test that fails without a heuristic; empty where none does."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "tests.bench.ablation"]
    run = subprocess.run(
        [*command, *tests],
        cwd=ROOT,
        env={**os.environ, VARIABLE: heuristic.name},
        capture_output=True,
        text=True,
        check=False,
    )
    red = (line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
    return next((line.partition(" - ")[0].split(" ", 1)[1][:100] for line in red), "")


def main() -> int:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=[str(ROOT / "tests" / "judge" / name) for name in TESTS])
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    needless = 0
    for heuristic in HEURISTICS:
        if options.only and heuristic.name not in options.only:
            continue
        red = first_red(heuristic, options.tests)
        needless += not red
        print(f"{heuristic.name:24} {red or 'NO TEST NEEDS IT'}", flush=True)
    return 1 if needless else 0


if __name__ == "__main__":
    sys.exit(main())
