"""The vocabulary-parallel cross-entropy against a dense one, for every tensor-parallel size."""

from __future__ import annotations

from typing import Any

from guard.invariance.case import Case, Cut, Place

CODE = "GRD604"
PLAIN = (Place("megatron/core/tensor_parallel/cross_entropy.py", "_VocabParallelCrossEntropy"),)
FUSED = (Place("megatron/core/fusions/fused_cross_entropy.py", "_VocabParallelCrossEntropy"),)
TP1, TP2, TP4 = Cut(), Cut(tp=2), Cut(tp=4)
VOCABULARY = 64
# A small vocabulary and small logits: what a shard gets wrong weighs more.
SMOOTHED: dict[str, Any] = {"vocabulary": 8, "scale": 0.5}


def _case(name: str, claim: str, cuts: tuple[Cut, ...], quantity: str, **more: Any) -> Case:
    options = {"vocabulary": VOCABULARY, "kind": "plain"}
    options |= {key: more.pop(key) for key in ("kind", "smoothing", "scale", "vocabulary") if key in more}
    more.setdefault("places", PLAIN)
    oracle = {"kind": "dense"}
    return Case(name, "entropy", claim, "entropy", options, cuts, quantity=quantity, oracle=oracle, code=CODE, **more)


def cases() -> list[Case]:
    """Every case of this family."""
    return [
        _case("cross_entropy_gradient", "the gradient is the dense one for every TP", (TP1, TP2, TP4), "grad"),
        _case("cross_entropy_loss", "the loss is the dense one for every TP", (TP1, TP2, TP4), "loss", essential=True),
        _case(
            "label_smoothing_loss",
            "the smoothed loss is the dense one for every TP",
            (TP1, TP2, TP4),
            "loss",
            smoothing=0.1,
            **SMOOTHED,
        ),
        _case(
            "label_smoothing_gradient",
            "the gradient of the smoothed loss is the dense one for every TP",
            (TP1, TP2, TP4),
            "grad",
            smoothing=0.1,
            **SMOOTHED,
            essential=True,
            essential_cuts=(TP2,),
        ),
        _case(
            "label_smoothing_large_logits",
            "the smoothed loss of large logits is finite",
            (TP1, TP2),
            "loss",
            smoothing=0.1,
            scale=200.0,
        ),
        _case(
            "fused_cross_entropy_gradient",
            "the fused gradient is the dense one within bfloat16, in which it is returned",
            (TP1, TP2),
            "grad",
            kind="fused",
            places=FUSED,
            tolerance=8e-3,
            tolerance_reason="gradients come back in bfloat16: 8 bits of fraction, half a unit is 2e-3",
        ),
        *_gathered(),
    ]


def _gathered() -> list[Case]:
    """Labels meet logits that every rank holds whole (`parallel_output=False`)."""
    claim = "of gathered logits is the dense one for every TP"
    places = (
        Place(
            "megatron/core/models/common/language_module/language_module.py",
            "LanguageModule.compute_language_model_loss",
        ),
    )
    return [
        _case("gathered_logits_loss", f"the loss {claim}", (TP1, TP2), "loss", kind="gathered", places=places),
        _case("gathered_logits_gradient", f"the gradient {claim}", (TP1, TP2), "grad", kind="gathered", places=places),
    ]
