from __future__ import annotations

import pytest

from guard.invariance.selection import SelectionError, compile_expression


@pytest.mark.parametrize(
    ("expression", "texts", "expected"),
    [
        ("seq_aux", ["seq_aux_mbs"], True),
        ("seq_aux and not mean", ["seq_aux_mbs_mean"], False),
        ("(mtp or lm) and cp2", ["mtp_mean_cp_tail", "cp2", "mbs4"], True),
        ("SEQ_AUX", ["seq_aux_mbs"], True),
        ("not router", ["lm_per_token", "language"], True),
        ("fixed-microbatch", ["x", "fixed-microbatch"], True),
    ],
)
def test_expressions(expression: str, texts: list[str], expected: bool) -> None:
    assert compile_expression(expression)(texts) is expected


@pytest.mark.parametrize("expression", ["a b", "and", "(a", "not", "a or", ""])
def test_what_is_no_expression_is_an_error(expression: str) -> None:
    with pytest.raises(SelectionError):
        compile_expression(expression)
