"""Every case and cut as a test, on the CPU and, marked `gpu`, on CUDA devices."""

from __future__ import annotations

from typing import Any

import pytest

from guard.invariance.case import Case, Cut, Tier
from guard.invariance.family.registry import all_cases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each case, cut and device of the chosen suite."""
    suite = metafunc.config.getoption("--guard-suite")
    chosen = [(case, cut) for case in all_cases() for cut in case.cuts_of(suite)]
    metafunc.parametrize(
        ("case", "cut", "device"),
        [
            pytest.param(
                case,
                cut,
                device,
                id=f"{case.name}-{cut.label().replace(' ', '-')}-{device}",
                marks=[pytest.mark.gpu] if device == "cuda" else [],
            )
            for device in ("cpu", "cuda")
            for case, cut in chosen
        ],
    )


def test_invariance(
    case: Case, cut: Cut, device: str, guard_measured: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """The claim of the case holds at this cut, in the tree under test."""
    if request.config.getoption("--guard-tree") is None:
        pytest.skip("no tree: give --guard-tree DIR")
    records = guard_measured[device]
    record = records.get((case.name, cut.label()), records.get(("", ""), {"status": "failed", "reason": "no record"}))
    reason = record.get("reason")
    if record.get("type") == "fatal" and device == "cuda" and "no CUDA device" in str(reason):
        pytest.skip(str(reason))
    if record.get("status") == "skipped":
        pytest.skip(str(reason))
    if record.get("status") == "differs" and case.tier in {Tier.DEFINITION, Tier.CONTRACT}:
        pytest.skip(f"{case.tier.value}: {case.claim} ({reason})")
    assert record.get("status") == "ok", f"{case.claim}: {reason}"
