"""What a wrong gradient is made of: the gradients of its micro-batches and ranks alone, put together in known ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from guard.invariance.case import Cut
from guard.invariance.training.jobs import Job

Gradients = Mapping[str, torch.Tensor]

MOST_PARTS = 16  # micro-batches measured alone; each costs a process
FITS = 2e-3  # share of the gradient's norm that a combination may leave unexplained in float32


@dataclass(frozen=True)
class Combination:
    """A way in which the parts may have been put together.

    Attributes:
        meaning: what that is, one phrase.
        weights: factor of each part.
    """

    meaning: str
    weights: tuple[float, ...]


def parts_of(job: Job) -> list[Job]:
    """The jobs that measure each micro-batch of each rank alone, in order of ranks."""
    alone = [chosen for mine in job.indices for chosen in mine]
    return [Job(Cut(mbs=len(chosen)), ((chosen,),)) for chosen in alone]


def shares_of(job: Job) -> list[Job]:
    """The jobs that measure what each rank holds as one micro-batch."""
    held = [tuple(i for chosen in mine for i in chosen) for mine in job.indices]
    return [Job(Cut(mbs=len(chosen)), ((chosen,),)) for chosen in held]


def diagnose(job: Job, measured: Gradients, alone: Callable[[Sequence[Job]], Sequence[Gradients]]) -> str | None:
    """Name the way in which the gradient of a cut was put together, if it is a known one.

    Arguments:
        job: the cut.
        measured: its gradients.
        alone: measures some jobs of one micro-batch each.

    Returns:
        Such as `the mean of the means of its micro-batches`; None where no combination explains the gradient.
    """
    micro, shares = parts_of(job), shares_of(job)
    if len(micro) > MOST_PARTS:
        return None
    jobs = list(dict.fromkeys((*micro, *shares)))
    known = dict(zip(jobs, alone(jobs), strict=True))
    for chosen, combinations in ((shares, _of_ranks(job)), (micro, _of_micro_batches(job))):
        parts = [known[part] for part in chosen]
        for combination in combinations:
            scale = _fit(measured, parts, combination.weights)
            if scale is not None:
                return combination.meaning + _named(scale, job)
    return None


def _of_micro_batches(job: Job) -> list[Combination]:
    steps, ranks = len(job.indices[0]), job.ranks
    count = steps * ranks
    found = [Combination("the mean of the means of its micro-batches (each weighs the same)", (1 / count,) * count)]
    if steps > 1:
        last = tuple(1 / ranks if step == steps - 1 else 0.0 for _ in range(ranks) for step in range(steps))
        first = tuple(1 / ranks if step == 0 else 0.0 for _ in range(ranks) for step in range(steps))
        found.append(Combination("the last micro-batch alone (gradients cleared between micro-batches)", last))
        found.append(Combination("the first micro-batch alone", first))
    if ranks > 1:
        mine = tuple(1 / steps if rank == 0 else 0.0 for rank in range(ranks) for _ in range(steps))
        found.append(Combination("the means of rank 0's micro-batches alone (no reduction over DP)", mine))
    return found


def _of_ranks(job: Job) -> list[Combination]:
    ranks = job.ranks
    if ranks == 1:
        return []
    mean = Combination("the mean of the ranks' own means (each rank weighs the same)", (1 / ranks,) * ranks)
    first = Combination("rank 0's share alone (no reduction over DP)", (1.0,) + (0.0,) * (ranks - 1))
    return [mean, first]


def _fit(measured: Gradients, parts: Sequence[Gradients], weights: Sequence[float]) -> float | None:
    """The factor by which the weighted sum of the parts is the measured gradient, or None if it is not that."""
    if any(set(part) != set(measured) for part in parts):
        return None
    names = sorted(measured)
    wanted = torch.cat([measured[name].flatten() for name in names])
    made = sum(
        (
            weight * torch.cat([part[name].flatten() for name in names])
            for weight, part in zip(weights, parts, strict=True)
        ),
        start=torch.zeros_like(wanted),
    )
    power = float(made @ made)
    if not power or not torch.isfinite(wanted).all():
        return None
    scale = float(made @ wanted) / power
    left = float((wanted - scale * made).norm())
    return scale if left <= FITS * float(wanted.norm()) else None


def _named(scale: float, job: Job) -> str:
    if abs(scale - 1.0) <= FITS:
        return ""
    for name, value in scales_of(job.ranks, len(job.indices[0])).items():
        if value != 1 and abs(scale / value - 1.0) <= FITS:
            return f", times {value:g} (= {name})"
    return f", times {scale:.4g}"


def scales_of(dp: int, accumulation: int) -> dict[str, float]:
    """The numbers that a wrong gradient may be off by, by name; the likeliest first."""
    sizes = {"DP": dp, "accumulation": accumulation, "DP·accumulation": dp * accumulation}
    inverses = {f"1/({name})" if "·" in name else f"1/{name}": 1 / size for name, size in sizes.items()}
    return {**{name: float(size) for name, size in sizes.items()}, **inverses}


def scale_of(reference: Gradients, measured: Gradients) -> float | None:
    """The one number by which the measured gradient is the reference, if there is one."""
    return _fit(measured, [reference], [1.0])


def name_together(scales: Sequence[tuple[int, int, float]]) -> str | None:
    """The name that explains the scales of all cuts: of one cut alone DP and the accumulation may be the same number.

    Arguments:
        scales: DP, accumulation and scale of each cut.
    """
    for name in scales_of(1, 1):
        if all(abs(scale / scales_of(dp, steps)[name] - 1.0) <= FITS for dp, steps, scale in scales):
            return name
    return None
