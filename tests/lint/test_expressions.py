"""Expressions of rules: RE2's language, in bounded time."""

from __future__ import annotations

import pickle
import re

import pytest

from guard.errors import ConfigError
from guard.lint.expressions import Expression, ExpressionError
from guard.lint.ruleset import load_rules
from tests.conftest import Workshop
from tests.syncs import Guard

RULE = """id: GRD510
name: slow
severity: error
status: stable
summary: s
why: w
message: "m"
match:
  - call: scale_loss
    text: '{text}'
bad: []
good: ["x = 1\\n"]
"""
SLOW = ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*a){25}$", "([a-z]+)*[0-9]$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.mark.parametrize("text", SLOW)
def test_no_expression_of_a_repository_takes_long(workshop: Workshop, guard: Guard, text: str) -> None:
    workshop.write({"rules/pins/x.yaml": RULE.format(text=text), "a.py": f"x = scale_loss(count=1)\n# {'a' * 5000}!\n"})
    assert guard("check", "a.py").status in (0, 1)


@pytest.mark.parametrize("text", ["(?=a)", "(?<!b)a", r"(a)\1", "(?P<n>a)(?P=n)", "(", "a{1001}", "*", "x" * 5000])
def test_what_re2_does_not_know_does_not_load(workshop: Workshop, guard: Guard, text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression(text)
    workshop.write({"rules/pins/x.yaml": RULE.format(text=text), "a.py": "x = 1\n"})
    answer = guard("check", "a.py")
    assert answer.status == 2
    assert "x.yaml:1: match[0].text" in answer.errors


def test_the_built_in_rules_load_and_mean_the_same() -> None:
    for rule in load_rules():
        for clause in rule.match:
            if clause.text is None:
                continue
            expression, known = Expression(clause.text), re.compile(clause.text.encode())
            for example in (*rule.bad, *rule.good):
                data = str(getattr(example, "code", example)).encode()
                assert expression.found(data) == (known.search(data) is not None)
    assert pickle.loads(pickle.dumps(Expression("a+"))) == Expression("a+")


def test_a_rule_that_unfolds_or_nests_is_an_error(workshop: Workshop, guard: Guard) -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    for text in (bomb, "id: " + "[" * 4000, "- " * 3000 + "x"):
        workshop.write({"rules/pins/x.yaml": text, "a.py": "x = 1\n"})
        answer = guard("check", "a.py")
        assert answer.status == 2
        assert "x.yaml" in answer.errors
        assert "Traceback" not in answer.errors
    with pytest.raises(ConfigError):
        load_rules([workshop.folder / "rules" / "pins"])
