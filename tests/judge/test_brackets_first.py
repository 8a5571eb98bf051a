"""Statements that begin with a bracket are judged as any other: no check ends without an answer over them."""

from __future__ import annotations

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = "def f(x):\n    first = x\n    return first\n"


@pytest.mark.parametrize(
    "statement", ["(a, b) = pair(x)", "(log or print)(x)", "(a) = x", "(yield)", "[a, b] = pair(x)", "(x.y).z(x)"]
)
def test_every_check_ends(workshop: Workshop, guard: Guard, statement: str) -> None:
    ours = BASE.replace("    return", f"    {statement}\n    return")
    theirs = BASE.replace("first = x", f"first = x + 1\n    {statement}")
    merged = theirs.replace("    return", f"    {statement}\n    return")
    merge = make_sync(workshop, {"m.py": BASE}, {"m.py": ours}, {"m.py": theirs}, {"m.py": merged})
    report = guard.check("--merge", merge, folder=workshop.folder).report
    assert [outcome for outcome in report["outcomes"] if outcome["status"] == "failed"] == []
