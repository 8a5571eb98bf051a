"""What a merge did to a side's work and what git shows no trace of: told, at least as a note, on real merges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Workshop
from tests.syncs import Files, Guard, make_sync

KEEP = {"keep.py": "def keep(a, b):\n    c = a\n    return c\n"}


def found(
    workshop: Workshop, guard: Guard, base: Files, ours: Files, theirs: Files, merged: Files
) -> list[dict[str, Any]]:
    make_sync(workshop, {**KEEP, **base}, {**KEEP, **ours}, {**KEEP, **theirs}, {**KEEP, **merged})
    answer = guard.check("--merge", "HEAD", "--fail-on", "never", folder=workshop.folder)
    assert answer.status == 0, answer.errors
    return answer.findings()


LOSS = """\
def compute(logits, labels, mask, count, mbs=1):
    losses = entropy(logits.float(), labels)
    total = (losses * mask).sum()
    if count is None:
        count = mask.sum()
    scaled = total / count
    return scaled, {"loss": scaled.detach()}
"""
REWRITTEN = (
    "def compute(logits, labels, mask, count, mbs=1):\n    out = fused(logits, labels, mask)\n    return out, {}\n"
)


@pytest.mark.parametrize("rewritten", [REWRITTEN, REWRITTEN.replace("compute", "other")], ids=["body", "definition"])
def test_a_fix_of_what_the_other_side_rewrote_is_a_note_and_does_not_survive(
    workshop: Workshop, guard: Guard, rewritten: str
) -> None:
    fixed = LOSS.replace("total / count", "total / (count * mbs)")
    make_sync(workshop, {"m.py": LOSS}, {"m.py": fixed}, {"m.py": rewritten}, {"m.py": rewritten})
    answer = guard.check("--merge", "HEAD", "--fail-on", "never", folder=workshop.folder)
    (note,) = [f for f in answer.findings() if f["verdict"] == "superseded"]
    assert (note["severity"], note["lost_side"], note["origins"][0]["pr"]) == ("note", "ours", 11)
    (merge,) = answer.report["merges"]
    assert merge["changes"]["ours"]["kept"] == 0


def test_a_file_that_one_side_edited_and_the_other_deleted_is_told_whichever_way_the_merge_went(
    workshop: Workshop, guard: Guard
) -> None:
    fixed = LOSS.replace("total / count", "total / (count * mbs)")
    (gone,) = [
        f
        for f in found(workshop, guard, {"d.py": LOSS}, {"d.py": fixed}, {}, {})
        if f["path"] == "d.py" and f["code"] == "GRD206"
    ]
    assert (gone["severity"], gone["verdict"], gone["lost_side"]) == ("warning", "superseded", "ours")
    (back,) = [
        f
        for f in found(workshop, guard, {"d.py": LOSS}, {}, {"d.py": fixed}, {"d.py": fixed})
        if f["path"] == "d.py" and f["code"] == "GRD206"
    ]
    assert (back["severity"], back["verdict"], back["lost_side"]) == ("warning", "superseded", "ours")


def test_a_file_that_neither_side_touched_and_the_merge_deleted_is_lost(workshop: Workshop, guard: Guard) -> None:
    theirs = {"d.py": LOSS, "new.py": "x = 1\n"}
    (told,) = [
        f
        for f in found(workshop, guard, {"d.py": LOSS}, {"d.py": LOSS}, theirs, {"new.py": "x = 1\n"})
        if f["code"] == "GRD206"
    ]
    assert (told["path"], told["verdict"]) == ("d.py", "lost")
    assert "both sides" in told["message"]


SCRIPT = """\
def main(path):
    state = load(path)
    run(state)
    return state


def run(state):
    state.step()
    state.save()
"""
NAMESAKE = """\
def main(args):
    print(args)
    server = serve(args)
    return server


def run(state):
    serve(state).wait()
    stop()
