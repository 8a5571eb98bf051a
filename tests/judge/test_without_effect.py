"""Changes that merged has and that cannot act there: dead."""

from __future__ import annotations

import pytest

from guard.model import Side, Verdict
from tests.judge.trees import judged, losses

BASE = "def f(x, n, mbs):\n    check(x)\n    total = x.sum()\n    return total / n\n"
FIX = "    n = n * mbs\n"
OURS = BASE.replace("    return", FIX + "    return")


def dead(merged: str, base: str = BASE, ours: str = OURS) -> list[str]:
    theirs = merged.replace(FIX, "")
    found = losses(judged(base, ours, theirs, merged), Side.OURS)
    return [change.reason for change in found if change.verdict is Verdict.DEAD]


@pytest.mark.parametrize(
    "merged",
    [
        OURS.replace(FIX, f"    return fused(total, n)\n{FIX}"),
        OURS.replace(FIX, f"    raise NotImplementedError\n{FIX}"),
        OURS.replace(FIX, f"    if False:\n    {FIX}"),
        OURS.replace(FIX, f"    while 0:\n    {FIX}"),
        OURS.replace(FIX, f"    if True:\n        log(n)\n    else:\n    {FIX}"),
        OURS.replace(FIX, f"{FIX}    n = x.numel()\n"),
        OURS.replace(FIX, f"{FIX}    log('tokens')\n    n = 1\n"),
        OURS.replace(FIX, f"{FIX}    n = n / mbs\n"),
        OURS.replace(FIX, f"{FIX}    n /= mbs\n"),
        OURS.replace("    check(x)", "    if x:\n        return 0\n    return 1\n    check(x)"),
    ],
)  # fmt: skip
def test_a_fix_that_stands_and_cannot_act_is_dead(merged: str) -> None:
    assert len(dead(merged)) == 1


@pytest.mark.parametrize(
    "merged",
    [
        OURS,
        OURS.replace(FIX, f"    if x:\n        return 0\n{FIX}"),
        OURS.replace(FIX, f"    if mbs:\n    {FIX}"),
        OURS.replace(FIX, f"{FIX}    use(n)\n    n = 1\n"),
        OURS.replace(FIX, f"{FIX}    if mbs > 1:\n        n = 1\n"),
        OURS.replace(FIX, f"{FIX}    n = max(n, 1)\n"),
        OURS.replace(FIX, f"{FIX}    use(n)\n    n /= mbs\n"),
        OURS.replace(FIX, f"{FIX}    n /= 2\n"),
        OURS.replace(FIX, f"{FIX}{FIX}"),
        OURS.replace(FIX, f"    for _ in x:\n        if x:\n            continue\n    {FIX}"),
    ],
)  # fmt: skip
def test_a_fix_that_acts_on_some_path_is_not(merged: str) -> None:
    assert dead(merged) == []


def test_a_constant_set_again_below_is_dead() -> None:
    base, ours = "A = 1\nEPS = 1e-5\nB = 2\n", "A = 1\nEPS = 1e-8\nB = 2\n"
    merged = "A = 1\nEPS = 1e-8\nB = 2\nC = 3\nEPS = 1e-5\n"
    theirs = "A = 1\nEPS = 1e-5\nB = 2\nC = 3\nEPS = 1e-5\n"
    found = losses(judged(base, ours, theirs, merged), Side.OURS)
    assert Verdict.DEAD in {change.verdict for change in found}
