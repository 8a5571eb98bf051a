"""Whatever stands around it, an edit is made as it was meant or not at all."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections import Counter

import pytest

from guard.errors import NotAnalysedError
from guard.lint.fixes import FixResult, fix_source
from guard.lint.rewriting import Replacement
from guard.lint.source import Source
from guard.lint.verifying import difference
from tests.lint.programs import BUILTIN, lint_text

FIXABLE = [rule for rule in BUILTIN if rule.fix is not None]
BAD = [pytest.param(rule.id, code, id=f"{rule.id}-{i}") for rule in FIXABLE for i, code in enumerate(rule.bad)]


def indented(code: str, head: str) -> str:
    return f"{head}\n" + textwrap.indent(code, "    ")


SHAPES = {
    "as it is": lambda code: code,
    "twice": lambda code: code + "\n\n" + code,
    "in a branch": lambda code: indented(code, "if True:"),
    "in a function": lambda code: indented(code, "def around():"),
    "in a class": lambda code: indented(code, "class Around:"),
    "tabs": lambda code: code.replace("    ", "\t"),
    "returns": lambda code: code.replace("\n", "\r\n"),
    "comments": lambda code: "".join(
        line + f"  # line {i}\n" if line.strip() and not line.rstrip().endswith(("(", ",", "\\")) else line + "\n"
        for i, line in enumerate(code.splitlines())
    ),
    "comments inside brackets": lambda code: code.replace("(", "(  # inside\n        ", 1),
    "spaces": lambda code: code.replace("(", " ( ").replace(",", " , "),
    "no last line end": lambda code: code.rstrip("\n"),
    "semicolons": lambda code: code.rstrip("\n") + "; pass\n",
    "names of its own": lambda code: code.replace("import torch\n", "import torch as t\n").replace("torch.", "t."),
    "no import": lambda code: code.replace("import torch\n", ""),
    "a stranger of the same name": lambda code: "def torch(): ...\n" + code,
}


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def statements(text: str) -> Counter[str]:
    """Simple statements, and the heads of compound ones, as Python writes them."""
    found: Counter[str] = Counter()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            found[ast.unparse(node).partition("\n")[0]] += 1
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("rule", "code"), BAD)
def test_an_edit_is_exact_or_not_made(rule: str, code: str, shape: str) -> None:
    text = SHAPES[shape](code)
    try:
        compile(text, "example", "exec")
    except SyntaxError:
        pytest.skip("the shape makes no Python of this example")
    chosen = BUILTIN.only([rule], ())
    try:
        result = fix_source(Source("p.py", text.encode()), chosen)
    except NotAnalysedError:
        return
    if result.data is None:
        return
    after = result.data.decode()
    compile(after, "edited", "exec")
    assert comments(after) == comments(text)
    old, new = statements(text), statements(after)
    assert (old - new).total() <= len(result.fixed)
    assert (new - old).total() <= len(result.fixed)
    assert len(lint_text(after, chosen)) <= max(0, len(lint_text(text, chosen)) - len(result.fixed))


def test_every_rule_with_a_fix_says_what_it_keeps_and_mends_an_example() -> None:
    for rule in FIXABLE:
        made = [fix_source(Source("p.py", code.encode()), BUILTIN.only([rule.id], ())).data for code in rule.bad]
        assert any(made), rule.id


def fix(text: str) -> FixResult:
    return fix_source(Source("p.py", textwrap.dedent(text).lstrip("\n").encode()), BUILTIN)


def test_a_name_that_is_not_known_at_the_place_is_not_brought_in() -> None:
    result = fix("""
        from torch.cuda import default_stream

        def start(communication_stream):
            communication_stream.wait_stream(default_stream())
    """)
    assert result.data is None
    assert result.refused == (("current-stream", 4, "torch is not known at the place"),)


def test_an_argument_of_what_is_replaced_stays() -> None:
    result = fix("""
        import torch

        def start(communication_stream, device):
            communication_stream.wait_stream(torch.cuda.default_stream(device=device))
    """)
    assert result.data is not None
    assert b"wait_stream(torch.cuda.current_stream(device=device))" in result.data


def test_one_place_that_cannot_be_edited_does_not_keep_another_from_it() -> None:
    result = fix("""
        import torch
        from torch.cuda import default_stream

        def start(comm_stream):
            comm_stream.wait_stream(torch.cuda.default_stream())

        def again(comm_stream, torch):
            comm_stream.wait_stream(default_stream())

        def more(communication):
            communication.wait_stream(  torch.cuda.default_stream(  # of this device
            ))
    """)
    assert result.data is not None
    assert [line for _, line in result.fixed] == [5, 11]
    assert b"# of this device" in result.data


OLD = b"def f(a, b):\n    return a * b  # two\n"
PLACE = (2, 11, 2, 16)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (b"def f(a, b):\n    return a + b  # two\n", None),
        (b"def f(a, b):\n    return (a + b)  # two\n", None),
        (b"def f(a, b):\n    return a - b  # two\n", "differ in more"),
        (b"def f(a, c):\n    return a + b  # two\n", "differ in more"),
        (b"def f(a, b):\n    return a + b\n", "comment"),
        (b"def f(a, b):\nreturn a + b  # two\n", "compile"),
        (b"def f(a, b):\n    return a + b  # two\nreturn 1\n", "differ in more|compile"),
        (OLD, "differ in more"),
    ],
)
def test_what_differs_from_what_was_meant_is_told(after: bytes, said: str | None) -> None:
    problem = difference(OLD, after, {PLACE: Replacement(PLACE, "a + b")})
    if said is None:
        assert problem is None
    else:
        assert problem is not None
        assert any(part in problem for part in said.split("|"))


@pytest.mark.parametrize(
    "edit",
    [
        Replacement((9, 0, 9, 3), "a + b"),
        Replacement(PLACE, "a +"),
        Replacement(PLACE, "return a", statement=True),
        Replacement(PLACE, "b", keyword="more"),
    ],
)
def test_an_edit_that_has_no_place_is_told(edit: Replacement) -> None:
    assert difference(OLD, OLD, {edit.key: edit}) is not None
