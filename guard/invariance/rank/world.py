"""One rank's place in a cut: the groups it belongs to and the share of the batch it sees."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from guard.invariance.case import Cut
from guard.invariance.rank.tree import module


@dataclass(frozen=True)
class World:
    """The place of this rank.

    Attributes:
        cut: sizes of the groups.
        device: where tensors live.
        dp_rank, cp_rank, tp_rank, ep_rank, etp_rank, pp_rank: coordinates in the groups.
    """

    cut: Cut
    device: torch.device
    dp_rank: int
    cp_rank: int
    tp_rank: int
    ep_rank: int
    etp_rank: int
    pp_rank: int = 0

    @property
    def chunks(self) -> int:
        """Model chunks that this rank holds."""
        return self.cut.vpp or 1

    def is_first(self, chunk: int) -> bool:
        """Whether a chunk of this rank begins the model."""
        return self.pp_rank == 0 and chunk == 0

    def is_last(self, chunk: int) -> bool:
        """Whether a chunk of this rank ends the model."""
        return self.pp_rank == self.cut.pp - 1 and chunk == self.chunks - 1

    @property
    def etp(self) -> int:
        """Size of the expert tensor-parallel group."""
        return self.cut.tp if self.cut.etp is None else self.cut.etp

    def sequences(self, total: int) -> list[list[int]]:
        """Indices of this rank's sequences out of `total`, one list a micro-batch."""
        share = total // self.cut.dp
        mine = list(range(self.dp_rank * share, (self.dp_rank + 1) * share))
        return [mine[start : start + self.cut.mbs] for start in range(0, share, self.cut.mbs)]

    def positions(self, length: int, layout: str) -> list[int]:
        """Positions of a sequence of `length` that this context-parallel rank holds.

        `zigzag` is Megatron's balanced layout (chunks r and 2·CP-1-r of 2·CP), `contiguous` one chunk of CP.
        """
        if self.cut.cp == 1:
            return list(range(length))
        if layout == "contiguous":
            size = length // self.cut.cp
            return list(range(self.cp_rank * size, (self.cp_rank + 1) * size))
        size = length // (2 * self.cut.cp)
        chunks = (self.cp_rank, 2 * self.cut.cp - 1 - self.cp_rank)
        return [chunk * size + offset for chunk in chunks for offset in range(size)]

    def sequence_shard(self, tensor: torch.Tensor) -> torch.Tensor:
        """This tensor-parallel rank's chunk of dimension 0 (the sequence-parallel layout)."""
        return tensor.chunk(self.cut.tp, dim=0)[self.tp_rank] if self.cut.tp > 1 else tensor


def join(backend: str, store: dist.Store, rank: int, size: int, timeout: float) -> None:
    """Join the default group of one run."""
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=size, timeout=timedelta(seconds=max(timeout, 1.0))
    )


def build_groups(cut: Cut, device: torch.device) -> World:
    """Build the model-parallel groups of the cut on the default group, and say where this rank is."""
    state: Any = module("megatron.core.parallel_state")
    state.initialize_model_parallel(
        tensor_model_parallel_size=cut.tp,
        pipeline_model_parallel_size=cut.pp,
        virtual_pipeline_model_parallel_size=cut.vpp,
        context_parallel_size=cut.cp,
        expert_model_parallel_size=cut.ep,
        expert_tensor_parallel_size=cut.etp,
        create_gloo_process_groups=False,
    )
    return World(
        cut=cut,
        device=device,
        dp_rank=state.get_data_parallel_rank(),
        cp_rank=state.get_context_parallel_rank(),
        tp_rank=state.get_tensor_model_parallel_rank(),
        ep_rank=state.get_expert_model_parallel_rank(),
        etp_rank=state.get_expert_tensor_parallel_rank(),
        pp_rank=state.get_pipeline_model_parallel_rank(),
    )


def leave_groups() -> None:
    """Take the model-parallel groups down again."""
    state: Any = module("megatron.core.parallel_state")
    state.destroy_model_parallel()
