"""Properties of the judge over random small modules, edits and resolutions.

Modules are made of distinct statements, so that what is there and what is not is known by construction.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from guard.judge.changes import JudgedChange
from guard.model import Side, Verdict
from tests.judge.trees import judged, losses

FUNCTIONS, STATEMENTS = 3, 5
Module = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Change:
    """One edit to one statement: put in before it, take it out, or rewrite a part of it."""

    function: int
    statement: int
    kind: str


def statement(function: int, number: int) -> str:
    return f"value_{function}_{number} = compute_{function}_{number}(first_{number}, second_{function}, third)"


BASE: Module = tuple(tuple(statement(f, s) for s in range(STATEMENTS)) for f in range(FUNCTIONS))


def text(module: Module, blank: bool = False) -> str:
    lines = ["import zeta", "import alpha"] if blank else ["import alpha", "import zeta"]
    for number, body in enumerate(module):
        lines.append(f"def function_{number}(third):")
        if blank:
            lines += ['    """What it is for."""', "", "    # why it is so"]
        for line in body:
            lines.append(f"    {line.replace('(', '(' + chr(10) + '        ') if blank else line}")
        lines.append(f"    return third_{number}")
    return "\n".join(lines) + "\n"


def apply(changes: frozenset[Change], owner: str) -> Module:
    module = []
    for f, body in enumerate(BASE):
        lines: list[str] = []
        for s, line in enumerate(body):
            kinds = {c.kind for c in changes if (c.function, c.statement) == (f, s)}
            if "in" in kinds:
                lines.append(f"put_in_by_{owner}_{f}_{s}(owner_{owner}, at_{f}_{s})")
            if "out" in kinds:
                continue
            lines.append(line.replace("third)", f"third * factor_{owner}_{f}_{s})") if "edit" in kinds else line)
        module.append(tuple(lines))
    return tuple(module)


changes_of = st.builds(
    Change, st.integers(0, FUNCTIONS - 1), st.integers(0, STATEMENTS - 1), st.sampled_from(["in", "out", "edit"])
)
change_sets = st.frozensets(changes_of, max_size=5).map(
    lambda found: frozenset(
        c for c in found if not (c.kind == "edit" and Change(c.function, c.statement, "out") in found)
    )
)


def apart(ours: frozenset[Change], theirs: frozenset[Change]) -> frozenset[Change]:
    """The changes of theirs that touch no statement that ours touches, nor its neighbours."""
    taken = {(c.function, c.statement + step) for c in ours for step in (-1, 0, 1)}
    return frozenset(c for c in theirs if (c.function, c.statement) not in taken)


def joined(ours: frozenset[Change], theirs: frozenset[Change]) -> Module:
    """Both sides' changes in one module; they touch different statements."""
    module = []
    for f in range(FUNCTIONS):
        lines: list[str] = []
        for s in range(STATEMENTS):
            here = frozenset(c for c in theirs if (c.function, c.statement) == (f, s))
            owner = "theirs" if here else "ours"
            here = here or frozenset(c for c in ours if (c.function, c.statement) == (f, s))
            kinds = {c.kind for c in here}
            count = 1 + ("in" in kinds) - ("out" in kinds)
            lines += apply(here, owner)[f][s : s + count]
        module.append(tuple(lines))
    return tuple(module)


def summary(changes: list[JudgedChange], side: Side) -> list[tuple[str, str, int]]:
    return sorted((c.place.symbol, c.verdict.value, len(c.pieces)) for c in changes if c.side is side)


@settings(max_examples=60, deadline=None)
@given(change_sets, change_sets, st.booleans())
def test_what_is_kept_is_never_called_lost(ours, theirs, blank):
    theirs = apart(ours, theirs)
    merged = text(joined(ours, theirs), blank)
    ast.parse(merged)
    found = judged(text(BASE), text(apply(ours, "ours")), text(apply(theirs, "theirs")), merged)
    assert not losses(found)


@settings(max_examples=60, deadline=None)
@given(change_sets, change_sets, st.data())
def test_what_is_lost_is_never_called_kept(ours, theirs, data):
    theirs = apart(ours, theirs)
    if not ours:
        return
    gone = data.draw(st.sampled_from(sorted(ours, key=str)))
    merged = text(joined(ours - {gone}, theirs))
    found = losses(judged(text(BASE), text(apply(ours, "ours")), text(apply(theirs, "theirs")), merged))
    assert {c.side for c in found} == {Side.OURS}
    assert {c.place.symbol for c in found} == {f"function_{gone.function}"}
    assert sum(len(c.pieces) for c in found) == 1
    expected = {"in": {Verdict.LOST, Verdict.PARTLY}, "out": {Verdict.REVIVED}, "edit": {Verdict.REVERTED}}
    assert found[0].pieces[0].verdict in expected[gone.kind]


@settings(max_examples=40, deadline=None)
@given(change_sets, change_sets, st.frozensets(changes_of, max_size=5))
def test_verdicts_are_symmetric_in_the_sides(ours, theirs, result):
    one, other, merged = apply(ours, "ours"), apply(theirs, "theirs"), apply(result & ours, "ours")
    there = judged(text(BASE), text(one), text(other), text(merged))
    swapped = judged(text(BASE), text(other), text(one), text(merged))
    assert summary(there, Side.OURS) == summary(swapped, Side.THEIRS)
    assert summary(there, Side.THEIRS) == summary(swapped, Side.OURS)


@settings(max_examples=40, deadline=None)
@given(change_sets, change_sets, st.booleans(), st.booleans(), st.booleans())
def test_formatting_comments_and_import_order_never_matter(ours, theirs, first, second, third):
    merged = apply(theirs, "theirs")
    plain = judged(text(BASE), text(apply(ours, "ours")), text(apply(theirs, "theirs")), text(merged))
    spelled = judged(
        text(BASE), text(apply(ours, "ours"), first), text(apply(theirs, "theirs"), second), text(merged, third)
    )
    for side in Side:
        assert summary(losses(plain), side) == summary(losses(spelled), side)
