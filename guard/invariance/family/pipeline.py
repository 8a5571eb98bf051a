"""Pipeline parallelism: 1F1B and interleaved stages against one rank, tied embeddings, the last stage's counts."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place
from guard.invariance.family.options import WHOLE, model_case

SCHEDULES = "megatron/core/pipeline_parallel/schedules.py"
FINALIZE = "megatron/core/distributed/finalize_model_grads.py"
PLAIN = (Place(SCHEDULES, "forward_backward_pipelining_without_interleaving"),)
INTERLEAVED = (Place(SCHEDULES, "forward_backward_pipelining_with_interleaving"),)
TOKENS = (Place(FINALIZE, "finalize_model_grads"),)
TIED = (Place(FINALIZE, "_allreduce_embedding_grad"), Place(FINALIZE, "_allreduce_word_embedding_grads"))
PP2, PP4 = Cut(pp=2, mbs=1), Cut(pp=4, mbs=1)
VPP = Cut(pp=2, vpp=2, mbs=1)


def _case(name: str, claim: str, cuts: tuple[Cut, ...], places: tuple[Place, ...], **more: Any) -> Case:
    settings: dict[str, Any] = {"layers": 4, "mask": "tail", "family": "pipeline", **more}
    return model_case(name, claim, cuts, places, **settings)


def cases() -> list[Case]:
    """Every case of this family."""
    return [
        _case(
            "pipeline",
            "no gradient of the per-token loss depends on pipeline stages",
            (PP2, PP4, Cut(dp=2, pp=2, mbs=1), Cut(tp=2, pp=2, mbs=2)),
            (*TOKENS, *PLAIN),
            essential=True,
            essential_cuts=(PP2,),
            wide_cuts=(Cut(dp=2, tp=2, pp=2, mbs=1),),
        ),
        _case(
            "pipeline_mean",
            "no gradient of the mean loss depends on pipeline stages at fixed micro-batches",
            (PP2, Cut(dp=2, pp=2, mbs=1)),
            PLAIN,
            ptl=False,
            reference=None,
        ),
        _case(
            "pipeline_interleaved",
            "no gradient depends on interleaved pipeline stages",
            (VPP,),
            INTERLEAVED,
        ),
        _case(
            "pipeline_interleaved_mean",
            "no gradient of the mean loss depends on interleaved pipeline stages at fixed micro-batches",
            (VPP,),
            INTERLEAVED,
            ptl=False,
            reference=None,
        ),
        _case(
            "pipeline_tied",
            "the gradient of an embedding that the output layer shares is summed over the first and the last stage",
            (PP2, Cut(tp=2, pp=2, mbs=2), VPP),
            TIED,
            tied=True,
        ),
        _case(
            "pipeline_context",
            "no gradient depends on pipeline stages with context parallelism and rotary positions",
            (Cut(cp=2, pp=2, mbs=1),),
            (*TOKENS, *PLAIN),
            attention="gathered",
            positions="rope",
        ),
        _case(
            "pipeline_experts",
            "no gradient of experts, router losses among them, depends on pipeline stages at fixed micro-batches",
            (PP2, VPP),
            (*TOKENS, *PLAIN),
            mask="none",
            experts=4,
            router_loss="seq_aux_loss",
            z_loss=1e-2,
            reference=None,
        ),
        _case(
            "pipeline_mtp",
            "no gradient of multi-token prediction on the last stage depends on pipeline stages at fixed micro-batches",
            (PP2,),
            (Place("megatron/core/transformer/multi_token_prediction.py", "process_mtp_loss"), *PLAIN),
            mtp=1,
            reference=None,
        ),
        _case(
            "embedding_tied_tokens",
            "the per-token loss of tied embeddings does not depend on micro-batches or data parallelism",
            (Cut(mbs=1), Cut(dp=2, mbs=1)),
            TOKENS,
            layers=1,
            tied=True,
            reference=WHOLE,
        ),
    ]
