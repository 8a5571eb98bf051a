"""Where pieces lie is the harness's own knowledge, and what breaks in one case stays there."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from guard.invariance.case import Case, Cut, Place  # noqa: E402
from guard.invariance.compare import compare  # noqa: E402
from guard.invariance.launch.answer import Failed, Measured  # noqa: E402
from guard.invariance.measuring import measure_cases  # noqa: E402
from guard.invariance.rank.placement import place_parameters  # noqa: E402
from guard.invariance.rank.shard import Shard, join, piece_of  # noqa: E402
from guard.invariance.rank.world import World  # noqa: E402


class ColumnParallelLinear(torch.nn.Module):
    def __init__(self, gated: bool = False) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(4, 3))
        self.bias = torch.nn.Parameter(torch.zeros(4))
        self.config = type("Config", (), {"gated_linear_unit": gated})


class RowParallelLinear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3, 4))
        self.bias = torch.nn.Parameter(torch.zeros(3))


class Block(torch.nn.Module):
    def __init__(self, gated: bool = False) -> None:
        super().__init__()
        self.linear_fc1 = ColumnParallelLinear(gated)
        self.linear_fc2 = RowParallelLinear()
        self.norm = torch.nn.LayerNorm(3)
        self.softmax_offset = torch.nn.Parameter(torch.zeros(2))


def world(tp: int, rank: int) -> World:
    return World(Cut(tp=tp), torch.device("cpu"), 0, 0, rank, 0, rank)


def places(module: Any, where: World) -> dict[str, tuple[Any, ...]]:
    place_parameters(where, module)
    return {
        name: (parameter.placement.axis, parameter.placement.index, parameter.placement.count)
        for name, parameter in module.named_parameters()
    }


def test_pieces_are_placed_without_any_attribute_of_the_tree() -> None:
    assert places(Block(), world(2, 1)) == {
        "linear_fc1.weight": (0, 1, 2),
        "linear_fc1.bias": (0, 1, 2),
        "linear_fc2.weight": (1, 1, 2),
        "linear_fc2.bias": (None, 0, 1),
        "norm.weight": (None, 0, 1),
        "norm.bias": (None, 0, 1),
        "softmax_offset": (0, 1, 2),
    }


def test_what_one_rank_holds_whole_is_cut_nowhere() -> None:
    assert {axis for axis, _index, _count in places(Block(), world(1, 0)).values()} == {None}


def test_the_gate_and_the_value_of_a_gated_unit_are_cut_one_by_one() -> None:
    block = Block(gated=True)
    place_parameters(world(2, 1), block)
    full = torch.arange(8.0).unsqueeze(1).expand(8, 3)
    piece = piece_of(full, block.linear_fc1.weight.placement)
    assert piece[:, 0].tolist() == [2.0, 3.0, 6.0, 7.0]


def test_replicas_of_unequal_shape_diverge() -> None:
    shards = [[Shard("a", torch.zeros(size), None, 0, 1)] for size in (2, 3)]
    assert join(shards)[1] == {"a": float("inf")}


CASE = Case("some", "family", "claim", "program", {}, (Cut(tp=2),), places=(Place("a.py", "b"),))


def test_unequal_shapes_differ_and_are_named() -> None:
    found = compare(CASE, Cut(tp=2), Measured({"grad:a": torch.zeros(2, 3)}), Measured({"grad:a": torch.zeros(2, 2)}))
    assert found.reason == "a has shape [2, 2], the reference [2, 3]"


class Launcher:
    """Answers of one rank are fine; those of two cannot be put together."""

    def measure(self, run: Any) -> Any:
        if run.cut.ranks == 1:
            return Measured({"grad:a": torch.ones(2)})
        if run.cut.tp == 2:
            raise RuntimeError("Sizes of tensors must match")
        return Failed("rank 1: the rank ended without an answer: killed by SIGSEGV")

    def close(self) -> None: ...


def test_what_breaks_in_one_case_is_its_own_and_the_rest_goes_on() -> None:
    records: list[dict[str, Any]] = []
    chosen = [(CASE, Cut(tp=2)), (CASE, Cut(dp=2)), (CASE, Cut())]
    measure_cases(chosen, Launcher(), 4, records.append)
    ended = [record for record in records if record["type"] == "case"]
    assert [record["status"] for record in ended] == ["failed", "failed", "ok"]
    assert "Sizes of tensors must match" in ended[0]["reason"]
    assert "SIGSEGV" in ended[1]["reason"]
