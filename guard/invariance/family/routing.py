"""What a router decides, counts and adds to the loss, against closed forms in float64, and over ranks."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place
from guard.invariance.family.router import ATTACH, ROUTER, UTILS

CODE = "GRD611"
TOPK = (Place(UTILS, "topk_routing_with_score_function"),)
SCORES = (Place(UTILS, "compute_routing_scores_for_aux_loss"),)
BIAS = (Place(ROUTER, "TopKRouter._apply_expert_bias"), Place(UTILS, "get_updated_expert_bias"))
SWITCH = (Place(UTILS, "switch_load_balancing_loss_func"),)
SQUARED = (Place(UTILS, "z_loss_func"),)
RESET = (Place("megatron/core/distributed/finalize_model_grads.py", "reset_model_temporary_tensors"),)
DROPPING = (Place(UTILS, "apply_router_token_dropping"),)
WHOLE, SPLIT = Cut(mbs=4), Cut(mbs=1)
BIASED = {
    "moe_router_score_function": "sigmoid",
    "moe_router_enable_expert_bias": True,
    "moe_router_bias_update_rate": 0.01,
}


def _case(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> Case:
    options: dict[str, Any] = {"mask": "none", "ptl": True}
    options |= {key: more.pop(key) for key in ("mask", "ptl", "config", "project", "steps", "draw") if key in more}
    settings: dict[str, Any] = {"code": CODE, "oracle": {"program": "routing_dense"}, **more}
    if settings["oracle"] == {"program": "routing_dense"}:
        settings["reference"] = cuts[0]
    return Case(name, "routing", claim, "routing", options, cuts, places=places, **settings)


def _choices() -> list[Case]:
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("softmax", {}),
        ("pre_softmax", {"moe_router_pre_softmax": True, "moe_router_topk_scaling_factor": 2.5}),
        ("sigmoid", {"moe_router_score_function": "sigmoid", "moe_router_topk_scaling_factor": 1.5}),
        ("top1", {"moe_router_topk": 1, "moe_router_score_function": "sigmoid"}),
        (
            "groups",
            {
                "moe_router_num_groups": 4,
                "moe_router_group_topk": 2,
                "moe_router_topk": 2,
                "moe_router_score_function": "sigmoid",
            },
        ),
    )
    return [
        _case(
            f"routing_{name}",
            f"probabilities of the chosen experts are the closed form ({name})",
            (WHOLE,),
            TOPK,
            config=config,
            project=1.0,
        )
        for name, config in kinds
    ] + [
        _case(
            f"routing_capacity{suffix}",
            f"each expert keeps ceil(tokens · topk / experts · factor) tokens{words}",
            (WHOLE,),
            DROPPING,
            project=1.0,
            config={"moe_expert_capacity_factor": 0.7, "moe_token_dispatcher_type": "alltoall", **config},
        )
        for suffix, words, config in (
            ("", "", {}),
            ("_padded", ", padded to it", {"moe_pad_expert_input_to_capacity": True}),
        )
    ]


def _losses() -> list[Case]:
    several = {
        "moe_router_load_balancing_type": ["aux_loss", "seq_aux_loss", "global_aux_loss"],
        "moe_aux_loss_coeff": [1e-2, 2e-2, 4e-2],
        "moe_z_loss_coeff": 1e-2,
    }
    cases = []
    for ptl, suffix in ((True, ""), (False, "_mean")):
        cases += [
            _case(
                f"z_loss_dense{suffix}",
                "the z-loss is the mean over valid tokens of the squared log of the partition function",
                (WHOLE,),
                SQUARED,
                config={"moe_z_loss_coeff": 1e-2},
                mask="equal",
                ptl=ptl,
                essential=ptl,
            ),
            _case(
                f"aux_loss_dense{suffix}",
                "the auxiliary loss is E · Σ f · P over the valid tokens",
                (WHOLE,),
                SWITCH,
                config={"moe_router_load_balancing_type": "aux_loss", "moe_aux_loss_coeff": 1e-2},
                mask="tail",
                ptl=ptl,
            ),
            _case(
                f"several_losses_dense{suffix}",
                "several router losses at once are the sum of their closed forms",
                (WHOLE,),
                ATTACH,
                config=several,
                ptl=ptl,
            ),
        ]
    return [
        *cases,
        _case(
            "sigmoid_loss_dense",
            "the auxiliary loss of normalised sigmoid scores is the closed form, with padding",
            (WHOLE,),
            SCORES,
            config={
                "moe_router_score_function": "sigmoid",
                "moe_router_load_balancing_type": "aux_loss",
                "moe_aux_loss_coeff": 1e-2,
            },
            mask="tail",
        ),
        _case(
            "several_losses_shards",
            "several router losses at once do not depend on context or tensor parallelism",
            (Cut(cp=2, mbs=4), Cut(tp=2, mbs=4)),
            ATTACH,
            config=several,
            oracle=None,
            reference=WHOLE,
        ),
        _case(
            "global_aux_second_step",
            "the second step of global_aux_loss from the same weights has the first step's gradient",
            (SPLIT,),
            RESET,
            config={"moe_router_load_balancing_type": "global_aux_loss", "moe_aux_loss_coeff": 1e-2},
            steps=2,
            oracle={"steps": 1},
            reference=SPLIT,
            essential=True,
        ),
    ]


def _counts() -> list[Case]:
    shared: dict[str, Any] = {"config": BIASED, "mask": "tail"}
    return [
        _case(
            "expert_bias_dense",
            "the expert bias moves by the sign of the mean count less the expert's count of valid tokens",
            (WHOLE,),
            BIAS,
            **shared,
            quantity="counts",
        ),
        _case(
            "expert_bias_update",
            "the updated expert bias is the closed form after two steps",
            (SPLIT,),
            BIAS,
            **shared,
            quantity="bias",
            steps=2,
        ),
        _case(
            "expert_bias_reset",
            "counts of the expert bias are zero again after a step",
            (SPLIT,),
            RESET,
            **shared,
            quantity="left",
        ),
        _case(
            "expert_bias_shards",
            "the updated expert bias does not depend on DP, CP or TP",
            (Cut(dp=2, mbs=2), Cut(cp=2, mbs=4), Cut(tp=2, mbs=4)),
            BIAS,
            **shared,
            quantity="bias",
            oracle=None,
            reference=WHOLE,
        ),
    ]


def _bfloat16() -> list[Case]:
    return [
        Case(
            f"scores_bfloat16_{score}",
            "routing",
            f"{score} scores for the auxiliary loss of bfloat16 logits are computed in float32",
            "scores",
            {"score": score},
            (Cut(),),
            reference=Cut(),
            oracle={"expected": True},
            places=SCORES,
            code=CODE,
            tolerance=1e-5,
            tolerance_reason="float32 of the same logits: 6e-8 an operation; bfloat16 would be off by 2e-3",
        )
        for score in ("softmax", "sigmoid")
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    return _choices() + _losses() + _counts() + _bfloat16()
