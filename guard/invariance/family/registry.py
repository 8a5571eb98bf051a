"""The families in the order in which they run and are shown."""

from __future__ import annotations

from guard.invariance.case import Case
from guard.invariance.family import (
    entropy,
    language,
    layers,
    model,
    mtp,
    optimizer,
    options,
    parameters,
    pipeline,
    router,
    router_parallel,
    routing,
)

FAMILIES = (
    router,
    router_parallel,
    language,
    mtp,
    entropy,
    parameters,
    model,
    options,
    pipeline,
    optimizer,
    routing,
    layers,
)


def all_cases() -> list[Case]:
    """Every case of every family."""
    return [case for family in FAMILIES for case in family.cases()]
