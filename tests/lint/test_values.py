"""Values are followed through what a person would follow them through."""

from __future__ import annotations

import pytest

from tests.lint.programs import lines, rules

FACTOR = rules("- call: use\n  parameters: [x]\n  require:\n    - value: {argument: x, factor: bsz}\n")


@pytest.mark.parametrize(
    "body",
    [
        "use(n * bsz)",
        "use(bsz * n)",
        "use(torch.mul(n, bsz))",
        "use(n.mul(bsz))",
        "use((n * 2).to(torch.int) * bsz)",
        "use(n * bsz / 3)",
        "use(n / (3 / bsz))",
        "use(-(n * bsz))",
        "use((n * bsz).view(1).clone())",
        "use(x=float(n * bsz))",
        "c = n * bsz; use(c)",
        "c = n\n    c *= bsz\n    use(c)",
        "c = n\n    c.mul_(bsz)\n    use(c)",
        "c, d = n * bsz, 1\n    use(c)",
        "c = d = n * bsz\n    use(d)",
        "if n:\n        c = n * bsz\n    else:\n        c = bsz * 2\n    use(c)",
        "use(n * bsz if n else 1)",
        "with f() as g:\n        c = n * bsz\n    use(c)",
        "for i in n:\n        c = n * bsz\n        use(c)",
        "use((c := n * bsz))",
    ],
)
def test_products_in_any_spelling_carry_their_factor(body: str) -> None:
    assert lines(f"def f(n, bsz):\n    {body}\n", FACTOR) == []


@pytest.mark.parametrize(
    "body",
    [
        "use(n)",
        "use(n + bsz)",
        "use(n / bsz)",
        "c = n * bsz\n    c = n\n    use(c)",
        "c = n\n    use(c)\n    c = n * bsz",
        "use(bsz_of_other * n)",
        "c, d = 1, n * bsz\n    use(c)",
        "if n:\n        c = n * bsz\n        return c\n    c = n\n    use(c)",
    ],
)
def test_what_is_no_product_with_the_factor_is_found(body: str) -> None:
    assert len(lines(f"def f(n, bsz):\n    {body}\n", FACTOR)) == 1


def test_attributes_of_self_are_followed_in_their_class() -> None:
    program = """
    class A:
        def __init__(self, n, bsz):
            self.count = n * bsz
            self.other = n
        def good(self):
            use(self.count)
        def bad(self):
            use(self.other)
    """
    assert lines(program, FACTOR) == [8]


def test_the_first_argument_that_is_passed_counts() -> None:
    chosen = rules("- call: use\n  require:\n    - value: {argument: [new, old], factor: bsz}\n")
    program = """
    def f(n, bsz):
        use(old=n * bsz)
        use(old=n * bsz, new=n)
        use(old=n, new=bsz * n)
        use(old=n * bsz, new=None)
    """
    assert lines(program, chosen) == [3]


def test_elements_of_unpacked_calls() -> None:
    chosen = rules("- pattern: 'use($X)'\n  where:\n    - value: {of: X, is: ['roll(...)[1]']}\n")
    program = """
    def f(a):
        a, n = roll(a)
        use(a)
        use(n)
        n = n.clamp(min=1)
        use(n)
        use(n.float())
    """
    assert lines(program, chosen) == [4]


def test_a_value_went_through_a_collective_before_its_use() -> None:
    chosen = rules(
        "- pattern: 'use($X)'\n  require:\n    - value: {of: X, through: ['torch.distributed.all_reduce($IT, ...)']}\n"
    )
    program = """
    import torch.distributed as dist
    def f(n, m, group):
        dist.all_reduce(n, group=group)
        use(n)
        use(n.clamp(min=1))
        use(m)
        dist.all_reduce(m)
    def g(n, flag):
        if flag:
            dist.all_reduce(n)
        else:
            use(n)
    """
    assert lines(program, chosen) == [6, 12]


def test_order_and_branches() -> None:
    chosen = rules("- call: use\n  require:\n    - before: ['prepare()']\n")
    program = """
    def f(flag):
        if flag:
            prepare()
            use()
        else:
            use()
        use()
        prepare()
    def g():
        use()
        prepare()
    """
    assert lines(program, chosen) == [6, 10]


def test_conditional_expression_is_a_guard() -> None:
    chosen = rules("- pattern: '$X / $N'\n  require:\n    - under: {if: ['$N > 0']}\n")
    program = """
    def f(x, n):
        a = x / n if n > 0 else 0
        b = 0 if n > 0 else x / n
        if n > 0:
            c = x / n
        return x / n
    """
    assert lines(program, chosen) == [3, 6]


def test_a_default_that_always_wins() -> None:
    chosen = rules("- pattern: 'getattr(self, $N, $D)'\n  require:\n    - defined: {attribute: N}\n")
    program = """
    class A:
        flag = True
        def __init__(self):
            self.seen = 1
        def f(self):
            getattr(self, "flag", 0), getattr(self, "seen", 0), getattr(self, "never", 0)
    """
    assert len(lines(program, chosen)) == 1


def test_what_follows_while_a_name_keeps_its_value() -> None:
    chosen = rules("- pattern: 'if $X: return'\n  where:\n    - then: {keeps: X, pattern: ['$X.$_']}\n")
    program = """
    def kept(x):
        if x: return
        other()
        x.attr
    def renewed(x):
        if x: return
        x = new()
        x.attr
    def renewed_inside(x):
        if x: return
        with lock:
            x = new()
            x.attr
    def used_in_its_own_assignment(x):
        if x: return
        x = x.attr
    """
    assert lines(program, chosen) == [2, 15]
