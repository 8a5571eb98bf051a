"""The language-model loss: the user's callback, the schedule's division, DDP's average."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place, Tier

CODE = "GRD603"
SCHEDULE = (Place("megatron/core/pipeline_parallel/schedules.py", "forward_step_calc_loss"),)
FINALIZE = (
    Place("megatron/core/distributed/finalize_model_grads.py", "finalize_model_grads"),
    *SCHEDULE,
)
LENGTH = 32
DP2, CP2, CP4 = Cut(dp=2, mbs=1), Cut(cp=2, mbs=1), Cut(cp=4, mbs=1)


def _case(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> Case:
    options = {"length": LENGTH, "ptl": True, "mask": "none"}
    options |= {key: more.pop(key) for key in ("ptl", "mask", "callback", "reduced", "draw") if key in more}
    return Case(name, "language", claim, "gpt", options, cuts, places=places, code=CODE, **more)


def cases() -> list[Case]:
    """Every case of this family."""
    every = (Cut(mbs=1), DP2, Cut(dp=4, mbs=1), CP2, CP4, Cut(dp=2, cp=2, mbs=1))
    found = [
        _case(
            f"lm_per_token{suffix}",
            f"the per-token language-model loss does not depend on the cut ({mask} mask)",
            every,
            FINALIZE,
            mask=mask,
            reference=Cut(mbs=4),
            essential=mask == "tail",
            essential_cuts=(Cut(mbs=1), DP2, CP2),
            wide_cuts=(Cut(dp=2, cp=4, mbs=1),),
        )
        for mask, suffix in (("none", ""), ("tail", "_tail"), ("sft", "_sft"), ("one", "_one"))
    ]
    found += [
        _case(
            f"lm_mean_cp_{kind}",
            f"the mean language-model loss with counts does not depend on context parallelism ({kind} mask)",
            (CP2, CP4),
            SCHEDULE,
            mask=mask,
            ptl=False,
            tier=Tier.FIXED,
            draw=draw,
            essential=kind == "one",
            essential_cuts=(CP2,),
        )
        for kind, mask, draw in (("sft", "last 5 18 10 13", 3), ("tail", "tail", 8), ("one", "one", 0))
    ]
    found += [
        _case(
            "lm_mean_data_parallel",
            "the mean language-model loss does not depend on data parallelism at fixed micro-batches",
            (DP2, Cut(dp=4, mbs=1), Cut(dp=2, mbs=2)),
            SCHEDULE,
            mask="tail",
            ptl=False,
            tier=Tier.FIXED,
        ),
        _case(
            "lm_mean_empty_micro_batch",
            "a micro-batch without a valid token adds nothing to the mean language-model loss",
            (DP2, Cut(dp=4, mbs=1)),
            SCHEDULE,
            mask=(32, 0, 16, 8),
            ptl=False,
            tier=Tier.FIXED,
            essential=True,
            essential_cuts=(DP2,),
        ),
        _case(
            "lm_two_tuple_local_mean",
            "contract: a callback of two values must average over context-parallel ranks itself",
            (CP2, CP4),
            SCHEDULE,
            ptl=False,
            callback=2,
            oracle={"callback": 3},
            tier=Tier.CONTRACT,
        ),
        _case(
            "lm_two_tuple_reduced_mean",
            "a callback of two values whose count is summed over context-parallel ranks gives the same gradient",
            (CP2, CP4),
            SCHEDULE,
            mask="tail",
            ptl=False,
            callback=2,
            reduced=True,
            oracle={"callback": 3},
            tier=Tier.FIXED,
        ),
    ]
    return found
