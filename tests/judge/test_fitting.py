"""What a person fitted into the other side's form is no loss, or one in doubt; the expected answers are read off."""

from __future__ import annotations

import pytest

from guard.judge.changes import JudgedChange
from guard.judge.doubts import in_doubt
from guard.model import Side
from tests.conftest import Workshop
from tests.judge.trees import judged, losses
from tests.syncs import Guard, set_tree


def doubts(changes: list[JudgedChange]) -> list[bool]:
    return [in_doubt(piece) for change in changes for piece in change.pieces]


def test_of_two_copies_the_one_most_like_it_counts() -> None:
    """Both sides add a function; merged has theirs, cut short, and ours below it."""
    whole = "def act(x):\n    one(x, 1)\n    two(x, 2)\n    return three(x, 3)\n"
    short = "def act(x):\n    return zero(x)\n"
    assert not losses(judged("", whole, short, f"{short}\n\n{whole}"))
    assert losses(judged("", whole, short, f"{short}\n\n{short}"), Side.OURS)


SUM = "def flops(batch, seq):\n    return attend(batch, seq) + 2 * feed(batch, seq)\n"


def test_names_that_the_other_side_took_out_of_the_statement_are_not_missing() -> None:
    renamed = "def flops(tokens):\n    return attend(tokens) + 2 * feed(tokens)\n"
    more = SUM.replace("feed(batch, seq)", "feed(batch, seq) + gate(batch, seq)")
    fitted = renamed.replace("feed(tokens)", "feed(tokens) + gate(tokens)")
    assert not losses(judged(SUM, renamed, more, fitted))
    assert losses(judged(SUM, renamed, more, renamed), Side.THEIRS)


def test_a_new_function_in_the_names_of_the_other_side_is_doubted() -> None:
    renamed = "def flops(tokens):\n    return attend(tokens) + 2 * feed(tokens)\n"
    new = (
        "\n\ndef gate(batch, seq, width):\n    size = width * 2\n    return 6 * batch * seq * (width + size) * width\n"
    )
    there = "\n\ndef gate(tokens, width):\n    size = width * 2\n    return 6 * tokens * (width + size) * width\n"
    lost = losses(judged(SUM, renamed, SUM + new, renamed + there), Side.THEIRS)
    assert doubts(lost)
    assert all(doubts(lost))
    cut = new.replace("batch * seq * ", "").replace("batch, seq, ", "")
    assert not all(doubts(losses(judged(SUM, renamed, SUM + new, renamed + cut), Side.THEIRS)))


def test_what_both_sides_wrote_in_their_own_way_is_doubted() -> None:
    ours = "def unpack(x, cu):\n    n = cu.shape[0] - 1\n    scale(x, cu, n)\n    return x\n"
    theirs = "def unpack(x, cu):\n    n = len(cu.tolist())\n    return x\n"
    (change,) = losses(judged("", ours, theirs, theirs), Side.OURS)
    assert {piece.missing[0]: in_doubt(piece) for piece in change.pieces} == {
        "n=cu.shape[0]- 1": True,
        "scale(x, cu, n)": False,
    }


def test_a_name_bound_twice_in_a_module_and_once_in_merged_is_no_loss() -> None:
    base = "import logging\n\nlogger = logging.getLogger('a')\nLIMIT = 3\n"
    twice = base.replace("\n\n", "\n\nlogger = logging.getLogger('a')\nOTHER = 1\n")
    once = twice.replace("OTHER = 1\nlogger = logging.getLogger('a')\n", "OTHER = 1\n")
    assert once != twice
    assert not losses(judged(base, twice, base, once))
    between = twice.replace("OTHER = 1\n", "logger = None\n")
    assert losses(judged(base, between, base, once.replace("OTHER = 1\n", "")), Side.OURS)


