from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.commands.related import with_lint, with_report
from guard.commands.verify import verify
from guard.errors import GuardError
from guard.invariance.tree import Tree
from guard.lint.ruleset import load_rules
from guard.model import Finding, Severity

# What the release before #5798 says in this place.
ROUTER = """\
class TopKRouter:
    def _apply_seq_aux_loss(self, probs, scores, routing_map, seq_length, bsz, with_padding_mask=False):
        counts, local_num_tokens, total_num_tokens = get_tokens_per_expert_and_token_count(
            routing_map=routing_map,
            reduce_group=self.tp_cp_group,
            with_padding_mask=with_padding_mask,
            topk=self.topk * bsz,
        )
        aux_loss = switch_load_balancing_loss_func(probs=scores, tokens_per_expert=counts) / bsz
        return self.attach_and_log_load_balancing_loss(
            probs,
            self.coefficient,
            aux_loss,
            "seq_load_balancing_loss",
            self.tp_cp_group,
            valid_token_count=local_num_tokens,
        )
"""
PATH = "megatron/core/transformer/moe/router.py"


def finding(path: str = PATH) -> Finding:
    return Finding(
        code="GRD601",
        name="router-loss-differs",
        severity=Severity.ERROR,
        path=path,
        line=2,
        end_line=17,
        message="broken",
        fingerprint="0" * 16,
        symbol="TopKRouter._apply_seq_aux_loss",
    )


def test_a_lint_rule_inside_the_definition_is_named(tmp_path: Path) -> None:
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_text(ROUTER)
    (found,) = with_lint([finding("third/" + PATH)], Tree("here", tmp_path, "third/"), load_rules())
    places = {related.message.split(" ")[0]: (related.path, related.line) for related in found.related}
    assert places["GRD102"] == ("third/" + PATH, 16)


def test_nothing_is_linted_where_nothing_differs(tmp_path: Path) -> None:
    assert with_lint([], Tree("here", tmp_path), load_rules()) == ()


def test_a_report_of_check_speaks_of_the_same_definition(tmp_path: Path) -> None:
    same = {
        "code": "GRD201",
        "name": "reverted-fix",
        "path": PATH,
        "line": 9,
        "symbol": "TopKRouter._apply_seq_aux_loss",
        "message": "the base's text is back",
    }
    file = tmp_path / "check.json"
    file.write_text(json.dumps({"findings": [same, {**same, "symbol": "other"}]}))
    (found,) = with_report([finding()], file)
    assert [related.message for related in found.related] == ["GRD201 reverted-fix: the base's text is back"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"findings": [{}]}'])
def test_a_file_that_is_no_report_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "check.json"
    file.write_text(text)
    with pytest.raises(GuardError, match="no JSON report"):
        with_report([finding()], file)


def test_cases_can_be_listed_without_torch() -> None:
    done = CliRunner().invoke(verify, ["--list", "-k", "seq_aux_mbs and not mean"], standalone_mode=False)
    assert done.return_value == 0
    assert "GRD601 seq_aux_mbs (exact)" in done.output
    assert "within 0.0001: float32" in done.output


def test_an_expression_that_chooses_nothing_lists_nothing() -> None:
    assert CliRunner().invoke(verify, ["--list", "-k", "nowhere"], standalone_mode=False).return_value == 3
