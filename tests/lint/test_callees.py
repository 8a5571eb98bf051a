"""Which calls a rule means, and which argument meets which parameter."""

from __future__ import annotations

import pytest

from guard.model import Severity
from tests.lint.programs import lint_tree, rules

CORE = """
def z_loss_func(logits, coeff, group=None):
    return logits


class Base:
    def attach(self, loss, group=None):
        return loss
"""
BY_NAME = rules("- call: pkg.moe.utils.z_loss_func\n  where: [{accepts: group}]\n  require: [{passes: group}]\n")
BY_METHOD = rules("- call: Base.attach\n  where: [{accepts: group}]\n  require: [{passes: group}]\n")
TREE = {"pkg/__init__.py": "", "pkg/moe/__init__.py": "from .utils import *\n", "pkg/moe/utils.py": CORE}


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("from . import utils\nutils.z_loss_func(a, b)\n", 1),
        ("from ..moe.utils import z_loss_func as zl\nzl(a, b)\n", 1),
        ("from pkg.moe import z_loss_func\nz_loss_func(a, b)\n", 1),
        ("import pkg.moe.utils\npkg.moe.utils.z_loss_func(a, b)\n", 1),
        ("import pkg.moe.utils as u\nu.z_loss_func(a, b)\n", 1),
        ("def f():\n    from pkg.moe.utils import z_loss_func\n    return z_loss_func(a, b)\n", 1),
        ("from pkg.moe.utils import z_loss_func\nz_loss_func(a, b, g)\n", 0),
        ("from pkg.moe.utils import z_loss_func\nz_loss_func(a, b, group=g)\n", 0),
        ("from pkg.moe.utils import z_loss_func\nz_loss_func(a, b, group=None)\n", 1),
        ("from pkg.moe.utils import z_loss_func, z_loss_func_b\nz_loss_func_b(a)\n", 0),
        ("from other.utils import z_loss_func\nz_loss_func(a, b)\n", 0),
        ("from pkg.moe.utils import A, Ab\nAb()\n", 0),
    ],
)
def test_every_spelling_of_a_callee(program: str, found: int) -> None:
    result = lint_tree({**TREE, "pkg/moe/caller.py": program}, BY_NAME, only=("pkg/moe/caller.py",))
    assert len(result.findings) == found


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("class R(Base):\n    def f(self, x):\n        return self.attach(x)\n", 1),
        ("class R(Base):\n    pass\nclass S(R):\n    def f(self, x):\n        return self.attach(x)\n", 1),
        ("class R(Base):\n    def f(self, x):\n        return super().attach(x)\n", 1),
        ("def f(x):\n    b = Base()\n    return b.attach(x)\n", 1),
        ("class R:\n    def attach(self, x, group=None): ...\n    def f(self, x):\n        return self.attach(x)\n", 0),
        ("class R(Base):\n    def f(self, x):\n        return self.attach(x, self.group)\n", 0),
    ],
)
def test_methods_by_the_hierarchy_of_classes(program: str, found: int) -> None:
    program = "from pkg.moe.utils import Base\n" + program
    result = lint_tree({**TREE, "user.py": program}, BY_METHOD, only=("user.py",))
    assert [f.severity for f in result.findings] == [Severity.ERROR] * found


@pytest.mark.parametrize("call", ["z_loss_func(*args)", "z_loss_func(a, b, **kwargs)"])
def test_hidden_arguments_make_a_note(call: str) -> None:
    program = f"from pkg.moe.utils import z_loss_func\ndef f(a, b, args, kwargs):\n    return {call}\n"
    result = lint_tree({**TREE, "user.py": program}, BY_NAME, only=("user.py",))
    assert [f.severity for f in result.findings] == [Severity.NOTE]


def test_a_dictionary_written_out_hides_nothing() -> None:
    program = """
    from pkg.moe.utils import z_loss_func
    def right(a, b, g):
        more = {"group": g}
        return z_loss_func(a, b, **more)
    def wrong(a, b, g):
        more = {"coeff": b}
        return z_loss_func(a, **more)
    def filled_later(a, b, g):
        more = {}
        more["group"] = g
        return z_loss_func(a, b, **more)
    """
    result = lint_tree({**TREE, "user.py": program}, BY_NAME, only=("user.py",))
    assert [(f.symbol, f.severity) for f in result.findings] == [
        ("wrong", Severity.ERROR),
        ("filled_later", Severity.NOTE),
    ]


def test_an_unknown_receiver_makes_a_note() -> None:
    chosen = rules("- call: Base.attach\n  parameters: [loss, group]\n  require: [{passes: group}]\n")
    result = lint_tree({**TREE, "user.py": "def f(thing, x):\n    return thing.attach(x)\n"}, chosen, only=("user.py",))
    assert [f.severity for f in result.findings] == [Severity.NOTE]


def test_a_callee_without_the_parameter_is_not_asked_for_it() -> None:
    tree = {**TREE, "pkg/moe/utils.py": "def z_loss_func(logits, coeff):\n    return logits\n"}
    program = "from pkg.moe.utils import z_loss_func\nz_loss_func(a, b)\n"
    assert lint_tree({**tree, "user.py": program}, BY_NAME, only=("user.py",)).findings == ()


def test_source_roots_and_installed_packages(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from guard.lint.engine import lint_sources
    from guard.lint.project import ProjectIndex
    from guard.lint.source import Source

    (tmp_path / "pkg" / "moe").mkdir(parents=True)
    for path in ("pkg/__init__.py", "pkg/moe/__init__.py"):
        (tmp_path / path).write_text("")
    (tmp_path / "pkg/moe/utils.py").write_text(CORE)
    user = Source("user.py", b"from pkg.moe.utils import z_loss_func\nz_loss_func(a, b)\n")
    for project in (
        ProjectIndex(["user.py"], {"user.py": user.data}.get, installed=[tmp_path]),
        ProjectIndex(["user.py", "src/pkg/moe/utils.py"], {"src/pkg/moe/utils.py": CORE.encode()}.get),
    ):
        assert len(lint_sources([user], BY_NAME, project=project).findings) == 1
    # Without any signature nothing says that the parameter is there.
    assert lint_sources([user], BY_NAME).findings == ()
