"""One verdict a test, each on four small texts; the expected verdicts are read off the texts by a person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guard.checks.findings import finding_of
from guard.judge.doubts import NEIGHBOUR_CHANGED, doubted, in_doubt
from guard.model import Severity, Side, Verdict
from tests.judge.trees import judged, losses

BASE = """
def attach(loss, count, coeff):
    total = loss * coeff
    log("aux", total, count=count)
    return total
"""
FIXED = BASE.replace("count=count", "count=count * bsz")


def only(changes, verdict):
    assert [change.verdict for change in changes] == [verdict]
    return changes[0]


def test_one_missing_factor_is_one_precise_finding():
    theirs = FIXED
    ours = BASE.replace('"aux"', '"seq_aux"')
    change = only(losses(judged(BASE, ours, theirs, ours)), Verdict.REVERTED)
    assert (change.side, change.place.symbol, change.subject) == (Side.THEIRS, "attach", "count")
    assert change.pieces[0].missing == ("* bsz",)
    assert change.numeric
    evidence = change.pieces[0].evidence
    assert (evidence.base, evidence.theirs) == (
        'log("aux", total, count=count)',
        'log("aux", total, count=count * bsz)',
    )
    assert evidence.ours == evidence.merged == 'log("seq_aux", total, count=count)'


CALL = """
def attach(loss, first, bsz):
    return apply(loss, valid_token_count=first, coeff=1.0)
