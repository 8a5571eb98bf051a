"""What is to be run: the step with its batch, and the cuts of it."""

from __future__ import annotations

import contextlib
import pickle
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

from guard.invariance.case import Cut
from guard.invariance.training.batches import Batch, Collate, accumulation, choose, indices_of
from guard.invariance.training.share import GradientsAtStep, Share, Step

Tensors = dict[str, torch.Tensor]


class StepFailedError(Exception):
    """A rank raised, died or hung; the text says which, and where."""


@dataclass(frozen=True)
class Job:
    """One cut to run: sample indices of each rank's micro-batches, in order."""

    cut: Cut
    indices: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def ranks(self) -> int:
        """How many processes it needs."""
        return len(self.indices)


def job_of(cut: Cut, total: int) -> Job:
    """The job of a cut of a batch of `total` samples.

    Raises:
        CutError: the batch cannot be cut so.
    """
    accumulation(cut, total)
    return Job(cut, tuple(tuple(map(tuple, indices_of(cut, total, rank))) for rank in range(cut.dp)))


@dataclass(frozen=True)
class Bench:
    """Everything that stays the same over the cuts of one check."""

    step: Step
    batch: Batch
    collate: Collate | None
    device: str
    timeout: float

    def payload(self) -> bytes:
        """What a rank needs to know, pickled; by `cloudpickle` where it is installed and plain pickle cannot.

        Raises:
            StepFailedError: the step cannot be sent to another process.
        """
        try:
            return pickle.dumps(self)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            try:
                import cloudpickle
            except ImportError:
                raise StepFailedError(
                    f"the step cannot be sent to the rank processes ({error}): define it at the top of a module, or "
                    "install cloudpickle"
                ) from error
            data: bytes = cloudpickle.dumps(self)
            return data


def measure(bench: Bench, job: Job, rank: int, store: str) -> Tensors:
    """Run the step as one rank of a job, inside its process group, and take its gradients."""
    device = torch.device(f"cuda:{rank % torch.cuda.device_count()}" if bench.device == "cuda" else "cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group(
        "nccl" if device.type == "cuda" else "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=job.ranks,
        timeout=timedelta(seconds=2 * bench.timeout),  # whoever waits for the ranks gives up first, and asks for stacks
    )
    share = Share(
        rank=rank,
        dp=job.ranks,
        micro_batch_size=job.cut.mbs,
        accumulation=len(job.indices[rank]),
        micro_batches=[choose(bench.batch, chosen, bench.collate) for chosen in job.indices[rank]],
        batch=choose(bench.batch, sorted(i for mine in job.indices for chosen in mine for i in chosen), None),
        device=device,
    )
    torch.manual_seed(0)
    with GradientsAtStep() as gradients:
        tensors = gradients.of(bench.step(share))
    dist.barrier()
    with contextlib.suppress(RuntimeError, ValueError, AssertionError):  # the step may have taken it down
        dist.destroy_process_group()
    return tensors
