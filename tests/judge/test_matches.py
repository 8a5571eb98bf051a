"""Each reading that finds an edit in another form: the forms that it must find, and those that it must not."""

from __future__ import annotations

import pytest

from guard.judge.matches import MATCHES
from guard.model import Side, Verdict
from guard.provenance.blame import is_fix
from tests.judge.trees import judged, losses


def fun(*lines: str, head: str = "def f(self, a, b):") -> str:
    return "\n".join((head, *(f"    {line}" for line in lines))) + "\n"


PLAIN = fun("one(a)", "two(b)", "return a")
CASES = {
    "same-effect": [
        (
            fun("one(a)", "if b == False:", "    two(b)", "return a"),
            fun("one(a)", "if not b:", "    two(b)", "return a"),
        ),
        (
            fun("one(a)", "x: Dict[str, int] = two(b)", "return a"),
            fun("one(a)", "x: dict[str, int] = two(b)", "return a"),
        ),
        (fun("one(a)", "two(b)", "x = a > b", "return a"), fun("one(a)", "two(b)", "x = b < a", "return a")),
        (fun("one(a)", "two(b)", "a *= b", "return a"), fun("one(a)", "two(b)", "a = b * a", "return a")),
        (
            fun("one(a)", "two(b)", "x = not (a or b)", "return a"),
            fun("one(a)", "two(b)", "x = not a and not b", "return a"),
        ),
    ],
    "alias": [
        (
            fun("one(a)", "two(self.config.size, b)", "return a"),
            fun("config = self.config", "one(a)", "two(config.size, b)", "return a"),
        )
    ],
    "early-exit": [
        (
            fun("one(a)", "if not a:", "    check(b)", "return a"),
            fun("one(a)", "if a:", "    return a", "check(b)", "return a"),
        ),
        (
            fun("one(a)", "if a and b:", "    check(b)", "return a"),
            fun("one(a)", "if not a or not b:", "    return a", "check(b)", "return a"),
        ),
    ],
    "folded-guard": [
        (
            fun("one(a)", "if not a:", "    assert b > 2, 'b'", "return a"),
            fun("one(a)", "assert a or b > 2, 'b'", "return a"),
        ),
    ],
    "reworded": [
        (
            fun("one(a)", "two(b)", "print('it is ready', a, b, self)", "return a"),
            fun("one(a)", "two(b)", "print('now ready', a, b, self)", "return a"),
        ),
        (
            fun("one(a)", "two(b)", "assert a > 2, 'needs more than 2'", "return a"),
            fun("one(a)", "two(b)", "assert a > 2, 'too small'", "return a"),
        ),
    ],
}


@pytest.mark.parametrize(("name", "ours", "merged"), [(n, *case) for n, cases in CASES.items() for case in cases])
def test_an_edit_that_stands_in_another_form_is_no_loss(name: str, ours: str, merged: str) -> None:
    assert name in {match.heuristic.name for match in MATCHES}
    assert not losses(judged(PLAIN, ours, PLAIN, merged), Side.OURS)


@pytest.mark.parametrize("spelled", ["x: Dict[str, int] = two(b)", "x = b > a", "b = b * a"])
def test_a_side_that_changed_only_the_words_lost_nothing(spelled: str) -> None:
    other = {
        "x: Dict[str, int] = two(b)": "x: dict[str, int] = two(b)",
        "x = b > a": "x = a < b",
        "b = b * a": "b *= a",
    }
    base, ours = (fun("one(a)", line, "return a") for line in (spelled, other[spelled]))
    assert not losses(judged(base, ours, base, base))


def test_a_name_that_the_other_side_took_out_of_the_definition_is_fitted() -> None:
    head = "def forward(self, layer, x, k_scale):"
    base = fun("y = run(x, k_scale)", "return write(y, x)", head=head)
    ours = fun("y = run(x, k_scale)", "z = flat(x, scale=k_scale, kind=2)", "return write(y, z)", head=head)
    theirs = fun("y = run(x, layer.scale)", "return write(y, x)", head="def forward(self, layer, x):")
    merged = theirs.replace("return write(y, x)", "z = flat(x, scale=layer.scale, kind=2)\n    return write(y, z)")
    assert not losses(judged(base, ours, theirs, merged), Side.OURS)
    lost = merged.replace("scale=layer.scale, kind=2", "scale=layer.scale")
    assert losses(judged(base, ours, theirs, lost), Side.OURS)


