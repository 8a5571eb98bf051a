"""A whole small model (two layers, experts, MTP): every parameter under every cut."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place, Tier
from guard.invariance.family.language import SCHEDULE
from guard.invariance.family.mtp import PLACES as MTP
from guard.invariance.family.router import SEQ

CODE = "GRD609"
EXPERTS = (Place("megatron/core/transformer/moe/experts.py", "SequentialMLP"),)
OPTIONS: dict[str, Any] = {"length": 32, "ptl": True, "mask": "none", "layers": 2, "experts": 4}
WHOLE = Cut(mbs=4)


def _case(name: str, claim: str, cuts: tuple[Cut, ...], options: dict[str, Any], **more: Any) -> Case:
    return Case(name, "model", claim, "gpt", {**OPTIONS, **options}, cuts, code=CODE, **more)


def cases() -> list[Case]:
    """Every case of this family."""
    sharded = (
        Cut(dp=2, mbs=2),
        Cut(cp=2, mbs=4),
        Cut(tp=2, mbs=4),
        Cut(dp=2, ep=2, mbs=2),
        Cut(cp=2, tp=2, mbs=4),
        Cut(dp=2, cp=2, ep=2, mbs=2),
        Cut(dp=4, ep=4, mbs=1),
    )
    return [
        _case(
            "model_lm",
            "every gradient of the model with experts (no auxiliary loss) does not depend on the cut",
            (Cut(mbs=1), *sharded),
            {},
            reference=WHOLE,
            places=SCHEDULE,
            essential=True,
            essential_cuts=(Cut(dp=2, cp=2, ep=2, mbs=2), Cut(tp=2, mbs=4)),
            wide_cuts=(Cut(dp=2, cp=2, tp=2, mbs=2), Cut(dp=4, tp=2, ep=4, mbs=1)),
        ),
        _case(
            "model_seq_aux",
            "every gradient of the model with seq_aux_loss does not depend on the micro-batch size",
            (Cut(mbs=1), Cut(dp=2, mbs=1)),
            {"router_loss": "seq_aux_loss"},
            reference=WHOLE,
            places=SEQ,
        ),
        _case(
            "model_seq_aux_shards",
            "every gradient of the model with seq_aux_loss and z-loss does not depend on context or tensor parallelism",
            (Cut(cp=2, mbs=4), Cut(tp=2, mbs=4), Cut(cp=2, tp=2, mbs=4)),
            {"router_loss": "seq_aux_loss", "z_loss": 1e-2},
            tier=Tier.FIXED,
            places=SEQ,
        ),
        _case(
            "model_mtp",
            "every gradient of the model with MTP does not depend on micro-batches, data or tensor parallelism",
            (Cut(mbs=1), Cut(dp=2, mbs=2), Cut(tp=2, mbs=4), Cut(dp=2, ep=2, mbs=2)),
            {"mtp": 1},
            reference=WHOLE,
            places=MTP,
        ),
        _case(
            "model_mtp_cp",
            "every gradient of the model with MTP does not depend on context parallelism",
            (Cut(cp=2, mbs=4), Cut(dp=2, cp=2, mbs=2)),
            {"mtp": 1},
            reference=WHOLE,
            places=MTP,
        ),
        _case(
            "model_etp",
            "every gradient of the model does not depend on ETP where it differs from TP",
            (Cut(tp=2, etp=1, mbs=4),),
            {},
            reference=WHOLE,
            places=EXPERTS,
        ),
    ]
