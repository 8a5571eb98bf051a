"""Multi-token prediction: the gradient of its loss alone, cut against one rank, and one rank against a dense oracle."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place, Tier

CODE = "GRD602"
PLACES = (
    Place("megatron/core/transformer/multi_token_prediction.py", "process_mtp_loss"),
    Place("megatron/core/models/gpt/gpt_model.py", "GPTModel._postprocess"),
)
LENGTH = 64
WHOLE = Cut(mbs=4)


def _case(name: str, claim: str, cuts: tuple[Cut, ...], **more: Any) -> Case:
    options = {"length": LENGTH, "ptl": True, "mask": "none", "main": 0.0, "mtp": 1}
    options |= {key: more.pop(key) for key in ("ptl", "mask", "mtp") if key in more}
    more.setdefault("places", PLACES)
    return Case(name, "mtp", claim, "gpt", options, cuts, code=CODE, **more)


def _oracle_cases() -> list[Case]:
    return [
        _case(
            f"mtp_dense{'_mean' if not ptl else ''}{suffix}_depth{depth}",
            f"the MTP loss on one rank is the dense float64 one ({mask} mask, depth {depth})",
            cuts,
            mask=mask,
            mtp=depth,
            ptl=ptl,
            oracle={"program": "mtp_dense"},
            quantity="grad:output_layer.weight",
            reference=cuts[0],
            essential=ptl and depth == 1 and mask == "tail",
        )
        for ptl, depth, mask, suffix, cuts in (
            (True, 1, "none", "", (WHOLE,)),
            (True, 1, "tail", "_tail", (WHOLE,)),
            (True, 3, "tail", "_tail", (WHOLE,)),
            (True, 1, "one", "_one", (WHOLE,)),
            (True, 1, "tail", "_tail_accumulated", (Cut(mbs=1),)),
            (False, 1, "tail", "_tail", (WHOLE,)),
            (False, 1, "tail", "_tail_accumulated", (Cut(mbs=1),)),
        )
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    found = _oracle_cases()
    found += [
        _case(
            f"mtp_data_parallel_{mask}",
            f"the per-token MTP loss does not depend on data parallelism ({mask} mask)",
            (Cut(dp=2, mbs=2), Cut(dp=4, mbs=1)),
            mask=mask,
            reference=WHOLE,
            essential=mask == "tail",
            essential_cuts=(Cut(dp=2, mbs=2),),
        )
        for mask in ("none", "tail")
    ]
    found += [
        _case(
            "mtp_data_parallel_accumulated",
            "the per-token MTP loss does not depend on data parallelism at fixed micro-batches",
            (Cut(dp=2, mbs=1),),
            mask="none",
            tier=Tier.FIXED,
        ),
        _case(
            "mtp_micro_batches",
            "the MTP ratio is one of the micro-batch: unequal masks differ from the whole batch's mean by definition",
            (Cut(mbs=1),),
            mask="tail",
            oracle={"program": "mtp_dense"},
            quantity="grad:output_layer.weight",
            reference=WHOLE,
            tier=Tier.DEFINITION,
        ),
    ]
    for ptl, kind in ((True, "per_token"), (False, "mean")):
        found += [
            _case(
                f"mtp_{kind}_cp_{mask}",
                f"the {kind.replace('_', '-')} MTP loss does not depend on context parallelism ({mask} mask)",
                (Cut(cp=2, mbs=1 if mask == "one" and not ptl else 4),),
                mask=mask,
                ptl=ptl,
                tier=Tier.FIXED,
                essential=mask in {"none", "one"},
            )
            for mask in ("none", "sft", "tail", "one")
        ]
    return found
