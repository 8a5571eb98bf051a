"""Gradient invariances measured on the real code of a tree, in processes of the user's interpreter.

`check` asks the same of a training step of any framework (`guard.invariance.training`). It is imported when first read:
the workers of `guard verify` run in interpreters that have none of its packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guard.invariance.training import Cut, Share, StepReport, check, padded_batch

__all__ = ["Cut", "Share", "StepReport", "check", "padded_batch"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from guard.invariance import training

    return getattr(training, name)
