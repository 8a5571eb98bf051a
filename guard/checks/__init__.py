"""One check a module. `CHECKS` is the registry, in the order of the report; a module is imported when it runs."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from guard.checks.contract import CheckContext, CheckResult
from guard.checks.remembered import keep, key_of, recall
from guard.errors import GuardError, NotAnalysedError, fault
from guard.model import Outcome, Status

CHECKS: dict[str, str] = {
    "lost": "guard.checks.lost:check_lost",
    "textual": "guard.checks.textual:check_textual",
    "broken": "guard.checks.breaks:check_broken",
    "policy": "guard.checks.policy:check_policy",
    "pins": "guard.checks.pins:check_pins",
    "carried": "guard.checks.carried:check_carried",
}

# Checks whose answer depends on nothing but the trees, the commits and the settings: no file of the work tree, no date.
BY_CONTENT = frozenset({"lost", "textual", "broken", "carried"})


@dataclass(frozen=True, slots=True)
class CheckRun:
    """What one check of the registry gave, with the outcome that the report shows for it."""

    name: str
    result: CheckResult
    outcome: Outcome


def run_check(name: str, context: CheckContext) -> CheckRun:
    """Run one check; whatever happens inside becomes its outcome, and never silence.

    Raises:
        GuardError: the user can mend it (configuration, reference): the run as a whole cannot answer.
    """
    started = time.monotonic()
    try:
        result = _answer(name, context)
        outcome = Outcome(name, Status.RAN, None, time.monotonic() - started)
    except GuardError:
        raise
    except NotAnalysedError as refused:
        result, outcome = CheckResult(), Outcome(name, Status.SKIPPED, refused.reason, time.monotonic() - started)
    except Exception as error:  # a fault of ours must be seen as "failed", in every format
        reason = fault(error)
        result, outcome = CheckResult(), Outcome(name, Status.FAILED, reason, time.monotonic() - started)
        if context.debug:
            raise
    return CheckRun(name, result, outcome)


def _answer(name: str, context: CheckContext) -> CheckResult:
    """What the check says, or said before of the very same trees, commits and settings."""
    if name not in BY_CONTENT or (name == "carried" and context.config.ledger is not None):
        return _function(name)(context)
    key = key_of(name, context.trees, context.config)
    known = recall(context.store, key)
    if known is None:
        known = _function(name)(context)
        keep(context.store, key, known)
    return known


def _function(name: str) -> Callable[[CheckContext], CheckResult]:
    module, _, function = CHECKS[name].partition(":")
    return cast("Callable[[CheckContext], CheckResult]", getattr(importlib.import_module(module), function))
