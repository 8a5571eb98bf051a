"""Options of the model that most runs use: every gradient against a dense float64 model, and cut against uncut."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place, Tier

CODE = "GRD609"
ATTENTION = "megatron/core/transformer/attention.py"
LAYERS = "megatron/core/tensor_parallel/layers.py"
MOE = "megatron/core/transformer/moe/"
OPTIONS: dict[str, Any] = {"length": 16, "ptl": True, "mask": "none", "layers": 1}
WHOLE = Cut(mbs=4)
TP2, TP4, CP2, EP2 = Cut(tp=2, mbs=4), Cut(tp=4, mbs=4), Cut(cp=2, mbs=4), Cut(dp=2, ep=2, mbs=2)
DENSE = {"program": "gpt_dense"}
ROW = (Place(LAYERS, "RowParallelLinear"),)
QKV = (Place(ATTENTION, "SelfAttention.get_query_key_value_tensors"),)
CORE = (Place("megatron/core/transformer/dot_product_attention.py", "DotProductAttention"),)
ROPE = (
    Place("megatron/core/models/common/embeddings/rope_utils.py", "get_pos_emb_on_this_cp_rank"),
    Place("megatron/core/models/common/embeddings/rotary_pos_embedding.py", "RotaryEmbedding"),
)
SHARED = (Place(f"{MOE}shared_experts.py", "SharedExpertMLP"),)
DISPATCH = (Place(f"{MOE}token_dispatcher.py", "MoEAlltoAllTokenDispatcher"),)
ROUTING = (Place(f"{MOE}moe_utils.py", "topk_routing_with_score_function"),)
DROPPING = (Place(f"{MOE}moe_utils.py", "apply_router_token_dropping"),)
DDP = (Place("megatron/core/distributed/distributed_data_parallel.py", "DistributedDataParallel.__init__"),)

_SETTINGS = (
    *("config", "ddp", "attention", "positions", "tied", "experts", "router_loss", "z_loss", "mask", "ptl", "layers"),
    *("sequence_parallel", "steps", "pad", "main", "mtp", "length", "draw"),
)


def model_case(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> Case:
    """A case of the `gpt` program; settings of the program are taken out of `more`."""
    options = {**OPTIONS, **{key: more.pop(key) for key in _SETTINGS if key in more}}
    settings: dict[str, Any] = {"reference": WHOLE, "code": CODE, "family": "options", **more}
    family = settings.pop("family")
    return Case(name, family, claim, "gpt", options, cuts, places=places, **settings)


def both(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> list[Case]:
    """Two cases: the model on one rank against the dense one, and every cut against one rank."""
    short = {key: more.pop(key) for key in ("essential", "essential_cuts") if key in more}
    dense = f"{claim}: the gradients on one rank are those of a dense float64 model"
    return [
        model_case(f"{name}_dense", dense, (WHOLE,), places, **{**more, "reference": WHOLE}, oracle=DENSE),
        model_case(name, f"{claim}: no gradient depends on the cut", cuts, places, **more, **short),
    ]


def _attention() -> list[Case]:
    gathered: dict[str, Any] = {"attention": "gathered", "positions": "rope"}
    return [
        *both("gqa", "query groups", (TP2, TP4, CP2), QKV, config={"num_query_groups": 2}, **gathered, essential=True),
        *both("qk_layernorm", "norms of query and key", (TP2, CP2), QKV, config={"qk_layernorm": True}, **gathered),
        *both("rope", "rotary positions", (CP2, Cut(cp=4, mbs=4), TP2, Cut(dp=2, cp=2, mbs=2)), ROPE, **gathered),
        model_case(
            "attention_core_dense",
            "the tree's own attention on one rank has the gradients of a dense float64 one (causal, 1/sqrt(d))",
            (WHOLE,),
            CORE,
            attention="tree",
            oracle=DENSE,
            essential=True,
        ),
        model_case(
            "attention_core",
            "no gradient through the tree's own attention depends on TP or DP",
            (TP2, Cut(dp=2, mbs=2)),
            CORE,
            attention="tree",
        ),
    ]


def _linear() -> list[Case]:
    biased = {"add_bias_linear": True}
    return [
        *both("bias", "biases of linear layers", (TP2, TP4), ROW, config=biased, essential=True, essential_cuts=(TP2,)),
        model_case(
            "bias_no_sp",
            "no gradient of a model with biases depends on TP without sequence parallelism",
            (TP2, TP4),
            ROW,
            config=biased,
            sequence_parallel=False,
        ),
        *both(
            "rms_norm_gated",
            "RMS norm and gated units",
            (TP2,),
            ROW,
            config={"normalization": "RMSNorm", "gated_linear_unit": True},
        ),
        *both("tied", "an output layer that shares the embedding", (TP2, Cut(dp=2, cp=2, mbs=2)), ROW, tied=True),
    ]


def _experts() -> list[Case]:
    shared = {"moe_shared_expert_intermediate_size": 32}
    gated = {**shared, "moe_shared_expert_gate": True}
    alltoall = {"moe_token_dispatcher_type": "alltoall"}
    cuts = (EP2, Cut(dp=4, ep=4, mbs=1), Cut(dp=2, ep=2, cp=2, mbs=2))
    return [
        *both("experts", "a layer of experts", (EP2, TP2), (Place(f"{MOE}experts.py", "SequentialMLP"),), experts=4),
        *both("shared_experts", "shared experts", (TP2, EP2), SHARED, experts=4, config=shared),
        *both(
            "shared_experts_gate",
            "shared experts with a gate",
            (TP2, EP2),
            SHARED,
            experts=4,
            config=gated,
            essential=True,
            essential_cuts=(TP2,),
        ),
        *both(
            "alltoall",
            "the all-to-all dispatcher",
            (*cuts, TP2),
            DISPATCH,
            experts=4,
            config=alltoall,
            essential=True,
            essential_cuts=(EP2,),
        ),
        *both("sigmoid", "sigmoid scores", (EP2,), ROUTING, experts=4, config={"moe_router_score_function": "sigmoid"}),
        *both(
            "scaled_topk",
            "a scaled sum of the best",
            (EP2,),
            ROUTING,
            experts=4,
            config={"moe_router_pre_softmax": True, "moe_router_topk_scaling_factor": 2.5},
        ),
        *both(
            "capacity",
            "capacity and dropped tokens",
            (EP2,),
            DROPPING,
            experts=4,
            config={**alltoall, "moe_expert_capacity_factor": 0.75},
            # capacity is counted in a rank's micro-batch, so what is dropped depends on its content
            reference=None,
            tier=Tier.FIXED,
        ),
    ]


def _mean() -> list[Case]:
    """The mean loss: every rank's gradient is scaled, experts by another group than the rest."""
    cuts = (Cut(dp=2, mbs=2), EP2, Cut(dp=4, ep=2, mbs=1), Cut(dp=2, tp=2, ep=2, mbs=2))
    return [
        model_case(
            "mean_experts",
            "no gradient of experts under the mean loss depends on DP or EP",
            cuts,
            DDP,
            experts=4,
            ptl=False,
        ),
        model_case(
            "mean_average_in_collective",
            "averaging in the collective gives the mean loss's gradients",
            cuts[:2],
            DDP,
            experts=4,
            ptl=False,
            ddp={"average_in_collective": True},
        ),
    ]


def _memory() -> list[Case]:
    """Recomputed activations and latent attention."""
    recomputed = {"recompute_granularity": "full", "recompute_method": "uniform", "recompute_num_layers": 1}
    latent = {
        "multi_latent_attention": True,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_head_dim": 8,
        "qk_pos_emb_head_dim": 8,
        "v_head_dim": 8,
        "rope_type": "rope",
    }
    return [
        model_case(
            "recompute_full",
            "no gradient depends on whether activations are computed again",
            (WHOLE, TP2, Cut(dp=2, mbs=2)),
            (Place("megatron/core/tensor_parallel/random.py", "CheckpointFunction"),),
            config=recomputed,
            oracle={"config": {}},
        ),
        model_case(
            "latent_attention",
            "no gradient of latent attention depends on micro-batches or DP",
            (Cut(mbs=1), Cut(dp=2, mbs=2)),
            (Place("megatron/core/transformer/multi_latent_attention.py", "MLASelfAttention"),),
            config=latent,
            attention="gathered",
        ),
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    return _attention() + _linear() + _experts() + _mean() + _memory()
