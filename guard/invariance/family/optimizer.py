"""Training steps through the optimizer: clipping, zero counts, sharded state, overlapped exchange, the second step."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place
from guard.invariance.family.options import OPTIONS, WHOLE

CODE = "GRD610"
OPTIMIZER = "megatron/core/optimizer/"
BUFFER = "megatron/core/distributed/param_and_grad_buffer.py"
CLIP = (Place(f"{OPTIMIZER}clip_grads.py", "clip_grad_by_total_norm_fp32"),)
ZEROS = (Place(f"{OPTIMIZER}clip_grads.py", "count_zeros_fp32"),)
DISTRIBUTED = (Place(f"{OPTIMIZER}distrib_optimizer.py", "DistributedOptimizer"),)
OVERLAP = (Place(BUFFER, "_ParamAndGradBucketGroup.start_grad_sync"), Place(BUFFER, "_ParamAndGradBucketGroup"))
GATHER = (Place(BUFFER, "_ParamAndGradBucketGroup.finish_param_sync"), *OVERLAP)
DP2, DP4, TP2, EP2 = Cut(dp=2, mbs=1), Cut(dp=4, mbs=1), Cut(tp=2, mbs=4), Cut(dp=2, ep=2, mbs=2)
# Small enough that every gradient is in a bucket that more than one other follows.
BUCKETS = {"bucket_size": 2000}
SHARDED: dict[str, Any] = {"use_distributed_optimizer": True, **BUCKETS}
CLIPPED = 0.05


def _case(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> Case:
    known = ("ddp", "clip", "experts", "tied", "layer_wise", "optimizer", "mask", "layers", "ptl", "updates", "config")
    options = {**OPTIONS, "mask": "tail", "layers": 2, **{key: more.pop(key) for key in known if key in more}}
    settings: dict[str, Any] = {"reference": WHOLE, "quantity": "change", "code": CODE, **more}
    return Case(name, "optimizer", claim, "update", options, cuts, places=places, **settings)


def cases() -> list[Case]:
    """Every case of this family."""
    overlapped = {"overlap_grad_reduce": True, **BUCKETS}
    gathered = {**SHARDED, "overlap_grad_reduce": True, "overlap_param_gather": True}
    plain: dict[str, Any] = {"ddp": {}}
    return [
        _case(
            "update_dense",
            "two steps change the weights as float64 Adam does after clipping by max_norm / (norm + 1e-6)",
            (WHOLE,),
            CLIP,
            clip=CLIPPED,
            tolerance=1e-3,
            tolerance_reason="a change of 1e-4 of a weight near 1 holds the rounding of that weight, 6e-8",
            oracle={"program": "update_dense"},
        ),
        _case(
            "clip_norm_dense",
            "the norm and the number of zeros of every step are those of the dense gradients",
            (WHOLE,),
            CLIP,
            clip=CLIPPED,
            quantity="norm",
            oracle={"program": "update_dense"},
        ),
        _case("update_clipped", "two clipped steps do not depend on TP or DP", (TP2, DP2), CLIP, clip=CLIPPED),
        _case(
            "update_experts", "two clipped steps of experts do not depend on EP", (EP2,), CLIP, clip=CLIPPED, experts=4
        ),
        _case(
            "zeros_count",
            "the number of zero gradients does not depend on TP or DP",
            (TP2, DP2),
            ZEROS,
            quantity="zeros",
        ),
        _case(
            "norm_of_steps",
            "the norm of each step does not depend on TP, DP or sharded state",
            (TP2, DP2),
            CLIP,
            quantity="norm",
            ddp=SHARDED,
            oracle=plain,
        ),
        _case(
            "distributed_optimizer",
            "steps of the distributed optimizer are those of the plain one",
            (DP2, DP4, Cut(dp=2, tp=2, mbs=2)),
            DISTRIBUTED,
            ddp=SHARDED,
            clip=CLIPPED,
            oracle=plain,
        ),
        _case(
            "distributed_optimizer_experts",
            "steps of the distributed optimizer with experts are those of the plain one",
            (EP2, Cut(dp=4, ep=2, mbs=1)),
            DISTRIBUTED,
            ddp=SHARDED,
            clip=CLIPPED,
            experts=4,
            oracle=plain,
        ),
        _case(
            "distributed_optimizer_mean",
            "steps of the distributed optimizer under the mean loss are those of the plain one",
            (DP2,),
            DISTRIBUTED,
            ddp=SHARDED,
            ptl=False,
            reference=None,
            oracle=plain,
        ),
        _case(
            "overlap_grad_reduce",
            "steps with overlapped gradient reduction are those without",
            (DP2, DP4),
            OVERLAP,
            ddp=overlapped,
            oracle=plain,
            essential=True,
            essential_cuts=(DP2,),
        ),
        _case(
            "overlap_distributed",
            "steps with overlapped reduce-scatter and gather are those of the plain optimizer",
            (DP2,),
            GATHER,
            ddp=gathered,
            oracle=plain,
        ),
        _case(
            "overlap_layer_wise",
            "steps of the layer-wise optimizer with overlapped gather are those of the plain one",
            (DP2,),
            GATHER,
            ddp={"overlap_grad_reduce": True, "overlap_param_gather": True, **BUCKETS},
            layer_wise=True,
            oracle={"ddp": {}, "layer_wise": False},
        ),
    ]
