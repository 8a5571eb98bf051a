"""Auxiliary losses and z-loss of the router over data, context and tensor (with sequence) parallel ranks."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Tier
from guard.invariance.family.router import ATTACH, COUNTS, GLOBAL, Z_LOSS, router_case

CP2, CP4 = Cut(cp=2, mbs=2), Cut(cp=4, mbs=2)
TP2, TP4 = Cut(tp=2, mbs=2), Cut(tp=4, mbs=2)
BOTH = Cut(cp=2, tp=2, mbs=2)
DP2 = Cut(dp=2, mbs=1)
SHORT = (CP2, TP2)
WIDE = (Cut(cp=4, tp=2, mbs=2), Cut(dp=2, cp=2, tp=2, mbs=2))
# One sequence a micro-batch, over two and four shards.
FOUR = (Cut(cp=2), Cut(cp=4), Cut(tp=2), Cut(tp=4))


def _token_losses() -> list[Case]:
    """aux_loss and seq_aux_loss: exact at fixed micro-batches."""
    cases = []
    for loss in ("aux_loss", "seq_aux_loss"):
        name = loss.removesuffix("_loss")
        shared: dict[str, Any] = {"tier": Tier.FIXED}
        cases += [
            router_case(
                f"{name}_shards",
                f"{loss} does not depend on context or tensor parallelism, no padding mask",
                loss,
                (CP2, CP4, TP2, TP4, BOTH),
                ATTACH,
                essential=True,
                essential_cuts=SHORT,
                wide_cuts=WIDE,
                **shared,
            ),
            router_case(
                f"{name}_shards_masked",
                f"{loss} does not depend on context or tensor parallelism, with a padding mask",
                loss,
                (CP2, CP4, TP2, TP4, BOTH),
                COUNTS,
                mask="spread",
                essential=True,
                essential_cuts=SHORT,
                wide_cuts=WIDE,
                **shared,
            ),
            router_case(
                f"{name}_shards_mean",
                f"{loss} does not depend on context or tensor parallelism, mean loss",
                loss,
                (CP2, CP4, TP2, BOTH),
                ATTACH,
                ptl=False,
                **shared,
            ),
            router_case(
                f"{name}_shards_mean_masked",
                f"{loss} does not depend on context or tensor parallelism, mean loss, with a padding mask",
                loss,
                (CP2, TP2, BOTH),
                COUNTS,
                ptl=False,
                mask="spread",
                **shared,
            ),
            router_case(
                f"{name}_data_parallel",
                f"{loss} does not depend on data parallelism",
                loss,
                (Cut(dp=2, mbs=2), DP2),
                ATTACH,
                **shared,
            ),
        ]
    return cases


def _global_loss() -> list[Case]:
    """global_aux_loss: only its scale can be asked for, so every token group is made the same."""
    loss = "global_aux_loss"
    shared: dict[str, Any] = {"tier": Tier.SCALE, "hidden": "halves"}
    return [
        router_case(
            "global_aux_data_parallel",
            "the scale of global_aux_loss does not depend on data parallelism",
            loss,
            (DP2,),
            GLOBAL,
            essential=True,
            **shared,
        ),
        router_case(
            "global_aux_data_parallel_mean",
            "the scale of global_aux_loss does not depend on data parallelism, mean loss",
            loss,
            (DP2,),
            GLOBAL,
            ptl=False,
            **shared,
        ),
        router_case(
            "global_aux_data_parallel_masked",
            "the scale of global_aux_loss does not depend on data parallelism, with a padding mask",
            loss,
            (DP2,),
            COUNTS,
            mask="comb",
            **shared,
        ),
        router_case(
            "global_aux_shards_masked",
            "the scale of global_aux_loss does not depend on context or tensor parallelism, with a padding mask",
            loss,
            (CP2, TP2, BOTH),
            COUNTS,
            mask="comb",
            essential=True,
            essential_cuts=(CP2,),
            **shared,
        ),
        router_case(
            "global_aux_shards",
            "the scale of global_aux_loss does not depend on context or tensor parallelism",
            loss,
            (CP2, TP2, BOTH),
            ATTACH,
            **shared,
        ),
    ]


def _z_loss() -> list[Case]:
    claim = "the z-loss does not depend on context or tensor parallelism"
    return [
        router_case("z_loss_shards", claim, "z_loss", (CP2, TP2, BOTH), Z_LOSS, essential=True, essential_cuts=(CP2,)),
        router_case("z_loss_shards_tail", f"{claim}, unequal padding", "z_loss", (CP2, TP2, BOTH), Z_LOSS, mask="tail"),
        router_case(
            "z_loss_shards_mean",
            f"{claim}, mean loss, no padding mask",
            "z_loss",
            (CP2, TP2, BOTH),
            Z_LOSS,
            ptl=False,
        ),
        router_case(
            "z_loss_shards_mean_tail",
            f"{claim}, mean loss, equal padding at the tail",
            "z_loss",
            FOUR,
            Z_LOSS,
            mask="equal",
            ptl=False,
            draw=443,
            tier=Tier.FIXED,
            essential=True,
            essential_cuts=(FOUR[1],),
        ),
        router_case(
            "z_loss_shards_mean_unequal",
            f"{claim}, mean loss, unequal padding",
            "z_loss",
            FOUR,
            Z_LOSS,
            mask="tail",
            ptl=False,
            draw=205,
            tier=Tier.FIXED,
        ),
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    return _token_losses() + _global_loss() + _z_loss()
