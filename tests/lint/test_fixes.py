"""Edits change what they mean to and not a byte more."""

from __future__ import annotations

import pytest

from guard.errors import NotAnalysedError
from guard.lint.fixes import fix_source
from guard.lint.language import Rule
from guard.lint.source import Source
from tests.lint.programs import BUILTIN, lint_text

BAD = (
    b"import torch\n\ndef start(comm):   # odd   spacing\n"
    b"    comm . wait_stream( torch.cuda.default_stream() )  # why\n"
)


@pytest.mark.parametrize("rule", [rule for rule in BUILTIN if rule.fix is not None], ids=lambda rule: rule.id)
def test_a_fixed_example_is_clean(rule: Rule) -> None:
    for code in rule.bad:
        chosen = BUILTIN.only([rule.id], ())
        result = fix_source(Source("p.py", code.encode()), chosen)
        if not any(finding.fixable for finding in lint_text(code, chosen)):
            assert result.data is None
            continue
        assert result.data is not None
        assert lint_text(result.data.decode(), chosen) == ()


def test_the_rest_of_the_file_stays_as_it_was() -> None:
    result = fix_source(Source("p.py", BAD), BUILTIN)
    assert result.data == BAD.replace(
        b"comm . wait_stream( torch.cuda.default_stream() )", b"comm . wait_stream( torch.cuda.current_stream() )"
    )
    assert result.fixed == (("current-stream", 4),)


@pytest.mark.parametrize(
    "data",
    [
        BAD.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BAD,
        b"# coding: latin-1\n# \xe9\n" + BAD,
        b"\x0c" + BAD,
        BAD.rstrip(b"\n"),
    ],
)
def test_encodings_and_line_ends_survive(data: bytes) -> None:
    try:
        result = fix_source(Source("p.py", data), BUILTIN)
    except NotAnalysedError as refused:
        reason = refused.reason
    else:
        reason = ""
    if reason:
        assert "round trip" in reason or "not found" in reason
        return
    assert result.data is not None
    old, new = (
        b"comm . wait_stream( torch.cuda.default_stream() )",
        b"comm . wait_stream( torch.cuda.current_stream() )",
    )
    assert result.data == data.replace(old, new)


def test_an_argument_keeps_its_meaning_when_it_becomes_a_factor() -> None:
    code = """
class Router:
    def seq(self, probs, scores, n, bsz):
        scores = scores.reshape(n, -1)
        loss = switch(scores) / bsz
        return self.attach_and_log_load_balancing_loss(
            probs, 1.0, loss, "seq", self.group,
            valid_token_count=n + 1,  # per sequence
        )
"""
    result = fix_source(Source("p.py", code.encode()), BUILTIN)
    assert result.data is not None
    assert "valid_token_count=(n + 1) * bsz,  # per sequence" in result.data.decode()


def test_a_keyword_is_added_in_the_layout_of_the_call() -> None:
    code = """
def loss_func(loss_mask, output):
    loss = torch.sum(output * loss_mask)
    torch.distributed.all_reduce(
        loss,
        group=mpu.get_data_parallel_group(),
    )
    return loss
"""
    result = fix_source(Source("p.py", code.encode()), BUILTIN)
    assert result.data is not None
    assert "group=mpu.get_data_parallel_group(with_context_parallel=True),\n" in result.data.decode()


@pytest.mark.parametrize(
    "head",
    [
        "x = () if 0 else(lambda:())\n",
        "x = (" + "\n".join(["'a'"] * 500) + ")\n",
        "x = " + " + ".join(["a"] * 1000) + "\n",
    ],
)
def test_a_file_that_libcst_may_not_carry_is_left_alone_or_carried_whole(head: str) -> None:
    try:
        data = fix_source(Source("p.py", head.encode() + BAD), BUILTIN).data
    except NotAnalysedError:
        return
    assert data is not None
    assert data.startswith(head.encode())


def test_suppressed_places_are_not_edited() -> None:
    code = BAD.replace(b"# why", b"# guard: allow[current-stream] it is meant")
    assert fix_source(Source("p.py", code), BUILTIN).data is None
