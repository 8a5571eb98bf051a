"""Looking at single lines must find what the expression finds in the whole text."""

from __future__ import annotations

import random
import re

import pytest
import re2

from guard.lint.texts import TextTest, needed_texts
from tests.lint.programs import BUILTIN

BUILT_IN = sorted({clause.text for rule in BUILTIN for clause in rule.match if clause.text})
OTHERS = [
    "ab",
    "(?m)^a(b|c)$",
    "a$",
    "^a",
    "(?i)ab",
    "(?s)a.b",
    "(?P<x>a)b",
    "a?b",
    "a{2}b",
    "a+b",
    "(ab|c)?b",
    "(ab|c)*b",
    "(?:ab|c)b",
    "(a(b|c))b",
    "(ab|)c",
    "a\\sb",
    "a[^c]b",
    "a[^c\\n]b",
    "a[^\\\\n]b",
    "a[\\t-b]b",
    "[]a]b",
    "\\Bb",
    "a\\Wb",
    "ab|c",
    "a\\|b",
    "a[(]b",
    "\x0aab",
    "a\\\nb",
    "a\\\n?b",
]


@pytest.mark.parametrize("expression", [*BUILT_IN, *OTHERS])
def test_lines_find_what_the_whole_text_has(expression: str) -> None:
    chance = random.Random(expression)
    # Pieces of the expression itself make matches likely, and near misses too.
    pieces = [part for part in re.split(r"[^\w.= /*+(]+", expression) if part] + list("ab()c\n\n\t ./|=0,:\\")
    test, whole = TextTest.of(expression), re2.compile(expression.encode())
    for _ in range(400):
        text = "".join(chance.choices(pieces, k=chance.randint(0, 12))).encode()
        assert test.found(text) is (whole.search(text) is not None), text


@pytest.mark.parametrize("expression", BUILT_IN)
def test_every_match_holds_one_of_the_texts(expression: str) -> None:
    for rule in BUILTIN:
        for text in rule.bad:
            for match in re.finditer(expression, text):
                assert all(any(part in match.group() for part in choice) for choice in needed_texts(expression))


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        ("residual = ", [("residual = ",)]),
        (r"x\w*(tokens|count)y?\.z+", [("x",), ("tokens", "count"), (".z",)]),
        ("(?m)^ab*c{2}(d|e)?(f|)(g)+", [("a",), ("g",)]),
        ("a|b", []),
    ],
)
def test_what_every_match_must_hold(expression: str, texts: list[tuple[str, ...]]) -> None:
    assert needed_texts(expression) == texts


def test_only_expressions_that_stay_in_a_line_are_searched_by_lines() -> None:
    by_line = {expression for expression in OTHERS if TextTest.of(expression).texts}
    assert by_line == {
        "ab", "(?m)^a(b|c)$", "a?b", "a{2}b", "a+b", "(ab|c)?b", "(ab|c)*b", "(?:ab|c)b", "(a(b|c))b", "(ab|)c",
        "a[^c\\n]b", "\\Bb", "[]a]b", "a\\|b", "a[(]b",
    }  # fmt: skip
