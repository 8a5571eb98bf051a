"""The heuristics as a list: each has a name and a sentence of its own, and what it holds is told with the finding."""

from __future__ import annotations

import pytest

from guard.checks.findings import finding_of
from guard.judge.heuristics import HEURISTICS, sentence_of
from guard.judge.registry import switch_off, switch_on
from guard.model import Confidence, Severity, Side, Verdict
from tests.judge.trees import judged, losses


def test_each_heuristic_has_a_name_and_a_sentence_of_its_own() -> None:
    assert len({heuristic.name for heuristic in HEURISTICS}) == len(HEURISTICS)
    assert len({heuristic.sentence for heuristic in HEURISTICS}) == len(HEURISTICS)
    assert all(sentence_of(heuristic.name) for heuristic in HEURISTICS)


def test_one_that_is_switched_off_counts_no_more() -> None:
    base = "def f(a, b):\n    one(a)\n    two(b)\n    return a\n"
    ours = base.replace("two(b)", "x = b > a")
    merged = base.replace("two(b)", "x = a < b")
    assert not losses(judged(base, ours, base, merged))
    switch_off("same-effect")
    try:
        assert losses(judged(base, ours, base, merged))
    finally:
        switch_on("same-effect")


BODY = "def f(a):\n    x = one(a)\n    y = two(x)\n    z = three(y)\n    return z\n"


def doubts(base: str, ours: str, theirs: str, merged: str) -> set[str]:
    return {
        name
        for change in losses(judged(base, ours, theirs, merged), Side.OURS)
        for p in change.pieces
        for name in p.doubts
    }


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        (BODY, set()),
        (BODY.replace("y = two(x)\n", "y = two(x)\n    log(y)\n"), {"contested"}),
        (BODY.replace("y = two(x)", "y = two(x, 2)"), {"contested", "neighbour-changed"}),
    ],
)
def test_what_the_other_side_did_around_a_lost_statement_is_told_as_a_doubt(theirs: str, expected: set[str]) -> None:
    ours = BODY.replace("    z = ", "    scale(y, 2)\n    z = ")
    assert doubts(BODY, ours, theirs, theirs) == expected


def test_a_statement_that_lost_its_place_is_told_with_low_confidence() -> None:
    ours = BODY.replace("    z = ", "    scale(y, 2)\n    z = ")
    theirs = "def f(a):\n    x = one(a)\n    return fused(x, kind='all')\n"
    assert "surroundings-gone" in doubts(BODY, ours, theirs, theirs)
    (change,) = losses(judged(BODY, ours, theirs, theirs), Side.OURS)
    assert finding_of((change,)).confidence is Confidence.LOW


def test_a_definition_that_the_other_side_wrote_anew_is_a_doubt() -> None:
    ours = BODY.replace("x = one(a)", "x = one(a)\n    scale_loss(x, 2)")
    theirs = "def f(a):\n    x = one(a)\n    u = fused(x)\n    v = more(u)\n    w = less(v)\n    return w\n"
    assert "definition-rewritten" in doubts(BODY, ours, theirs, theirs)
    (change, *_) = losses(judged(BODY, ours, theirs, theirs), Side.OURS)
    assert finding_of((change,)).severity is Severity.WARNING


OLD = """
class C:
    def build(self, item):
        level = item.level
        kind = 'idle'
        out = make(item, kind)
        return out
"""
NEW = """
class C:
    def send(self, item):
        level = item.level
        kind = 'idle'
        content = {'kind': kind}
        content.update(item.extra)
        self.post(content)
        log(content)
"""


def test_a_change_to_a_definition_that_was_replaced_stands_in_doubt_beside_its_old_text() -> None:
    ours = OLD.replace("'idle'", "'now'")
    (change,) = losses(judged(OLD, ours, NEW, NEW), Side.OURS)
    assert (change.verdict, change.place.symbol) == (Verdict.REVERTED, "C.send")
    finding = finding_of((change,))
    assert "taken-over" in finding.because
    assert finding.severity is Severity.WARNING


GONE = "def f(a, parts):\n    return a\n"
LOOP = "def f(a, parts):\n    for part in parts:\n        use(part)\n    return a\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        # a block that theirs took out with all that stands in it
        (
            LOOP,
            LOOP.replace("        use(part)\n", "        use(part)\n        count(part)\n"),
            "def f(a, parts):\n    return a\n",
        ),
        # an import inside that merged has in a list that holds more
        ("NAMES = 1\nX = 2\n", "NAMES = 1\nALL = ['a', 'b']\nX = 2\n", "NAMES = 1\nALL = ['a', 'b', 'c']\nX = 2\n"),
        # another way out of the same block, where theirs took all such out of the function
        (
            "def f(a):\n    if a:\n        raise KeyError(a)\n    return a\n",
            "def f(a):\n    if a:\n        log(a)\n        raise ValueError('not this one', a)\n    return a\n",
            "def f(a):\n    if a:\n        log(a)\n        return None\n    return a\n",
        ),
        # both sides set the option in a class body, merged once more
        ("class C:\n    a = 1\n", "class C:\n    a = 1\n    b = 2\n    b = 2\n", "class C:\n    a = 1\n    b = 2\n"),
    ],
    ids=["block-taken-out", "part-of-a-literal", "another-exit", "bound-elsewhere"],
)
def test_what_merged_has_in_the_way_of_the_other_side_is_no_loss(base: str, ours: str, theirs: str) -> None:
    assert not losses(judged(base, ours, theirs, theirs), Side.OURS)
