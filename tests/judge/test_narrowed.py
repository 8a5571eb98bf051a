"""The lines of one method, cut out of its class."""

from __future__ import annotations

from textwrap import dedent

import pytest

from guard.sync.readings import narrowed

DECORATED = """
class Kernels:
    first = 1
    {decorators}
    def scaled(self, x):
        return x

    def other(self):
        return 1
"""


@pytest.mark.parametrize(
    "decorators",
    [
        "@jit",
        "@autotune(\n        configs=[\n            Config(64),\n        ],\n    )\n    @jit",
        "@jit\n    # why\n    @tune(1)",
        "@parametrize('x', [\n        1,\n    ])",
    ],
)
def test_a_method_has_its_decorators_of_several_lines(decorators: str) -> None:
    found = narrowed(DECORATED.format(decorators=decorators), "scaled")
    assert found is not None
    assert found[1] == dedent(f"    {decorators}\n    def scaled(self, x):\n        return x\n")
