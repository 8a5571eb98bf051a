"""Linear layers and embedding alone, random states, packed sequences, and label ids at the edges of a shard."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place

LAYERS = "megatron/core/tensor_parallel/layers.py"
ROW = (Place(LAYERS, "RowParallelLinear"),)
EMBEDDING = (Place(LAYERS, "VocabParallelEmbedding"),)
SEEDS = (Place("megatron/core/tensor_parallel/random.py", "model_parallel_cuda_manual_seed"),)
ROLL = (
    Place("megatron/core/transformer/multi_token_prediction.py", "_roll_tensor_packed_seq"),
    Place("megatron/core/transformer/multi_token_prediction.py", "roll_tensor"),
)
THD = (Place("megatron/core/models/common/embeddings/rope_utils.py", "_apply_rotary_pos_emb_thd"),)
TP1, TP2, TP4 = Cut(mbs=4), Cut(tp=2, mbs=4), Cut(tp=4, mbs=4)


def _linear(name: str, words: str, cuts: tuple[Cut, ...], options: dict[str, Any], **more: Any) -> Case:
    claim = f"a column- and a row-parallel layer with biases are two matrices ({words})"
    return Case(
        name,
        "layers",
        claim,
        "linear",
        options,
        cuts,
        reference=TP1,
        oracle={"program": "linear_dense"},
        places=(*ROW, *EMBEDDING),
        code="GRD607",
        **more,
    )


def _packed(kind: str, claim: str, places: tuple[Place, ...], **more: Any) -> list[Case]:
    return [
        Case(
            f"packed_{kind}_cp{cut.cp}",
            "packed",
            claim,
            "packed",
            {"kind": kind},
            (cut,),
            reference=cut,
            oracle={"expected": True},
            places=places,
            **more,
        )
        for cut in (Cut(), Cut(cp=2), Cut(cp=4))
    ]


def cases() -> list[Case]:
    """Every case of this family."""
    cuts = (Cut(dp=2, cp=1, tp=2), Cut(tp=2), Cut(dp=2, ep=2), Cut(dp=2, ep=2, tp=2, etp=1))
    return [
        _linear("linear", "each rank its part", (TP1, TP2, TP4), {}, essential=True, essential_cuts=(TP2,)),
        _linear("linear_sp", "with sequence parallelism", (TP2, TP4), {"sequence_parallel": True}),
        _linear("linear_gathered", "whole between them", (TP2,), {"gathered": True}),
        *(
            Case(
                f"random_states_{cut.label().replace(' ', '_')}",
                "random",
                "random states differ over tensor- or expert-parallel ranks and are the same over the others",
                "seeds",
                {},
                (cut,),
                reference=cut,
                oracle={"expected": True},
                places=SEEDS,
                code="GRD612",
                essential=cut == cuts[1],
            )
            for cut in cuts
            if cut.ranks <= 4
        ),
        *_packed("roll", "packed sequences are rolled each by itself", ROLL, code="GRD602"),
        *_packed("rope", "packed sequences are rotated each from its own start", THD, code="GRD609"),
    ]
