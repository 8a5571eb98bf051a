"""Two measurements against each other: ratio, relative difference, and what the ratio equals. Torch, worker side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from guard.invariance.case import Case, Cut
from guard.invariance.launch.answer import Measured

# A parameter whose whole gradient is rounding noise next to the largest one has no relative difference worth naming.
NOISE_FLOOR = 1e-3
NAMED_WITHIN = 5e-3


@dataclass(frozen=True)
class Comparison:
    """How one measurement stands to its reference.

    Attributes:
        ratio: |g_cut| / |g_ref| over all compared tensors.
        rel: the largest, over tensors, of max|g_cut - g_ref| / max|g_ref|.
        worst: name of that tensor.
        equals: what the ratio equals, such as `1/CP`, if it is a pure scale with a known name.
        apart: largest relative distance of two replicas of one tensor, and its name.
        reason: why it differs, one line; None where it does not.
    """

    ratio: float | None
    rel: float | None
    worst: str | None
    equals: str | None
    apart: float
    reason: str | None

    @property
    def same(self) -> bool:
        """Whether the claim holds."""
        return self.reason is None


def compare(case: Case, cut: Cut, reference: Measured, measured: Measured) -> Comparison:
    """Compare the tensors of the case's quantity."""
    names = [name for name in reference.tensors if name.startswith(case.quantity)]
    missing = [name for name in names if name not in measured.tensors]
    extra = [name for name in measured.tensors if name.startswith(case.quantity) and name not in reference.tensors]
    if missing or extra or not names:
        which = ", ".join((missing or extra)[:3]) or "nothing"
        return Comparison(None, None, None, None, 0.0, f"the two measurements do not hold the same tensors: {which}")
    unequal = [name for name in names if reference.tensors[name].shape != measured.tensors[name].shape]
    if unequal:
        first, second = (list(side.tensors[unequal[0]].shape) for side in (reference, measured))
        reason = f"{unequal[0].removeprefix('grad:')} has shape {second}, the reference {first}"
        return Comparison(None, None, unequal[0], None, 0.0, reason)
    replicas = [(gap, name) for name, gap in measured.apart.items() if name.startswith(case.quantity)]
    apart, divergent = max(replicas, default=(0.0, ""))
    pairs = {name: (reference.tensors[name].double(), measured.tensors[name].double()) for name in names}
    if any(not torch.isfinite(tensor).all() for pair in pairs.values() for tensor in pair):
        side = "reference" if any(not torch.isfinite(first).all() for first, _ in pairs.values()) else "cut"
        return Comparison(None, None, None, None, apart, f"the {side} is not finite (inf or NaN)")
    largest = max(first.abs().max().item() for first, _ in pairs.values())
    if largest == 0.0:
        return Comparison(None, None, None, None, apart, "the reference is zero everywhere: nothing was measured")
    rels = {
        name: (second - first).abs().max().item() / max(first.abs().max().item(), NOISE_FLOOR * largest)
        for name, (first, second) in pairs.items()
    }
    worst = max(rels, key=lambda name: rels[name])
    ratio = _norm([second for _, second in pairs.values()]) / _norm([first for first, _ in pairs.values()])
    rel = rels[worst]
    equals = name_of(ratio, case, cut) if _is_scale(pairs, ratio, largest) else _offset(pairs, cut, largest)
    return Comparison(ratio, rel, worst, equals, apart, _reason(case, ratio, rel, worst, equals, apart, divergent))


def _reason(
    case: Case, ratio: float, rel: float, worst: str, equals: str | None, apart: float, divergent: str
) -> str | None:
    parts = []
    if rel > case.tolerance:
        named = f" (= {equals})" if equals else ""
        parts.append(f"ratio {ratio:.4f}{named}, rel {rel:.1e}, most in {worst.removeprefix('grad:')}")
    if apart > case.tolerance:
        parts.append(f"replicas diverge by {apart:.1e} in {divergent.removeprefix('grad:')}")
    return "; ".join(parts) or None


def _norm(tensors: list[torch.Tensor]) -> float:
    return float(sum(tensor.square().sum().item() for tensor in tensors) ** 0.5)


def _is_scale(pairs: dict[str, tuple[torch.Tensor, torch.Tensor]], ratio: float, largest: float) -> bool:
    """Whether the cut is the reference times one number."""
    residual = max((second - ratio * first).abs().max().item() for first, second in pairs.values())
    return bool(residual <= 1e-3 * max(ratio, 1e-6) * largest)


def _offset(pairs: dict[str, tuple[torch.Tensor, torch.Tensor]], cut: Cut, largest: float) -> str | None:
    """What the cut adds to every number of the reference, if it is one number with a known name."""
    gaps = torch.cat([(second - first).flatten() for first, second in pairs.values()])
    known = {"log TP": math.log(cut.tp), "log CP": math.log(cut.cp)}
    for name, value in known.items():
        if value and (gaps - value).abs().max().item() <= 1e-3 * largest:
            return f"reference + {name}"
    return None


def name_of(ratio: float, case: Case, cut: Cut) -> str | None:
    """What a ratio that is not 1 equals, from the sizes of the cut and the numbers that the case names."""
    reference = case.reference or Cut(mbs=cut.mbs)
    sizes = {"MBS": reference.mbs / cut.mbs, "DP": cut.dp, "CP": cut.cp, "TP": cut.tp, "TP·CP": cut.tp * cut.cp}
    sizes |= {"EP": cut.ep, **{name: float(size) for name, size in case.scales.items()}}
    if abs(ratio - 1.0) <= NAMED_WITHIN:
        return None
    for name in sorted(sizes, key=len):
        inverse = f"1/({name})" if "·" in name else f"1/{name}"
        for text, value in ((name, sizes[name]), (inverse, 1 / sizes[name])):
            if sizes[name] != 1 and abs(ratio / value - 1.0) <= NAMED_WITHIN:
                return text
    return None
