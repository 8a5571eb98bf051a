"""Gradient norms of sharded and replicated parameters, experts under EP and ETP, replicated partial gradients."""

from __future__ import annotations

from guard.invariance.case import Case, Cut, Place

NORM_CODE, EXPERT_CODE = "GRD605", "GRD606"
LAYERS = "megatron/core/tensor_parallel/layers.py"
DUPLICATE = (Place(LAYERS, "param_is_not_tensor_parallel_duplicate"),)
ATTENTION = (Place("megatron/core/transformer/dot_product_attention.py", "DotProductAttention.__init__"),)
EXPERTS = (Place(LAYERS, "set_tensor_model_parallel_attributes"), *DUPLICATE)
REDUCED = (
    Place("megatron/core/transformer/moe/experts.py", "SequentialMLP"),
    Place("megatron/core/tensor_parallel/layers.py", "ColumnParallelLinear.__init__"),
)
TP2, TP4 = Cut(tp=2), Cut(tp=4)


def _norm(name: str, claim: str, parts: str, places: tuple[Place, ...], essential: bool) -> Case:
    return Case(
        name,
        "norm",
        claim,
        "norm",
        {"parts": parts},
        (TP2, TP4),
        places=places,
        code=NORM_CODE,
        essential=essential,
        essential_cuts=(TP2,),
    )


def cases() -> list[Case]:
    """Every case of this family."""
    equal = (
        Cut(dp=2, mbs=2),
        Cut(dp=2, ep=2, mbs=2),
        Cut(tp=2, mbs=4),
        Cut(tp=2, ep=2, dp=2, etp=2, mbs=2),
        Cut(dp=4, ep=4),
    )
    unequal = (Cut(tp=2, etp=1, mbs=4), Cut(dp=2, etp=2, mbs=2))
    found = [
        _norm(
            "grad_norm",
            "the norm of a sharded and a replicated parameter does not depend on TP",
            "linear",
            DUPLICATE,
            True,
        ),
        _norm(
            "grad_norm_sink", "the norm of a head-sharded softmax offset does not depend on TP", "sink", ATTENTION, True
        ),
    ]
    for quantity, code, word in (("gradient", EXPERT_CODE, "gradients"), ("norm", NORM_CODE, "the gradient norm")):
        options = {"norm": quantity == "norm"}
        found += [
            Case(
                f"expert_{quantity}",
                "experts",
                f"{word} of a layer of experts do not depend on DP, EP or TP with ETP = TP",
                "experts",
                options,
                equal,
                reference=Cut(mbs=4),
                places=REDUCED,
                code=code,
                essential=quantity == "gradient",
                essential_cuts=(equal[1], equal[2]),
            ),
            Case(
                f"expert_{quantity}_etp",
                "experts",
                f"{word} of a layer of experts do not depend on ETP where it differs from TP (EP = 1)",
                "experts",
                {**options, "draw": 85},
                unequal,
                reference=Cut(mbs=4),
                places=REDUCED,
                code=code,
                essential=quantity == "gradient",
                essential_cuts=(unequal[0],),
            ),
        ]
    found.append(
        Case(
            "expert_norm_bias",
            "norm",
            "the norm of experts with biases, which no rank cuts, does not depend on EP or on TP with ETP = 1",
            "norm",
            {"parts": "experts"},
            (equal[1], unequal[0]),
            reference=Cut(mbs=4),
            places=DUPLICATE,
            code=NORM_CODE,
        )
    )
    return found + _replicated() + _groups()


def _replicated() -> list[Case]:
    """A replicated norm between head-sharded parts: its gradient is a partial sum on every tensor-parallel rank."""
    places = (
        Place("megatron/core/ssm/gated_delta_net/common.py", "_GDNBase.__init__"),
        Place("megatron/core/ssm/gated_delta_net.py", "GatedDeltaNet.__init__"),
    )
    return [
        Case(
            f"delta_net_{name}",
            "delta_net",
            f"the gradient of a gated delta net's output norm does not depend on TP ({words} sequence parallelism)",
            "delta_net",
            {"sequence_parallel": parallel, "draw": 243},
            (Cut(tp=2, mbs=2),),
            quantity="grad:attention.out_norm.weight",
            places=places,
            code="GRD607",
            essential=not parallel,
        )
        for name, parallel, words in (("tp", False, "without"), ("tp_sp", True, "with"))
    ]


def _groups() -> list[Case]:
    return [
        Case(
            "padding_mask_group",
            "padding",
            "the padding mask is scattered over the tensor-parallel group that the model was given",
            "padding",
            {},
            (Cut(dp=2, tp=2, mbs=2),),
            reference=Cut(dp=2, tp=2, mbs=2),
            oracle={"expected": True},
            quantity="mask",
            places=(Place("megatron/core/models/gpt/gpt_model.py", "GPTModel._preprocess"),),
            code="GRD608",
            essential=True,
        )
    ]
