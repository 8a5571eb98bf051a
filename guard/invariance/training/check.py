"""`check`: the invariance of a training step that the user brings, of whatever framework."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from guard.invariance.case import TOLERANCE, Case, Cut
from guard.invariance.compare import compare
from guard.invariance.launch.answer import Measured
from guard.invariance.training.batches import Batch, Collate, CutError, accumulation, default_cuts, size
from guard.invariance.training.diagnosis import diagnose, name_together, scale_of
from guard.invariance.training.jobs import Bench, Job, StepFailedError, job_of
from guard.invariance.training.ranks import Ranks
from guard.invariance.training.report import StepReport, StepRow
from guard.invariance.training.share import Share, Step

Reference = Callable[[Any], torch.nn.Module | Mapping[str, torch.Tensor]]


def check(
    step: Step,
    batch: Batch,
    cuts: Sequence[Cut] | None = None,
    reference: Cut | Reference | None = None,
    *,
    collate: Collate | None = None,
    tolerance: float = TOLERANCE,
    device: str = "cpu",
    timeout: float = 120.0,
) -> StepReport:
    """Measure whether the gradients of a training step depend on how its global batch is cut.

    The step runs once a cut, on as many fresh processes as the cut has data-parallel ranks, each with its own
    micro-batches and an initialised `torch.distributed` (Gloo on the CPU, NCCL on GPUs). It must build its model alike
    every time (`torch.manual_seed` inside it). Compared is the gradient that an optimizer finds at its first `step()`,
    or else `.grad` when the step returns; so a step must not clip, or clip at infinity.

    Arguments:
        step: takes a `Share`; returns its model, or tensors by name (a logged loss, a norm). Defined at the top of a
            module.
        batch: the global batch: tensors by name, all [samples, ...], or a sequence of samples.
        cuts: which cuts to measure; micro-batches of 1 and 2 and two data-parallel ranks by default.
        reference: what each must equal: a cut, by default the whole batch as one micro-batch on one rank, or a function
            of the whole batch that computes the same tensors independently; then the uncut step is measured too.
        collate: makes a micro-batch out of a list of samples; rows of the tensors by default. `Share.batch` stays as
            it was given.
        tolerance: the largest relative difference that counts as equal.
        device: `cpu` or `cuda`.
        timeout: seconds one cut may take.

    Returns:
        A report: true if every cut holds. Its text names the ratio (1/DP, the accumulation steps, ...) and, where the
        wrong gradient is a known combination of those of its micro-batches, that combination (a mean of means).

    Raises:
        CutError: the batch does not divide into a cut.
        StepFailedError: the reference could not be measured, so nothing could be compared.
    """
    total = size(batch)
    uncut = Cut(mbs=total)
    against = reference if isinstance(reference, Cut) else uncut
    wanted = tuple(cuts) if cuts is not None else default_cuts(total)
    if callable(reference) and uncut not in wanted:
        wanted = (uncut, *wanted)
    if not wanted:
        raise CutError(f"no cut to measure for a batch of {total}: give some")
    for cut in (*wanted, against):
        accumulation(cut, total)
    if device not in {"cpu", "cuda"}:
        raise CutError(f"device must be cpu or cuda, not {device}")
    with Ranks(Bench(step, batch, collate, device, timeout)) as ranks:
        measured = _Measured(ranks)
        if callable(reference):
            with Ranks(Bench(_Independent(reference), batch, None, device, timeout)) as alone:
                expected = Measured(alone.run([job_of(uncut, total)])[0][0])
            name = getattr(reference, "__name__", "a function of the batch")
        else:
            expected = measured.of(job_of(against, total))
            name = f"{against.label()} on one rank" if against.dp == 1 else against.label()
        rows = [_row(cut, total, expected, tolerance, measured) for cut in wanted]
        return StepReport(tuple(_with_cause(_named(rows), total, measured)), name, tolerance)


@dataclass(frozen=True)
class _Independent:
    """A reference function as a step."""

    function: Reference

    def __call__(self, share: Share) -> torch.nn.Module | Mapping[str, torch.Tensor]:
        return self.function(share.batch)


class _Measured:
    """Measures each job once."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._known: dict[Job, Measured] = {}

    def of(self, job: Job) -> Measured:
        return self.of_all([job])[0]

    def of_all(self, jobs: Sequence[Job]) -> list[Measured]:
        """Measure jobs of as many ranks each; those not known yet share their processes."""
        missing = [job for job in jobs if job not in self._known]
        if missing:
            self._known |= {job: _join(ranks) for job, ranks in zip(missing, self._ranks.run(missing), strict=True)}
        return [self._known[job] for job in jobs]


def _join(ranks: Sequence[Mapping[str, torch.Tensor]]) -> Measured:
    """Rank 0's tensors, and how far another rank's are from them: data-parallel replicas must agree."""
    first = ranks[0]
    apart: dict[str, float] = {}
    for other in ranks[1:]:
        for name in first.keys() | other.keys():
            if name not in first or name not in other or first[name].shape != other[name].shape:
                apart[name] = math.inf
                continue
            largest = max(first[name].abs().max().item(), other[name].abs().max().item(), 1e-30)
            gap = (first[name] - other[name]).abs().max().item() / largest
            apart[name] = max(apart.get(name, 0.0), gap)
    return Measured(dict(first), apart)


def _row(cut: Cut, total: int, expected: Measured, tolerance: float, measured: _Measured) -> StepRow:
    job = job_of(cut, total)
    steps = accumulation(cut, total)
    try:
        found = measured.of(job)
    except StepFailedError as error:
        return StepRow(cut, steps, "failed", reason=str(error))
    shapes = [n for n, t in expected.tensors.items() if n in found.tensors and found.tensors[n].shape != t.shape]
    if shapes:
        return StepRow(cut, steps, "differs", reason=f"{shapes[0]} has another shape than in the reference")
    # No cut: what a ratio equals is told from all cuts together.
    case = Case("step", "training", "", program="", options={}, cuts=(cut,), tolerance=tolerance)
    compared = compare(case, Cut(mbs=cut.mbs), expected, found)
    if compared.same:
        return StepRow(cut, steps, "ok", compared.ratio, compared.rel, scale=1.0)
    scale = scale_of(expected.tensors, found.tensors) if compared.ratio is not None else None
    reason = None if scale is not None and not compared.apart > tolerance else compared.reason
    return StepRow(cut, steps, "differs", compared.ratio, compared.rel, reason, scale=scale)


def _named(rows: Sequence[StepRow]) -> list[StepRow]:
    """The rows, whose scales have the name that explains them all."""
    scales = [(row.cut.dp, row.accumulation, row.scale) for row in rows if row.scale is not None]
    name = name_together(scales)
    return [replace(row, named=name) if row.status == "differs" and row.scale is not None else row for row in rows]


def _with_cause(rows: Sequence[StepRow], total: int, measured: _Measured) -> Iterator[StepRow]:
    """The rows; of those that are no scale of the reference, the simplest says what its gradient is made of."""
    nameless = [row for row in rows if row.status == "differs" and row.scale is None and row.ratio is not None]
    asked = min(nameless, key=lambda row: (row.cut.dp, row.accumulation), default=None)
    for row in rows:
        if row is not asked:
            yield row
            continue
        job = job_of(row.cut, total)
        try:
            made_of = diagnose(job, measured.of(job).tensors, lambda jobs: [m.tensors for m in measured.of_all(jobs)])
        except StepFailedError:
            made_of = None  # a micro-batch alone cannot be run: the difference stands without its cause
        yield replace(row, made_of=made_of)