def test_a_list_with_everything_of_both_is_no_loss_but_a_longer_formula_is() -> None:
    assert not losses(judged("", "ALL = ['a', 'b']\n", "ALL = ['c', 'd', 'e']\n", "ALL = ['a', 'b', 'c', 'd', 'e']\n"))
    assert losses(
        judged("", "ALL = ['a', 'b']\n", "ALL = ['c', 'd', 'e']\n", "ALL = ['a', 'c', 'd', 'e']\n"), Side.OURS
    )
    assert losses(
        judged("", "def f(a):\n    x = a\n", "def f(a):\n    y = 2\n", "def f(a):\n    x = a * b * c\n    y = 2\n")
    )


def test_an_answer_in_the_words_of_the_other_side_is_no_loss() -> None:
    base = "def fits(x):\n    if x.a:\n        return False\n    if x.b:\n        return False\n    return True\n"
    told = base.replace("return False", "return no(x)")
    more = base.replace("    return True", "    if x.c > 1:\n        return False\n    return True")
    assert not losses(
        judged(
            base, told, more, told.replace("    return True", "    if x.c > 1:\n        return no(x)\n    return True")
        )
    )
    silent = told.replace("    return True", "    if x.c > 1:\n        log(x)\n    return True")
    assert losses(judged(base, told, more, silent), Side.THEIRS)


def test_an_entry_stands_behind_its_key_however_many_values_are_alike() -> None:
    """Of two new entries with one value merged has the first: only the second is missing."""
    base = "CONFIG = {'a': None, 'b': False, 'k': 1, 'l': 2, 'z': 3}\n"
    one = base.replace("'k'", "'c': False, 'k'")
    ours = one.replace("'z'", "'e': False, 'z'")
    (change,) = losses(
        judged(base, ours, base.replace("'a': None", "'a': True"), one.replace("'a': None", "'a': True"))
    )
    assert change.side is Side.OURS
    assert [piece.missing for piece in change.pieces] == [("'e': False",)]


KEPT = "def keep(x):\n    first(x)\n    return x + 1\n"
GONE = "\n\ndef old(x):\n    one = prepare(x)\n    two = combine(one, x)\n    send(two, x)\n    return x + 1\n"


def test_what_an_earlier_sync_dropped_is_no_deletion_of_ours_though_another_commit_took_a_line(
    workshop: Workshop, guard: Guard
) -> None:
    set_tree(workshop, {"m.py": KEPT})
    workshop.commit("base")
    workshop.branch("dev")
    workshop.switch("main")
    set_tree(workshop, {"m.py": KEPT + GONE})
    workshop.commit("Add old (#1)")
    workshop.switch("dev")
    set_tree(workshop, {"m.py": KEPT, "dev.md": "dev\n"})
    workshop.commit("dev")
    workshop.git("merge", "-q", "--no-ff", "--no-commit", "main")
    set_tree(workshop, {"m.py": KEPT, "dev.md": "dev\n"})
    workshop.commit("Merge branch 'main' into dev")
    set_tree(workshop, {"m.py": KEPT.replace("return x + 1", "return x + 2"), "dev.md": "dev\n"})
    workshop.commit("Count from two (#2)")
    workshop.switch("main")
    set_tree(workshop, {"m.py": KEPT + GONE, "main.md": "main\n"})
    workshop.commit("main")
    workshop.switch("dev")
    workshop.git("merge", "-q", "--no-ff", "--no-commit", "main", check=False)
    set_tree(
        workshop, {"m.py": KEPT.replace("return x + 1", "return x + 2") + GONE, "dev.md": "dev\n", "main.md": "main\n"}
    )
    workshop.commit("Merge branch 'main' into dev")
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
    assert [(f["symbol"], f["severity"]) for f in answer.findings("GRD205")] == [("old", "note")]


