"""Laws of joining, on programs drawn at random: symmetry, nothing lost, nothing twice, the effects of both."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.merging.conftest import join_text

LAWS = settings(max_examples=40, deadline=None, derandomize=True)
Edits = tuple[dict[str, str], list[str], list[str]]

# Each edit changes one function of a table, so that its effect can be seen by calling it.
FUNCTIONS = ("alpha", "beta", "gamma", "delta")


def program(values: dict[str, str], more: list[str], options: list[str]) -> str:
    """Small pure functions, one of which calls another with options."""
    text = "from math import floor\n\n"
    for name in FUNCTIONS:
        text += f"\ndef {name}(x):\n    y = x + {values.get(name, '1')}\n    return y\n\n"
    for name in more:
        text += f"\ndef {name}(x):\n    return x * 10 + {len(name)}\n\n"
    arguments = ", ".join(["x=2", *(f"{option}={len(option)}" for option in options)])
    return text + f"\ndef collect(**given):\n    return dict(given)\n\n\nRESULT = collect({arguments})\n"


words = st.lists(st.text("abcdefgh", min_size=2, max_size=5).map(lambda word: f"n_{word}"), unique=True, max_size=3)
values = st.dictionaries(st.sampled_from(FUNCTIONS), st.sampled_from(["2", "3", "x", "abs(x)"]), max_size=2)
edits = st.tuples(values, words, words)


def run(text: str) -> dict[str, object]:
    """What a program says: the value of every function at 7, and the options collected."""
    namespace: dict[str, object] = {}
    exec(compile(text, "joined", "exec"), namespace)
    said = {name: thing(7) for name, thing in namespace.items() if callable(thing) and name not in ("floor", "collect")}
    return {**said, "RESULT": namespace["RESULT"]}


@LAWS
@given(left=edits, right=edits)
def test_symmetric_and_with_the_effects_of_both(left: Edits, right: Edits) -> None:
    base, ours, theirs = program({}, [], []), program(*left), program(*right)
    found, swapped = join_text(base, ours, theirs), join_text(base, theirs, ours)
    assert [o.resolved for o in found.resolution.outcomes] == [o.resolved for o in swapped.resolution.outcomes]
    if found.reasons:
        return
    assert found.text == swapped.text
    before, mine, yours, now = (run(text) for text in (base, ours, theirs, found.text))
    for name in now.keys() | mine.keys() | yours.keys():
        if name == "RESULT":
            wanted = {**mine[name], **yours[name]}  # type: ignore[dict-item]
            assert now[name] == wanted
            continue
        sides = {side.get(name) for side in (mine, yours) if side.get(name) != before.get(name)}
        assert {now.get(name)} == (sides or {before.get(name)})


@LAWS
@given(edit=edits)
def test_a_change_of_one_side_alone_comes_through(edit: Edits) -> None:
    base, side = program({}, [], []), program(*edit)
    assert join_text(base, side, base).text == side
    assert join_text(base, base, side).text == side


@LAWS
@given(edit=edits)
def test_the_same_change_stands_once(edit: Edits) -> None:
    base, side = program({}, [], []), program(*edit)
    assert join_text(base, side, side).text == side


@LAWS
@given(left=edits, right=edits)
def test_reformatting_is_no_change(left: Edits, right: Edits) -> None:
    """A side that writes its call over several lines is joined as if it had not."""
    base, ours, theirs = program({}, [], []), program(*left), program(*right)
    head, call = ours[: ours.rindex("collect(")], ours[ours.rindex("collect(") :]
    spread = head + call.replace("(", "(\n    ").replace(", ", ",\n    ").replace(")\n", ",\n)\n")
    plain, other = join_text(base, ours, theirs), join_text(base, spread, theirs)
    if not plain.reasons and not other.reasons:
        assert ast.dump(ast.parse(plain.text)) == ast.dump(ast.parse(other.text))
    assert not other.reasons or plain.reasons


@pytest.mark.parametrize("version", ["ours", "theirs"])
def test_what_git_merged_is_kept_byte_for_byte(version: str) -> None:
    """Odd formatting outside of the hunks is nobody's business."""
    odd = "X  =  { 'a':1 ,\n      'b' : 2 }   # odd\n\n\n\n\ndef  f ( a ) :\n      return   a\n\n\n"
    base = odd + "g(a)\n"
    sides = [odd + "g(a, left=1)\n", odd.replace("'a':1", "'a':7") + "g(a, right=2)\n"]
    if version == "theirs":
        sides.reverse()
    assert join_text(base, *sides).text == odd.replace("'a':1", "'a':7") + "g(a, left=1, right=2)\n"
