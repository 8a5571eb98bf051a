"""Text that merged has and that does not do there what the side made it do: another block, another order."""

from __future__ import annotations

from textwrap import dedent

import pytest

from guard.model import Side, Verdict
from tests.judge.trees import judged, losses

TAIL = "\n\ndef unrelated(y):\n    z = y + 1\n    return z * 2\n"
OTHER = TAIL.replace("y + 1", "y + 3")

BLOCKS = [
    "for part in parts:", "while parts:", "with scope(parts):", "if parts:", "if not parts:\n        skip()\n    else:",
    "try:\n        first()\n    except E:",
]  # fmt: skip


def within(header: str, inside: str, outside: str) -> str:
    """A function with one statement in a block and one behind it, either of which may be empty."""
    body = "".join(f"        {line}\n" for line in ("total += loss()", inside) if line)
    after = f"    {outside}\n" if outside else ""
    return f"def f(parts, total, tokens):\n    {header}\n{body}{after}    return total / tokens\n"


@pytest.mark.parametrize("header", BLOCKS)
@pytest.mark.parametrize("out", [True, False], ids=["out of", "into"])
def test_a_statement_that_stands_in_the_base_s_block_again_is_reverted(header: str, out: bool) -> None:
    line = "tokens += count()"
    forms = within(header, line, ""), within(header, "", line)
    base, ours = forms if out else forms[::-1]
    (change,) = losses(judged(base + TAIL, ours + TAIL, base + OTHER, base + OTHER))
    assert (change.side, change.verdict, change.place.symbol) == (Side.OURS, Verdict.REVERTED, "f")
    assert change.pieces[0].missing == (line,)
    assert not losses(judged(base + TAIL, ours + TAIL, base + OTHER, ours + OTHER))


@pytest.mark.parametrize("header", ["with scope():", "for _ in range(2):", "if ready:"])
def test_a_body_that_the_other_side_wrapped_is_no_loss(header: str) -> None:
    base = "def f(a):\n    b = one(a)\n    c = two(b)\n    return c\n"
    ours = base.replace("one(a)", "one(a, 2)").replace("    c =", "    check(b)\n    c =")
    theirs = dedent(f"""
    def f(a):
        {header}
            b = one(a)
            c = two(b)
        return c
    """)
    merged = theirs.replace("one(a)", "one(a, 2)").replace("        c =", "        check(b)\n        c =")
    assert not losses(judged(base, ours, theirs, merged))


BRANCHES = (
    "def f(a, b):\n    if a:\n        x = b\n        g(x)\n    else:\n        x = a\n        h(x)\n    return x\n"
)


@pytest.mark.parametrize("line", ["x = x.clone()", "x *= 2", "barrier(x)"])
def test_an_added_statement_whose_equal_stands_in_another_branch_is_lost(line: str) -> None:
    ours = BRANCHES.replace("x = b\n", f"x = b\n        {line}\n")
    theirs = BRANCHES.replace("x = a\n", f"x = a\n        {line}\n")
    (change,) = losses(judged(BRANCHES, ours, theirs, theirs))
    assert (change.side, change.verdict, change.pieces[0].missing) == (
        Side.OURS,
        Verdict.LOST,
        (line.replace(" = ", "="),),
    )
    both = theirs.replace("x = b\n", f"x = b\n        {line}\n")
    assert not losses(judged(BRANCHES, ours, theirs, both))


@pytest.mark.parametrize(
    ("made", "merged"),
    [
        ("d = f(a, 1) - f(b, 2)", "d = f(b, 2) - f(a, 1)"),
        ("d = attend(q=a, k=b)", "d = attend(q=b, k=a)"),
        ("d = a / b", "d = b / a"),
        ("d = a if flag else b", "d = b if flag else a"),
        ("d = scale(a, b)", "d = scale(b, a)"),
        ("d = a @ b", "d = b @ a"),
    ],
)
@pytest.mark.parametrize("old", ["", "    d = a\n"], ids=["added", "changed"])
def test_the_same_tokens_in_an_order_that_computes_something_else_are_a_loss(made: str, merged: str, old: str) -> None:
    base = f"def f(a, b, flag):\n    c = a\n{old}    return c\n"
    ours = base.replace("    d = a\n", "").replace("    c = a\n", f"    c = a\n    {made}\n")
    theirs = base.replace("return c", "return c + 1")
    wrong = ours.replace(made, merged).replace("return c", "return c + 1")
    (change,) = losses(judged(base, ours, theirs, wrong))
    assert (change.side, change.place.symbol) == (Side.OURS, "f")
    assert not losses(judged(base, ours, theirs, ours.replace("return c", "return c + 1")))


@pytest.mark.parametrize(
    ("made", "merged"),
    [
        ("d = a * b", "d = b * a"),
        ("d = f(x=a, y=b)", "d = f(y=b, x=a)"),
        ("d = max(a, b)", "d = max(b, a)"),
        ("d = a + b + 1", "d = 1 + a + b"),
    ],
)
def test_the_same_tokens_in_an_order_that_computes_the_same_are_none(made: str, merged: str) -> None:
    base = "def f(a, b):\n    c = a\n    return c\n"
    ours = base.replace("    c = a\n", f"    c = a\n    {made}\n")
    assert not losses(judged(base, ours, base, ours.replace(made, merged)))


ORDER = "def f(a, b):\n    g(1)\n    h(2)\n    c = a\n    c = use(c)\n    return c\n"


@pytest.mark.parametrize(
    ("line", "before"),
    [("barrier(a, b)", "    h(2)\n"), ("c *= b", "    c = use(c)\n"), ("c.mul_(b)", "    c = use(c)\n")],
)
def test_an_added_statement_on_the_other_side_of_what_it_depends_on_is_lost(line: str, before: str) -> None:
    ours = ORDER.replace(before, f"    {line}\n{before}")
    merged = ORDER.replace(before, f"{before}    {line}\n")
    (change,) = losses(judged(ORDER, ours, ORDER, merged))
    assert (change.side, change.verdict) == (Side.OURS, Verdict.LOST)
    assert "other side of" in change.pieces[0].where


def test_an_added_statement_on_the_other_side_of_what_it_has_nothing_to_do_with_is_none() -> None:
    ours = ORDER.replace("    h(2)\n", "    flag = a > 1\n    h(2)\n")
    merged = ORDER.replace("    h(2)\n", "    h(2)\n    flag = a > 1\n")
    assert not losses(judged(ORDER, ours, ORDER, merged))


@pytest.mark.parametrize(
    "line", ["(a or b)(c)", "[g, h][0](c)", "(c, b)", "(yield a)", "'text'.join(c)", "-a", "await g(c)"]
)
def test_a_statement_that_begins_with_a_bracket_is_placed_as_any_other(line: str) -> None:
    ours = ORDER.replace("    h(2)\n", f"    {line}\n    h(2)\n").replace("def f", "async def f")
    base = ORDER.replace("def f", "async def f")
    merged = base.replace("    h(2)\n", f"    h(2)\n    {line}\n")
    judged(base, ours, base, merged)
    assert not losses(judged(base, ours, base, ours))
