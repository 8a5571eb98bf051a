"""Right code of the kinds that were once reported: each rule is quiet there, or says only a note; its twin is told."""

from __future__ import annotations

import textwrap

import pytest

from tests.lint.programs import lint_tree


def told(code: str, files: dict[str, str]) -> list[tuple[str, str]]:
    found = lint_tree({path: textwrap.dedent(text) for path, text in files.items()}).findings
    return [(finding.path, finding.severity.value) for finding in found if finding.code == code]


@pytest.mark.parametrize(
    "test",
    [
        "x is not None and x.done",
        "force or x is not None",
        "not (x is not None)",
        "x is not None is True",
        "(x is not None) == strict",
        "isinstance(x, Box) and x is not None",
    ],
)
def test_a_compound_test_is_no_test_for_none(test: str) -> None:
    body = "def f(x, force, strict, Box):\n    if {}:\n        return None\n    x.data.reduce()\n"
    assert told("GRD109", {"a.py": body.format(test)}) == []
    assert told("GRD109", {"a.py": body.format("x is not None")}) == [("a.py", "error")]


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import torch.distributed.nn.functional as dist", "dist.all_reduce(x.contiguous())"),
        ("import torch.distributed.nn.functional", "torch.distributed.nn.functional.all_reduce(x.contiguous())"),
        ("from torch.distributed.nn.functional import all_reduce", "all_reduce(x.contiguous())"),
        ("import torch.distributed.nn as dist", "dist.all_reduce(x.contiguous())"),
        ("from torch.distributed import nn", "nn.functional.all_reduce(x.contiguous())"),
        ("from torch.distributed._functional_collectives import all_reduce", "all_reduce(x.contiguous(), 'sum', g)"),
    ],
)
def test_a_collective_that_returns_its_result_writes_into_nothing(imported: str, call: str) -> None:
    assert told("GRD108", {"a.py": f"{imported}\n\ndef f(x, g):\n    {call}\n    return x\n"}) == []


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import torch", "torch.distributed.all_reduce(x.contiguous())"),
        ("import torch.distributed as dist", "dist.all_reduce(x.contiguous(), group=g)"),
        ("from torch.distributed import all_reduce", "all_reduce(x.contiguous())"),
        ("from torch import distributed", "distributed.all_reduce(x.contiguous())"),
        ("from torch.distributed.distributed_c10d import all_reduce", "all_reduce(x.contiguous())"),
    ],
)
def test_a_collective_in_place_does(imported: str, call: str) -> None:
    assert told("GRD108", {"a.py": f"{imported}\n\ndef f(x, g):\n    {call}\n    return x\n"}) == [("a.py", "error")]


ROLL = """
    def roll(tensor, packed_seq_params, cp_group=None):
        cu_seqlens = packed_seq_params.cu_seqlens_q
        return tensor[cu_seqlens]
"""
PACKED = "class PackedSeqParams:\n    cu_seqlens_q: object = None\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"packed.py": PACKED + "    cu_seqlens_q_padded: object = None\n"}, "error"),
        ({"packed.py": PACKED}, "note"),
        ({"tests/packed.py": PACKED + "    cu_seqlens_q_padded: object = None\n"}, "note"),
        ({"use.py": "p = PackedSeqParams(cu_seqlens_q=a, cu_seqlens_q_padded=a)\n"}, "note"),
        ({}, "note"),
    ],
)
def test_padded_boundaries_are_asked_for_where_the_tree_defines_them(files: dict[str, str], severity: str) -> None:
    assert told("GRD110", {"roll.py": ROLL, **files}) == [("roll.py", severity)]


def test_a_callee_outside_the_tree_is_a_warning_and_inside_an_error() -> None:
    caller = """
        from losses import switch_load_balancing_loss_func

        def loss(probs, tokens):
            return switch_load_balancing_loss_func(probs, tokens, 2, 0.1)
    """
    signature = "def switch_load_balancing_loss_func(probs, tokens_per_expert, topk, coeff{}):\n    return probs\n"
    assert told("GRD101", {"call.py": caller}) == [("call.py", "warning")]
    inside = {"call.py": caller, "losses.py": signature.format(", sequence_partition_group=None")}
    assert told("GRD101", inside) == [("call.py", "error")]
    assert told("GRD101", {"call.py": caller, "losses.py": signature.format("")}) == []


@pytest.mark.parametrize("refusal", ["if dp_size > 1:", "if dp_size != 1:"])
def test_a_local_count_that_several_ranks_refuse(refusal: str) -> None:
    body = f"""
        def loss(values, mask, dp_size, batch_num_tokens=None):
            if batch_num_tokens is None:
                {refusal}
                    raise ValueError("the global count is needed")
                batch_num_tokens = mask.sum()
            return (values * mask).sum() / batch_num_tokens * dp_size
    """
    assert told("GRD103", {"a.py": body}) == []
    unguarded = body.replace(f"{refusal}\n", "if mask is None:\n")
    assert told("GRD103", {"a.py": unguarded}) == [("a.py", "error")]