@pytest.mark.parametrize(
    ("ours", "merged"),
    [
        (
            fun("one(a)", "if b == True:", "    two(b)", "return a"),
            fun("one(a)", "if not b:", "    two(b)", "return a"),
        ),
        (fun("one(a)", "two(b)", "x = a > b", "return a"), fun("one(a)", "two(b)", "x = a < b", "return a")),
        (
            fun("one(a)", "if not a:", "    check(b)", "return a"),
            fun("one(a)", "if a:", "    log(a)", "check(b)", "return a"),
        ),
        (
            fun("one(a)", "if a:", "    check(b)", "return a"),
            fun("one(a)", "if a:", "    return a", "check(b)", "return a"),
        ),
        (
            fun("one(a)", "two(self.config.size, b)", "return a"),
            fun("config = b", "one(a)", "two(config.size, b)", "return a"),
        ),
        (
            fun("one(a)", "two(b)", "x = load('new.bin')", "return a"),
            fun("one(a)", "two(b)", "x = load('old.bin')", "return a"),
        ),
        (
            fun("one(a)", "if not a:", "    assert b > 2, 'b'", "return a"),
            fun("one(a)", "assert b or b > 2, 'b'", "return a"),
        ),
    ],
)
def test_what_means_something_else_is_a_loss(ours: str, merged: str) -> None:
    assert losses(judged(PLAIN, ours, PLAIN, merged), Side.OURS)


def test_a_text_without_placeholder_is_a_text() -> None:
    base = fun("raise ValueError(f'no such thing')")
    assert not judged(base, base.replace("f'", "'"), base, base)


CALL = fun("log(1)", "x = make(n, kind=kind, size=2)", "return x", head="def f(kind, n):")


@pytest.mark.parametrize(
    "theirs",
    [
        CALL.replace("make(n, kind=kind, size=2)", 'make(n, {"kind": kind, "size": 2})'),
        CALL.replace(
            "    x = make(n, kind=kind, size=2)", '    made = {"kind": kind, "size": 2}\n    x = make(n, **made)'
        ),
        CALL.replace("make(n, kind=kind, size=2)", 'make(n, options={"kind": kind}, size=3)'),
    ],
)
def test_a_removal_that_is_back_in_the_other_side_s_spelling_is_revived(theirs: str) -> None:
    ours = CALL.replace("kind=kind, ", "")
    back = losses(judged(CALL, ours, theirs, theirs), Side.OURS)
    assert [change.verdict for change in back] == [Verdict.REVIVED]
    assert "kind" in back[0].pieces[0].back[0]
    rid = theirs.replace('"kind": kind, ', "").replace('options={"kind": kind}, ', "")
    assert not losses(judged(CALL, ours, theirs, rid), Side.OURS)


def test_an_entry_that_is_back_as_an_argument_is_revived() -> None:
    base = CALL.replace("make(n, kind=kind, size=2)", 'make(n, {"kind": kind, "size": 2})')
    ours = base.replace('"kind": kind, ', "")
    assert [c.verdict for c in losses(judged(base, ours, CALL, CALL), Side.OURS)] == [Verdict.REVIVED]


def test_a_guard_folded_into_an_assertion_with_placeholders_in_its_text() -> None:
    ours = fun("one(a)", "if not a:", "    assert b > 2, f'{b} is small'", "return a")
    merged = fun("one(a)", "assert a or b > 2, f'{b} is small'", "return a")
    assert not losses(judged(PLAIN, ours, PLAIN, merged), Side.OURS)


@pytest.mark.parametrize(
    ("subject", "fix"),
    [
        ("Fix the loss scale for MTP (#12)", True),
        ("[Bugfix] Token count under CP", True),
        ("fix: divide by n", True),
        ("Fixes crash with guided decoding", True),
        ("Prevent double counting", False),
        ("Patch release notes", False),
        ("Correct wording", False),
        ("Avoid a copy", False),
        ("Fix typo in docs", False),
        ("fix lint", False),
        ("Fix build and test issues", False),
        ("Fixed merge conflicts", False),
        ("Revert the cache", False),
    ],
)
def test_what_a_subject_must_say_for_a_fix(subject: str, fix: bool) -> None:
    assert is_fix(subject) is fix