"""


def test_a_new_file_that_was_dropped_is_lost_though_another_one_has_functions_of_the_same_names(
    workshop: Workshop, guard: Guard
) -> None:
    told = found(workshop, guard, {}, {"tool.py": SCRIPT}, {"server.py": NAMESAKE}, {"server.py": NAMESAKE})
    assert [(f["code"], f["path"], f["lost_side"]) for f in told] == [("GRD206", "tool.py", "ours")]


PY2 = "def f(x):\n    print 'a', x\n" + "".join(f"    print 'line {n}', x\n" for n in range(30)) + "    return x / 2\n"
FIXED2 = PY2.replace("x / 2", "x / 4")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged", "expected"),
    [
        (PY2, FIXED2, PY2, PY2, ("reverted", "ours")),
        (PY2, PY2, FIXED2, PY2, ("reverted", "theirs")),
        (None, PY2, None, None, ("lost", "ours")),
        (PY2, None, PY2, PY2, ("revived", "ours")),
        (PY2, PY2, PY2, None, ("lost", None)),
        (PY2, FIXED2, PY2, FIXED2, None),
    ],
)  # fmt: skip
def test_a_python_file_that_does_not_parse_is_judged_as_a_whole(
    workshop: Workshop, guard: Guard, base: str, ours: str, theirs: str, merged: str, expected: tuple[str, str] | None
) -> None:
    trees = [{"old.py": text} if text is not None else {} for text in (base, ours, theirs, merged)]
    told = [f for f in found(workshop, guard, *trees) if f["path"] == "old.py" and f["code"] in ("GRD206", "GRD208")]
    assert {(f["verdict"], f["lost_side"]) for f in told} == ({expected} if expected else set())


PLAIN = "#!/usr/bin/python\nimport a\nx = []\n\n\ndef f(a):\n    return a.x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = []", "x = []  # type: List[int]"),
        ("return a.x", "return a.x  # type: ignore[attr]"),
        ("import a", "import a  # noqa: F401"),
        ("def f(a):", "def f(a):  # pragma: no cover"),
        ("#!/usr/bin/python", "#!/usr/bin/env python3"),
        ("import a\n", "# -*- coding: utf-8 -*-\nimport a\n"),
        ("return a.x", "return a.x  # pylint: disable=no-member"),
    ],
)
def test_a_comment_that_a_tool_acts_on_and_that_was_lost_is_a_note(
    workshop: Workshop, guard: Guard, before: str, after: str
) -> None:
    ours = PLAIN.replace(before, after)
    told = found(
        workshop, guard, {"m.py": PLAIN}, {"m.py": ours}, {"m.py": PLAIN + "y = 1\n"}, {"m.py": PLAIN + "y = 1\n"}
    )
    assert [
        (f["severity"], f["lost_side"]) for f in told if f["code"].startswith("GRD2") and f["code"] != "GRD209"
    ] == [("note", "ours")]


STEP = "def step(loss, scale, n):\n    log(loss)\n    check(n)\n    return loss\n"


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ("    loss = loss * scale\n", "    loss *= scale\n"),
        ("    loss = loss / n\n", "    loss.div_(n)\n"),
        ("    loss = scale * loss\n", "    loss = torch.mul(loss, scale)\n"),
        ("    all_reduce(loss, group=g)\n", "    all_reduce(loss, group=g)\n"),
    ],
)
def test_what_each_side_does_once_and_merged_twice_is_an_error(
    workshop: Workshop, guard: Guard, mine: str, other: str
) -> None:
    ours, theirs = STEP.replace("    log", f"{mine}    log"), STEP.replace("    return", f"{other}    return")
    both = ours.replace("    return", f"{other}    return")
    told = [
        f
        for f in found(workshop, guard, {"m.py": STEP}, {"m.py": ours}, {"m.py": theirs}, {"m.py": both})
        if f["verdict"] == "done twice"
    ]
    assert [(f["code"], f["severity"], f["symbol"]) for f in told] == [("GRD309", "error", "step")]


def test_what_stands_in_two_branches_runs_once(workshop: Workshop, guard: Guard) -> None:
    base = "def f(loss, n):\n    if n:\n        log(1)\n    else:\n        log(2)\n    return loss\n"
    ours = base.replace("        log(1)\n", "        log(1)\n        loss /= n\n")
    theirs = base.replace("        log(2)\n", "        log(2)\n        loss = loss / n\n")
    both = ours.replace("        log(2)\n", "        log(2)\n        loss = loss / n\n")
    told = found(workshop, guard, {"m.py": base}, {"m.py": ours}, {"m.py": theirs}, {"m.py": both})
    assert [f for f in told if f["verdict"] == "done twice"] == []
