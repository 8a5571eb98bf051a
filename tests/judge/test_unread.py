"""Files with lines that this interpreter cannot read: the rest is judged as ever, and those lines as text."""

from __future__ import annotations

import ast

import pytest

from guard.documents.definitions import parse
from guard.documents.unread import MOST_LINES, UNREAD, readable
from guard.errors import NotAnalysedError
from guard.judge.changes import JudgedChange
from guard.judge.judge import FileForms, judge
from guard.model import Side
from tests.conftest import Workshop
from tests.judge.trees import losses
from tests.syncs import Guard, make_sync

OLD = """import os


def tell(loss, count):
    try:
        print "loss", loss / count
    except (ValueError, KeyError), error:
        raise RuntimeError, "no loss"
    print "a long line of %s and %s" % (
        loss,
        count)
    return loss


def scale(loss, count):
    return loss
"""


def judged(*texts: str) -> list[JudgedChange]:
    base, ours, theirs, merged = (parse(text.encode(), lenient=True) for text in texts)
    return judge(FileForms("module.py", base, ours, theirs, merged))


def test_every_line_keeps_its_place_and_every_readable_one_its_meaning() -> None:
    tree, unread = readable(OLD)
    assert unread == 6
    tell, scale = tree.body[1:]
    assert isinstance(tell, ast.FunctionDef)
    assert (tell.lineno, scale.lineno) == (4, 15)
    assert [type(node).__name__ for node in tell.body] == ["Try", "Expr", "Expr", "Expr", "Return"]
    said = [
        node.args[0].value.removeprefix(f"{UNREAD} ")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and UNREAD in ast.dump(node.func)
    ]  # type: ignore[attr-defined]
    assert set(said) == {
        'print "loss", loss / count',
        "(ValueError, KeyError), error",
        'raise RuntimeError, "no loss"',
        'print "a long line of %s and %s" % (',
        "loss,",
        "count)",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("def scale(loss, count):\n    return loss", "def scale(loss, count):\n    return loss * count"),
        pytest.param("loss / count", "loss / max(count, 1)"),
        pytest.param("KeyError), error", "TypeError), error"),
        pytest.param("        count)", "        count + 1)"),
    ],
    ids=["a line that is read", "a line that is not", "a handler", "the end of a statement"],
)
def test_a_lost_edit_is_found_and_a_kept_one_is_not(old: str, new: str) -> None:
    made = OLD.replace(old, new)
    other = OLD.replace("import os\n", "import os\nimport sys\n")
    assert made != OLD
    assert losses(judged(OLD, made, other, other), Side.OURS)
    assert not losses(judged(OLD, made, other, made.replace("import os\n", "import os\nimport sys\n")))


def test_tabs_among_blanks_are_eight_columns() -> None:
    mixed = "def f(x):\n        y = x\n\tz = y\n\treturn z\n"
    tree, unread = readable(mixed)
    assert unread == 0
    assert ast.dump(tree) == ast.dump(ast.parse(mixed.expandtabs(8)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(a, (b, c)):\n    return a\n", id="a definition"),
        pytest.param("<<<<<<< ours\nx = 1\n=======\nx = 2\n>>>>>>> theirs\n", id="a conflict"),
        pytest.param("print 'x'\n" * (MOST_LINES + 1), id="too many lines"),
        pytest.param("x = 1\n    y = 2\n", id="a block of nothing"),
    ],
)
def test_what_cannot_be_set_apart_is_not_analysed(text: str) -> None:
    with pytest.raises(NotAnalysedError, match="does not parse"):
        parse(text.encode(), lenient=True)
    with pytest.raises(NotAnalysedError):
        parse(OLD.encode())


def test_the_report_names_the_loss_and_the_lines_that_were_not_read(workshop: Workshop, guard: Guard) -> None:
    theirs = OLD.replace("    return loss\n\n\ndef scale", "    return loss / 2\n\n\ndef scale")
    theirs = theirs.replace("scale(loss, count):\n    return loss", "scale(loss, count):\n    return loss * count")
    ours = OLD.replace("import os", "import sys")
    make_sync(workshop, {"m.py": OLD}, {"m.py": ours}, {"m.py": theirs}, {"m.py": ours})
    answer = guard("check", "--merge", "HEAD", "-o", "json")
    assert {finding["symbol"] for finding in answer.findings("GRD201", "GRD202", "GRD203")} == {"tell", "scale"}
    reasons = [o["reason"] for o in answer.report["outcomes"] if o["subject"] == "m.py" and o["check"] == "lost"]
    assert "merged: 6 lines are no Python for this interpreter and compared as text" in reasons


def test_what_is_compared_as_text_only_is_told_as_it_stands_and_as_a_note(workshop: Workshop, guard: Guard) -> None:
    theirs = OLD.replace("loss / count", "loss / max(count, 1)")
    ours = OLD.replace("import os", "import sys")
    make_sync(workshop, {"m.py": OLD}, {"m.py": ours}, {"m.py": theirs}, {"m.py": ours})
    (finding,) = (f for f in guard("check", "--merge", "HEAD", "-o", "json").findings("GRD2") if f["symbol"] == "tell")
    assert finding["severity"] == "note"
    assert 'print "loss", loss / max(count, 1)' in finding["message"]
    assert [key for key, value in finding.items() if UNREAD in str(value)] == []


def test_an_import_that_hands_a_name_on_is_another_import() -> None:
    base, made = "from .core import Argument\n", "from .core import Argument as Argument\n"
    assert losses(judged(base, made, base, base), Side.OURS)
    assert not losses(judged(base, made, base, made))