@pytest.mark.parametrize("word", ["return", "continue"])
def test_a_bare_keyword_belongs_to_the_commit_of_its_neighbours(workshop: Workshop, guard: Guard, word: str) -> None:
    def file(first: str, second: str) -> dict[str, str]:
        body = "    for y in x:\n        use(y)\n"
        one, two = (f"def {name}(x):\n{body}{more}" for name, more in (("one", first), ("two", second)))
        return {"m.py": f"{one}\n\n{two}"}

    lost = f"        if y.empty:\n            report(y, x)\n            {word}\n        finish(y)\n"
    other = f"        if y:\n            {word}\n        stop(y)\n"
    set_tree(workshop, file("", ""))
    workshop.commit("base")
    workshop.branch("dev")
    set_tree(workshop, file(lost, ""))
    workshop.commit("Fix empty ones (#1)")
    set_tree(workshop, file(lost, other))
    workshop.commit("Stop early (#2)")
    workshop.switch("main")
    set_tree(workshop, {**file("", ""), "main.md": "main\n"})
    workshop.commit("main")
    workshop.switch("dev")
    workshop.git("merge", "-q", "--no-ff", "--no-commit", "main")
    set_tree(workshop, {**file("", other), "main.md": "main\n"})
    workshop.commit("Merge branch 'main' into dev")
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
    told = [f for f in answer.findings() if f["severity"] != "note"]
    assert [(f["symbol"], [o["pr"] for o in f["origins"]]) for f in told] == [("one", [1])]


def test_an_import_in_another_block_and_one_that_is_read_are_no_loss() -> None:
    base = "import os\n\n\ndef f(x):\n    return x\n"
    ours = base.replace("import os\n", "import os\nfrom tools import mend\n")
    guarded = "try:\n    from tools import mend\nexcept ImportError:\n    mend = None\n"
    theirs = base.replace("import os\n", f"import os\n\n{guarded}")
    assert not losses(judged(base, ours, theirs, theirs), Side.OURS)
    twice = base.replace("import os\n", "import os\nimport sys\nimport os\n")
    assert not losses(judged(twice, twice, twice + "X = 1\n", twice.replace("sys\nimport os\n", "sys\n") + "X = 1\n"))
    gone = base.replace("import os\n\n\n", "")
    read = base.replace("return x", "return os.path.join(x)")
    assert not losses(judged(base, gone, read, read)), "theirs reads it now"
    assert losses(judged(base, gone, base, base), Side.OURS)
    old = read.replace("return x", "return x\n\n\nlast = 1\n")
    back = losses(judged(old, gone, old, old), Side.OURS)
    assert {"<module>", "f"} == {change.place.symbol for change in back}, "the import and its reader are back together"
    old = "from old import path\nX = 1\n\n\ndef f(x):\n    return path(x)\n"
    new = old.replace("from old import path\n", "").replace("X = 1\n", "X = 1\nfrom new import path\n")
    assert losses(judged(old, new, old, f"from old import path\n{new}"), Side.OURS), "ours reads another one"


def test_an_answer_below_a_condition_that_was_fitted_is_no_loss() -> None:
    base = "def fits(x):\n    if x.a:\n        return False\n    if x.b:\n        return False\n    return True\n"
    told = base.replace("return False", "return no(x)")
    test = "    if {0} and 'scale_bias' not in signature(x.first.init).parameters:\n        return {1}\n    return True"
    more = base.replace("    return True", test.format("x.second.bias", "False"))
    fitted = told.replace("    return True", test.format("x.second.bias", "no(x)").replace("x.first", "ops.first"))
    lost = losses(judged(base, told, more, fitted))
    assert not any("return" in text for change in lost for piece in change.pieces for text in piece.missing)


def test_an_order_or_a_block_that_is_the_base_s_again_is_a_loss() -> None:
    base = "def f(r):\n    if r.x:\n        a(1)\n    else:\n        b(2)\n    w(r)\n    z(r)\n"
    inside = base.replace("    w(r)", "        w(r)")
    swapped = base.replace("    w(r)\n    z(r)", "    z(r)\n    w(r)")
    for side in (inside, swapped):
        assert losses(judged(base, side, base, base), Side.OURS)
        assert not losses(judged(base, side, base, side))
