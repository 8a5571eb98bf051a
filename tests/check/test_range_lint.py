"""Whom the linter blames in a range: the merge only for what neither side has, or for a fix that did not arrive."""

from __future__ import annotations

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

PLAIN = "X = 1\n"
WRONG = PLAIN + (
    "import torch\n\n\ndef count_elements(grads):\n    num_elements = torch.zeros(1)\n    for grad in grads:\n"
    "        num_elements += grad.numel()\n    return num_elements\n"
)
OTHER = {"k.py": "K = 1\n"}
THEIRS_OTHER = {"k.py": "K = 2\n"}


def lint(guard: Guard, *arguments: str) -> list[str]:
    return sorted(finding["path"] for finding in guard.check(*arguments, "--no-cache").findings("GRD1"))


CASES = {
    "ours brought it, theirs is older": (PLAIN, WRONG, PLAIN, WRONG, False),
    "theirs brought it": (PLAIN, PLAIN, WRONG, WRONG, False),
    "all have had it": (WRONG, WRONG, WRONG, WRONG, False),
    "the merge brought it": (PLAIN, PLAIN, PLAIN, WRONG, True),
    "theirs fixed it, and the merge took ours": (WRONG, WRONG + "Y = 1\n", PLAIN, WRONG + "Y = 1\n", True),
    "ours fixed it, and the merge took theirs": (WRONG, PLAIN, WRONG + "Y = 1\n", WRONG + "Y = 1\n", True),
    "one side fixed it and so did the merge": (WRONG, PLAIN, WRONG, PLAIN, False),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_merge_is_blamed_for(workshop: Workshop, guard: Guard, name: str) -> None:
    base, ours, theirs, merged, told = CASES[name]
    make_sync(
        workshop,
        OTHER | {"pkg/loss.py": base},
        OTHER | {"pkg/loss.py": ours},
        THEIRS_OTHER | {"pkg/loss.py": theirs},
        THEIRS_OTHER | {"pkg/loss.py": merged},
    )
    assert lint(guard, "--merge", "HEAD") == ["pkg/loss.py"] * told


@pytest.mark.parametrize("name", CASES)
def test_the_same_in_a_range(workshop: Workshop, guard: Guard, name: str) -> None:
    """From the base on, what ours brought counts as well; what theirs brought was theirs to lint."""
    base, ours, theirs, merged, told = CASES[name]
    make_sync(
        workshop,
        OTHER | {"pkg/loss.py": base},
        OTHER | {"pkg/loss.py": ours},
        THEIRS_OTHER | {"pkg/loss.py": theirs},
        THEIRS_OTHER | {"pkg/loss.py": merged},
    )
    start = workshop.git("merge-base", "HEAD^1", "HEAD^2")
    assert lint(guard, "--since", start) == ["pkg/loss.py"] * (told or name.startswith("ours brought"))


def test_what_a_commit_after_the_merge_brought(workshop: Workshop, guard: Guard) -> None:
    files = OTHER | {"pkg/loss.py": PLAIN}
    make_sync(
        workshop, files, files | {"o.py": "O = 1\n"}, files | THEIRS_OTHER, files | THEIRS_OTHER | {"o.py": "O = 1\n"}
    )
    workshop.commit("after", {"pkg/loss.py": WRONG})
    assert lint(guard, "--since", "HEAD~2") == ["pkg/loss.py"]


def test_an_automatic_merge_costs_no_lint_of_what_a_parent_has(workshop: Workshop, guard: Guard) -> None:
    ours = {f"o{n}.py": "X = 2\n" for n in range(5)}
    make_sync(workshop, OTHER | dict.fromkeys(ours, PLAIN), OTHER | ours, dict.fromkeys(ours, PLAIN) | THEIRS_OTHER,
              ours | THEIRS_OTHER)  # fmt: skip
    report = guard.check("--merge", "HEAD", "--no-cache").report
    (lint,) = [outcome for outcome in report["outcomes"] if outcome["check"] == "lint"]
    assert lint["status"] == "skipped"
