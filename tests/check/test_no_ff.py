"""Merges of which one side contains the other: git has nothing to join, and the merge can still drop work."""

from __future__ import annotations

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard

BASE = "def f(a):\n    return a / 2\n"
FIXED = BASE.replace("2", "4")


@pytest.fixture
def ahead(workshop: Workshop) -> Workshop:
    """A pull request that is ahead of dev."""
    workshop.commit("base", {"m.py": BASE, "k.py": "K = 1\n"})
    workshop.branch("dev")
    workshop.branch("pr")
    workshop.commit("Fix f (#1)", {"m.py": FIXED})
    workshop.commit("More", {"k.py": "K = 2\n"})
    workshop.switch("dev")
    return workshop


@pytest.mark.parametrize("files", [{"m.py": BASE}, {"m.py": BASE, "k.py": "K = 1\n"}])
def test_what_the_merge_dropped_is_told(ahead: Workshop, guard: Guard, files: dict[str, str]) -> None:
    merge = ahead.merge("pr", dict(files))
    ahead.commit("later", {"n.py": "N = 1\n"})
    for arguments in (("--since", "HEAD~2"), ("--merge", merge)):
        answer = guard.check(*arguments, "--no-cache")
        assert answer.status == 1
        assert {finding["path"] for finding in answer.findings("GRD2")} == set(files)


def test_what_the_merge_took_as_it_is_is_no_sync(ahead: Workshop, guard: Guard) -> None:
    ahead.merge("pr")
    assert guard.check("--since", "HEAD~1", "--no-cache").report["merges"] == []


def test_a_merge_of_what_is_there_already_that_takes_something_out(workshop: Workshop, guard: Guard) -> None:
    """The second parent is an ancestor of the first: nothing is merged, and the commit undoes the first one's work."""
    workshop.commit("base", {"m.py": BASE})
    base = workshop.git("rev-parse", "HEAD")
    ours = workshop.commit("Fix f (#1)", {"m.py": FIXED})
    merge = workshop.git("commit-tree", f"{base}^{{tree}}", "-p", ours, "-p", base, "-m", "Merge main")
    workshop.git("reset", "-q", "--hard", merge)
    answer = guard.check("--since", base, "--no-cache")
    assert {finding["path"] for finding in answer.findings("GRD2")} == {"m.py"}
