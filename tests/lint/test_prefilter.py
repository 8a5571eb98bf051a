"""The prefilter may let a file through for nothing, but must never keep one from a rule that finds something in it."""

from __future__ import annotations

import pytest

from guard.lint.engine import FileLinter
from guard.lint.prefilter import Prefilter, plain, words_of
from guard.lint.source import Source
from tests.lint.programs import BUILTIN, lint_tree, rules

ONE = "- pattern: torch.softmax($X)\n"


def chosen(clauses: str, data: bytes, path: str | None = None) -> list[int]:
    """Places in the list of the clauses that are tried on a file."""
    rule_set = rules(clauses)
    [rule] = rule_set
    return [rule.match.index(clause) for _, found in Prefilter(rule_set).clauses(data, path) for clause in found]


def test_words_are_whole_and_end_where_python_ends_them() -> None:
    data = b"\xef\xbb\xbfimport a.b\rx_1='q'\x0cif\tn\xc3\xa9: pass\n"
    assert words_of(plain(data)) == {b"import", b"a", b"b", b"x_1", b"q", b"if", b"n\xc3\xa9", b"pass"}
    assert chosen(ONE, b"log_softmax(x)") == []
    assert chosen(ONE, b"torch . softmax (x)") == [0]
    # An imported name stands whole in its import, however it is called later.
    assert chosen(ONE, b"from torch import softmax as f\nf(x)") == [0]


@pytest.mark.parametrize(
    ("condition", "held", "lacks"),
    [
        ("before: ['seed($X)', 'fill($X)']", b"fill", b"x"),
        ("earlier: ['seed($X)']", b"seed", b"x"),
        ("value: {of: X, is: ['one.two($_)'], contains: [three]}", b"two three", b"two"),
        ("held: [self.count]", b"self.count", b"count"),
        ("under: {if: [ready], with: [quiet()]}", b"quiet", b"x"),
        ("reaches: {keeps: X, pattern: ['use($X)']}", b"use", b"x"),
        ("any: [{before: [seed()]}, {all: [{after: [fill()]}]}]", b"fill", b"x"),
        ("has: {pattern: ['$_ + $_', seed()]}", b"x", None),
        ("not: [{before: [seed()]}]", b"x", None),
        ("value: {argument: [a], missing: holds, is: [seed]}", b"x", None),
        ("any: [{before: [seed()]}, {parameter: X}]", b"x", None),
    ],
)
def test_a_condition_needs_its_words(condition: str, held: bytes, lacks: bytes | None) -> None:
    clauses = f"- pattern: torch.softmax($X)\n  where:\n    - {condition}\n"
    assert chosen(clauses, b"softmax " + held) == [0]
    assert lacks is None or chosen(clauses, b"softmax " + lacks) == []


def test_only_the_clauses_that_can_match_are_tried() -> None:
    clauses = (
        f"{ONE}- call: [seed]\n- pattern: '$X = 0'\n  text: '(?m)count \\w* = 0$'\n- pattern: '$A + 1'\n  words: [ab]\n"
    )
    assert chosen(clauses, b"softmax") == [0]
    assert chosen(clauses, b"seed") == [1]
    assert chosen(clauses, b"count  = 0") == [2]
    assert chosen(clauses, b"count x = 0\r\n") == [2]
    assert chosen(clauses, b"'cabin'") == [3]


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfcount = 0\n",
        b"count = 0\r\n",
        b"x = 1\rcount = 0\r",
        "# coding: latin-1\n# \u00e9\ncount = 0\n".encode("latin-1"),
    ],
)
def test_a_text_is_found_however_the_file_is_written(data: bytes) -> None:
    clauses = "- pattern: '$X = 0'\n  text: '(?m)^count = 0$'\n"
    assert chosen(clauses, data) == [0]
    assert chosen(clauses, data.replace(b"count", b"other")) == []


def test_a_name_is_found_however_it_is_spelt() -> None:
    clauses = "- call: ['\u00b5_loss']\n- call: ['\u03bc_loss']\n- pattern: '\u00b5_loss()'\n"
    assert chosen(clauses, "\u03bc_loss()".encode()) == [1, 2]
    assert chosen(clauses, "\u00b5_loss()".encode()) == [0, 1, 2]
    assert chosen(clauses, "# coding: latin-1\n\u00b5_loss()".encode("latin-1")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("place", "path", "looked"),
    [
        ("not-path: ['tests/*']", "a/tests/b.py", False),
        ("not-path: ['tests/*']", "a/latest/b.py", True),
        ("path: ['core/*.py', 'x.py']", "megatron/core/a.py", True),
        ("path: ['core/*.py', 'x.py']", "y.py", False),
        ("function: ['*loss*']", "y.py", True),
    ],
)
def test_a_file_outside_of_the_place_is_not_even_read(place: str, path: str, looked: bool) -> None:
    clauses = f"- pattern: torch.softmax($X)\n  in: {{{place}}}\n"
    assert bool(chosen(clauses, b"softmax", path)) is looked
    assert chosen(clauses, b"softmax") == [0]
    result = lint_tree({path: "def loss(x):\n    return torch.softmax(x) +\n"}, rules(clauses))
    assert bool(result.outcomes) is looked


def test_every_built_in_rule_passes_where_it_finds_something() -> None:
    prefilter = Prefilter(BUILTIN)
    for rule in BUILTIN:
        for text in rule.bad:
            assert rule in prefilter.rules(text.encode()), (rule.id, text)
    assert FileLinter(BUILTIN, None, 10.0).lint(Source("a.py", b"x = 1\n")).findings == ()
