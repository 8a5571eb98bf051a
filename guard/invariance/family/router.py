"""Auxiliary losses and z-loss of the router, cut into micro-batches on one rank."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place, Tier

CODE = "GRD601"
ROUTER = "megatron/core/transformer/moe/router.py"
UTILS = "megatron/core/transformer/moe/moe_utils.py"
# In every set-up one rank sees four sequences of 32 tokens.
GLOBAL_TOKENS = 128
WHOLE, SPLIT, HALF = Cut(mbs=4), Cut(mbs=1), Cut(mbs=2)

SEQ = (Place(ROUTER, "TopKRouter._apply_seq_aux_loss"),)
AUX = (Place(ROUTER, "TopKRouter._apply_aux_loss"),)
GLOBAL = (Place(ROUTER, "TopKRouter._apply_global_aux_loss"),)
Z_LOSS = (Place(ROUTER, "TopKRouter.apply_z_loss"),)
ATTACH = (Place(ROUTER, "TopKRouter.attach_and_log_load_balancing_loss"),)
COUNTS = (Place(UTILS, "get_tokens_per_expert_and_token_count"), *AUX)

# Valid lengths with a mean of 19.5: a floored mean shows; mean² / mean of squares is 0.898.
UNEQUAL = (29, 22, 15, 12)


def router_case(
    name: str, claim: str, loss: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any
) -> Case:
    """A case of the `router` program; `ptl`, `hidden`, `draw`, `mask` and `callback` are its options."""
    options = {"loss": loss, "ptl": True, "hidden": "distinct", "mask": "none"}
    options |= {key: more.pop(key) for key in ("ptl", "hidden", "mask", "callback", "draw") if key in more}
    return Case(name, "router", claim, "router", options, cuts, places=places, code=CODE, **more)


def _sequence_loss() -> list[Case]:
    seq = "seq_aux_loss"
    claim = "the sequence auxiliary loss does not depend on the micro-batch size"
    split: dict[str, Any] = {"reference": WHOLE}
    return [
        router_case("seq_aux_mbs", claim, seq, (SPLIT, HALF), SEQ, essential=True, essential_cuts=(SPLIT,), **split),
        router_case("seq_aux_mbs_equal_mask", f"{claim}, equal padding", seq, (SPLIT,), SEQ, mask="equal", **split),
        router_case("seq_aux_mbs_mean", f"{claim}, mean loss", seq, (SPLIT,), SEQ, ptl=False, essential=True, **split),
        router_case(
            "seq_aux_mbs_unequal",
            f"{claim}, sequences of unequal valid length",
            seq,
            (SPLIT,),
            SEQ,
            hidden="constant",
            mask=UNEQUAL,
            **split,
        ),
        router_case(
            "seq_aux_mbs_unequal_mean",
            f"{claim}, sequences of unequal valid length, mean loss",
            seq,
            (SPLIT,),
            SEQ,
            hidden="constant",
            mask=UNEQUAL,
            ptl=False,
            **split,
        ),
    ]


def _statistics() -> list[Case]:
    cases = []
    for loss, places, draw in (("aux_loss", AUX, 25), ("global_aux_loss", GLOBAL, 28)):
        name = loss.removesuffix("_loss")
        cases.append(
            router_case(
                f"{name}_mbs_identical",
                f"{loss} of identical sequences does not depend on the micro-batch size",
                loss,
                (SPLIT,),
                places,
                hidden="identical",
                tier=Tier.SCALE,
                reference=WHOLE,
                essential=loss == "aux_loss",
            )
        )
        cases.append(
            router_case(
                f"{name}_mbs_distinct",
                f"{loss} is a statistic of the micro-batch: distinct sequences differ by definition",
                loss,
                (SPLIT,),
                places,
                draw=draw,
                tier=Tier.DEFINITION,
                reference=WHOLE,
            )
        )
    for ptl, suffix in ((True, ""), (False, "_mean")):
        cases.append(
            router_case(
                f"global_aux_uneven_tokens{suffix}",
                "global_aux_loss of constant routing does not depend on how valid tokens spread over micro-batches",
                "global_aux_loss",
                (SPLIT,),
                GLOBAL,
                hidden="constant",
                mask=(14, 2, 10, 6),
                oracle={"mask": (8, 8, 8, 8)},
                ptl=ptl,
                tier=Tier.SCALE,
                essential=ptl,
            )
        )
    return cases


def _z_loss() -> list[Case]:
    claim = "the z-loss does not depend on the micro-batch size"
    return [
        router_case("z_loss_mbs", claim, "z_loss", (SPLIT, HALF), Z_LOSS, reference=WHOLE),
        router_case(
            "z_loss_mbs_tail", f"{claim}, unequal padding", "z_loss", (SPLIT,), Z_LOSS, mask="tail", reference=WHOLE
        ),
        router_case(
            "z_loss_mbs_mean",
            f"{claim}, mean loss, equal padding",
            "z_loss",
            (SPLIT,),
            Z_LOSS,
            mask="equal",
            ptl=False,
            reference=WHOLE,
        ),
        router_case(
            "z_loss_mbs_mean_unequal",
            "a mean of means: the z-loss of unequal counts differs by definition",
            "z_loss",
            (SPLIT,),
            Z_LOSS,
            draw=45,
            mask="tail",
            ptl=False,
            tier=Tier.DEFINITION,
            reference=WHOLE,
        ),
    ]


def _contract() -> list[Case]:
    return [
        router_case(
            "router_two_tuple",
            "contract: with the per-token loss the callback must return the token count to divide router losses by",
            "aux_loss",
            (SPLIT,),
            ATTACH,
            callback=2,
            oracle={"callback": 3},
            tier=Tier.CONTRACT,
            scales={"global tokens": GLOBAL_TOKENS},
        )
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    return _sequence_loss() + _statistics() + _z_loss() + _contract()
