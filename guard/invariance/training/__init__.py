"""Whether the gradients of a user's own training step depend on how the global batch is cut, in any framework."""

from guard.invariance.case import Cut
from guard.invariance.training.batches import padded_batch
from guard.invariance.training.check import check
from guard.invariance.training.report import StepReport
from guard.invariance.training.share import Share

__all__ = ["Cut", "Share", "StepReport", "check", "padded_batch"]