"""
BY_POSITION = CALL.replace("valid_token_count=", "").replace("coeff=", "")


@pytest.mark.parametrize("base", [CALL, BY_POSITION])
def test_the_same_tokens_in_another_argument_hide_nothing(base):
    head, call = base.split("apply")
    theirs, ours = f"{head}apply{call.replace('first', 'first * bsz')}", base.replace("1.0", "2.0 * bsz")
    change = only(losses(judged(base, ours, theirs, ours)), Verdict.REVERTED)
    assert (change.side, change.pieces[0].missing) == (Side.THEIRS, ("* bsz",))
    both = theirs.replace("1.0", "2.0 * bsz")
    assert not losses(judged(base, ours, theirs, both))
    wrapped = both.replace("first * bsz", "int(bsz * first)")
    assert not losses(judged(base, ours, theirs, wrapped))


def test_arguments_in_another_order_are_no_loss():
    base = "def f(a, b):\n    return max(a, b)\n"
    ours = base.replace("max(a, b)", "max(a, b * 2)")
    theirs = base.replace("max(a, b)", "max(a, b, key=abs)")
    assert not losses(judged(base, ours, theirs, base.replace("max(a, b)", "max(b * 2, a, key=abs)")))


def test_commuted_operands_are_no_loss():
    merged = BASE.replace("count=count", "count=bsz * count")
    assert not losses(judged(BASE, BASE, FIXED, merged))


def test_an_identical_block_elsewhere_hides_nothing():
    base = """
    def first(x):
        check(x)
        return x

    def second(x):
        check(x)
        scale(x, 2)
        return x
    """
    ours = base.replace("def first(x):\n        check(x)\n", "def first(x):\n        check(x)\n        scale(x, 2)\n")
    change = only(losses(judged(base, ours, base, base)), Verdict.LOST)
    assert (change.place.symbol, change.pieces[0].missing) == ("first", ("scale(x, 2)",))


def test_what_a_called_helper_runs_is_lost_with_a_doubt():
    helper = "def reset(x):\n    x.zero_grad()\n    barrier(x)\n\n\n"
    base = helper + "def finish(x):\n    log(x)\n    return x\n"
    ours = base.replace("    log(x)\n", "    log(x)\n    x.zero_grad()\n    x.scale_loss(2)\n    barrier(x)\n")
    doubted = only(
        losses(judged(base, ours, base, base.replace("    log(x)\n", "    log(x)\n    reset(x)\n"))), Verdict.LOST
    )
    assert all(in_doubt(piece) for piece in doubted.pieces), "most of it runs there"
    plain = only(losses(judged(base, ours, base, base)), Verdict.LOST)
    assert not any(in_doubt(piece) for piece in plain.pieces), "nothing calls the helper"


def test_a_helper_with_other_local_names_raises_the_same_doubt_unless_the_side_calls_it_too():
    helper = "def wrap(parts, size):\n    plan = layout_of(parts, size)\n    tag(parts)\n    return plan\n\n\n"
    base = helper + "def build(model):\n    log(model)\n    return model\n"
    inline = "    log(model)\n    layout = layout_of(model, 4)\n    tag(model)\n"
    ours = base.replace("    log(model)\n", inline)
    called = base.replace("    log(model)\n", "    log(model)\n    wrap(model, size=None)\n")
    doubted = losses(judged(base, ours, called, called), Side.OURS)
    assert [in_doubt(piece) for change in doubted for piece in change.pieces] == [True, True]
    besides = ours.replace("    return model\n", "    return wrap(model, 8)\n")
    sure = losses(judged(base, besides, base, base.replace("return model\n", "return wrap(model, 8)\n")), Side.OURS)
    assert not any(in_doubt(piece) for change in sure for piece in change.pieces)


def test_one_precise_edit_among_many_in_doubt_is_no_error():
    ours = BASE.replace('"aux"', '"seq_aux"')
    change = only(losses(judged(BASE, ours, FIXED, ours)), Verdict.REVERTED)
    (piece,) = change.pieces
    vague = doubted(replace(piece, precise=False), NEIGHBOUR_CHANGED)
    assert finding_of((change,)).severity is Severity.ERROR
    assert finding_of((replace(change, pieces=(piece, vague)),)).severity is Severity.ERROR
    assert finding_of((replace(change, pieces=(piece, *[vague] * 9)),)).severity is Severity.WARNING


def test_an_identical_statement_in_the_same_function_hides_nothing():
    base = "def f(x):\n    if x:\n        step()\n    return x\n"
    ours = "def f(x):\n    step()\n    if x:\n        step()\n    return x\n"
    change = only(losses(judged(base, ours, base, base)), Verdict.LOST)
    assert change.pieces[0].line == 2


def test_a_deletion_that_is_back_is_revived():
    base = "def f(x):\n    assert x, 'no pipeline yet'\n    return x\n"
    theirs = "def f(x):\n    return x\n"
    ours = "def f(x):\n    assert (\n        x\n    ), 'no pipeline yet'\n    return x\n"
    change = only(losses(judged(base, ours, theirs, ours)), Verdict.REVIVED)
    assert change.side is Side.THEIRS


def test_what_the_other_side_rewrote_is_superseded():
    base = "def f(x):\n    return scale(x, 1.0)\n"
    ours = "def f(x):\n    return scale(x, 2.0)\n"
    theirs = "def f(x):\n    return scale(x, factor())\n"
    changes = judged(base, ours, theirs, theirs)
    assert not losses(changes)
    assert Verdict.SUPERSEDED in {change.verdict for change in changes if change.side is Side.OURS}


def test_a_neighbour_lost_with_the_hunk_is_a_loss():
    base = "def f(a):\n    x = one(a)\n    y = two(a)\n    return x, y\n"
    ours = "def f(a):\n    x = one(a)\n    record_overload(a, x)\n    y = two(a)\n    return x, y\n"
    theirs = "def f(a):\n    x = one(a)\n    y = two(a, fast=True)\n    return x, y\n"
    change = only(losses(judged(base, ours, theirs, theirs)), Verdict.LOST)
    assert change.pieces[0].missing == ("record_overload(a, x)",)


def test_moved_into_a_split_function_is_no_loss():
    base = "def run(a, b, c):\n    first(a)\n    return a\n"
    ours = "def run(a, b, c):\n    first(a)\n    scale_gradients(a, b, c, 2)\n    return a\n"
    theirs = "def run(a, b, c):\n    first(a)\n    return tail(a)\n\ndef tail(a):\n    return a\n"
    merged = theirs.replace("tail(a):\n", "tail(a):\n    scale_gradients(a, b, c, 2)\n")
    assert not losses(judged(base, ours, theirs, merged), Side.OURS)


def test_an_edit_follows_a_renamed_function():
    base = "def mamba(a):\n    x = load(a)\n    y = fold(x)\n    z = norm(y)\n    return z\n"
    theirs = base.replace("def mamba", "def hybrid")
    ours = base.replace("norm(y)", "norm(y, eps=1e-5)")
    kept = theirs.replace("norm(y)", "norm(y, eps=1e-5)")
    assert not losses(judged(base, ours, theirs, kept), Side.OURS)
    change = only(losses(judged(base, ours, theirs, theirs), Side.OURS), Verdict.REVERTED)
    assert (change.place.symbol, change.source.symbol) == ("hybrid", "mamba")


def test_a_lost_function_a_lost_file_and_a_revived_file():
    base = "def f():\n    return 1\n"
    ours = base + "\ndef g(a):\n    return a * 2\n"
    change = only(losses(judged(base, ours, base, base)), Verdict.LOST)
    assert (change.kind, change.place.symbol) == ("definition", "g")
    change = only(losses(judged(None, base, None, None)), Verdict.LOST)
    assert change.kind == "file"
    change = only(losses(judged(base, None, base, base)), Verdict.REVIVED)
    assert change.kind == "file"


def test_both_sides_made_the_same_change():
    assert not losses(judged(BASE, FIXED, FIXED, FIXED))


def test_what_both_sides_made_is_superseded_by_neither():
    both = BASE.replace("count=count", "mean=mean, count=count").replace("total, ", "total * scale, ")
    half = both.replace("total * scale, ", "total, ")
    assert {change.side for change in losses(judged(BASE, both, both, half))} == {Side.OURS, Side.THEIRS}
    ours, theirs = (both.replace('"aux"', f'"{name}"') for name in ("seq_aux", "moe_aux"))
    assert not losses(judged(BASE, ours, theirs, theirs))  # there theirs made something else of ours' spot


def test_a_newer_argument_that_overrides_makes_the_fix_dead():
    callee = """
    def attach(loss, count=None, scale_count=None):
        if scale_count is None:
            scale_count = count if count is not None else 1
        return loss * scale_count

    """
    base = callee + "\n    def run(loss, n, bsz):\n        return attach(loss, count=n)\n"
    theirs = base.replace("attach(loss, count=n)", "attach(loss, count=n * bsz)")
    ours = base.replace("attach(loss, count=n)", "attach(loss, count=n, scale_count=total(n))")
    merged = base.replace("attach(loss, count=n)", "attach(loss, count=n * bsz, scale_count=total(n))")
    change = only(losses(judged(base, ours, theirs, merged)), Verdict.DEAD)
    assert (change.side, change.subject, change.place.symbol) == (Side.THEIRS, "count", "run")


@pytest.mark.parametrize(
    ("spelled", "again"),
    [
        ("x = f(a, b)\n", "x = f(\n    a,\n    b,\n)  # why\n"),
        ("x = 'a' 'b'\n", 'x = "ab"\n'),
        ("if (a and b):\n    c()\n", "if a and b:\n\n    # note\n    c()\n"),
        ("import a\nimport b\n", "import b\nimport a\n"),
        ("from m import (a, b)\n", "from m import b\nfrom m import a\n"),
        ("def f():\n    'says'\n    return 1\n", "def f():\n    '''says more'''\n    return (1)\n"),
        ("x = 0x10\n", "x = 16\n"),
    ],
)
def test_spelling_never_matters(spelled, again):
    assert not losses(judged("", spelled, "", again))
    assert not judged(spelled, again, spelled, spelled) or not losses(judged(spelled, again, spelled, spelled))


def test_an_import_that_a_side_moved_is_not_back_at_its_old_place_too():
    base = "import pickle\nimport os\nimport sys\n\nprint(pickle, os, sys)\n"
    moved = "import os\nimport pickle\nimport sys\n\nprint(pickle, os, sys)\n"
    twice = "import pickle\nimport os\nimport pickle\nimport sys\n\nprint(pickle, os, sys)\n"
    assert not losses(judged(base, moved, base, moved))
    assert not losses(judged(base, moved, base, base)), "the order of imports says nothing"
    assert [change.verdict for change in losses(judged(base, moved, base, twice))] == [Verdict.REVIVED]
