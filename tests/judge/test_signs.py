"""Both signs of a change, and what a file of which hardly anything is left weighs: the command line on real merges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Workshop
from tests.syncs import Files, Guard, make_sync, set_tree

STEP = "def step(x):\n    log(x)\n    y = compute(x, mode='slow')\n    return y\n"
FASTER = STEP.replace("mode='slow'", "mode='fast'")


def told(workshop: Workshop, guard: Guard, base: Files, theirs: Files, merged: Files) -> list[dict[str, Any]]:
    """The GRD2 findings of a sync to which ours contributes nothing but a note of its own."""
    own = {"OURS.md": "ours\n"}
    make_sync(workshop, base, {**base, **own}, theirs, {**merged, **own})
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
    assert answer.status == 0, answer.errors
    return answer.findings()


@pytest.mark.parametrize(("files", "suffix"), [(2, "py"), (3, "py"), (2, "yaml"), (3, "yaml")])
def test_old_text_that_is_back_in_several_files_is_said_of_each(
    workshop: Workshop, guard: Guard, files: int, suffix: str
) -> None:
    before, after, name = (STEP, FASTER, "slow") if suffix == "py" else ("mode: slow\n", "mode: fast\n", "slow")
    base = {f"part{number}.{suffix}": before for number in range(files)}
    found = told(workshop, guard, base, dict.fromkeys(base, after), base)
    losses = [f for f in found if f["severity"] != "note"]
    assert [(f["path"], f["verdict"]) for f in losses] == [(path, "reverted") for path in base]
    notes = [f for f in found if f["code"] == "GRD205"]
    assert [(f["path"], f["severity"], f["verdict"]) for f in notes] == (
        [(path, "note", "revived") for path in base] if files > 2 else []
    )
    assert all(name in note["message"] for note in notes)
    for note, loss in zip(notes, losses, strict=False):
        assert loss["fingerprint"] in note["related"][0]["message"]
        refused = guard("restore", "--merge", "HEAD", note["fingerprint"])
        assert refused.status != 0
        assert loss["fingerprint"] in refused.errors
        restored = guard("restore", "--merge", "HEAD", loss["fingerprint"])
        assert restored.status == 0, restored.errors
        assert "fast" in restored.output


LONG = "def load(state):\n    keep(state)\n    one = state.pop('first')\n    two = state.pop('second')\n"
LONG += "    state['both'] = join(one, two)\n    check(state['both'], strict=True)\n    return state\n"


def test_a_change_that_took_more_out_than_it_put_in_is_revived(workshop: Workshop, guard: Guard) -> None:
    """Four statements gave way to one short call; the other way round it is a loss."""
    head, _, _ = LONG.partition("    one")
    short = f"{head}    renew(state)\n    return state\n"
    (found, _) = told(workshop, guard, {"m.py": LONG}, {"m.py": short}, {"m.py": LONG})  # and a note: taken whole
    assert (found["code"], found["verdict"], found["symbol"]) == ("GRD205", "revived", "load")
    assert found["message"].startswith("`one=state.pop('first')`")
    assert "`renew(state)`" in found["message"]
    (lost, _) = told(workshop, guard, {"m.py": short}, {"m.py": LONG}, {"m.py": short})
    assert lost["code"] in {"GRD201", "GRD202", "GRD203"}


def test_text_that_was_mostly_deleted_is_revived(workshop: Workshop, guard: Guard) -> None:
    lines = "".join(f"step {word} of the build\n" for word in ("fetch", "unpack", "configure", "compile"))
    before, after = f"start\n{lines}end\n", "start\nmake\nend\n"
    (found,) = [
        f
        for f in told(workshop, guard, {"build.txt": before}, {"build.txt": after}, {"build.txt": before})
        if f["code"] == "GRD208"
    ]
    assert found["verdict"] == "revived"


def test_a_file_that_lost_nearly_all_comes_before_one_lost_fix(workshop: Workshop, guard: Guard) -> None:
    """By numeric, fix, test and evidence alone the single fix, which has a test, would come first."""
    part = "def part{0}(loss, count):\n    log(loss)\n    return loss\n"
    made = "def part{0}(loss, count):\n    log(loss)\n    scale = count / 2\n    loss = loss * scale\n    return loss\n"
    many = {"many.py": "\n\n".join(part.format(n) for n in range(20)), "one.py": part.format("")}
    base = {**many, "test_one.py": "def test_one():\n    pass\n"}
    make_sync(workshop, base, {**base, "OURS.md": "ours\n"}, base, base)
    workshop.switch("main")
    set_tree(workshop, {**base, "one.py": made.format(""), "test_one.py": base["test_one.py"].replace("pass", "one()")})
    workshop.commit("Fix one (#31)")
    theirs = {**base, "many.py": "\n\n".join(made.format(n) for n in range(20)), "one.py": made.format("")}
    theirs["test_one.py"] = base["test_one.py"].replace("pass", "one()")
    set_tree(workshop, theirs)
    workshop.commit("Fix many (#32)")
    workshop.switch("dev")
    workshop.git("merge", "--no-ff", "--no-commit", "-q", "main")
    set_tree(workshop, {**theirs, "many.py": base["many.py"], "one.py": base["one.py"], "OURS.md": "ours\n"})
    workshop.commit("Merge branch 'main' into dev")
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
    errors = [f for f in answer.findings() if f["severity"] == "error"]
    assert [f["path"] for f in errors] == ["many.py"] * 20 + ["one.py"]
    assert errors[-1]["origins"][0]["tests"] == ["test_one.py"]


def test_half_of_what_both_sides_made_in_one_call_is_lost(workshop: Workshop, guard: Guard) -> None:
    """Ours had picked the change of theirs; the merge put a part of the call back."""
    base = "def step(x):\n    return compute(\n        x,\n        longest=4096,\n        mode='slow',\n    )\n"
    both = base.replace("longest=4096,", "prompt=2048,\n        answer=4096,").replace("x,", "x,\n        name=name,")
    half = both.replace("prompt=2048,\n        answer=4096,", "longest=4096,")
    own = {"OURS.md": "ours\n"}
    make_sync(workshop, {"m.py": base}, {"m.py": both, **own}, {"m.py": both}, {"m.py": half, **own})
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
    found = [f for f in answer.findings() if f["severity"] != "note"]
    assert {(f["path"], f["symbol"], f["verdict"]) for f in found} == {("m.py", "step", "partly")}
    assert all("longest" in f["message"] and "prompt" in f["message"] for f in found)


def test_a_name_that_ours_gave_is_no_text_that_ours_wrote(workshop: Workshop, guard: Guard) -> None:
    """Ours renamed a function, theirs rewrote a call in it; merged has both, in other quotes."""
    base = "def _wrap(call):\n    check(call, 'deep')\n    log(call)\n    return run(call, answer=False)\n"
    ours = base.replace("_wrap", "wrap")
    theirs = base.replace("return run(call, answer=False)", "options = {'answer': False}\n    return run(call)")
    merged = theirs.replace("_wrap", "wrap").replace("'", '"')

    def told_of() -> list[tuple[str, str]]:
        answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
        return [(f["symbol"], f["lost_side"]) for f in answer.findings() if f["severity"] != "note"]

    make_sync(workshop, {"m.py": base}, {"m.py": ours}, {"m.py": theirs}, {"m.py": merged})
    assert told_of() == []
    set_tree(workshop, {"m.py": merged.replace("    log(call)\n", "")})
    workshop.git("commit", "-q", "--amend", "-a", "--no-edit")
    assert told_of() != []


def test_a_class_whose_old_name_went_to_a_thin_one_takes_the_edits_of_theirs_along(
    workshop: Workshop, guard: Guard
) -> None:
    """Ours made `Server` a base and a thin heir of that name; theirs gave `Server` one more value."""
    body = "".join(f"        self.{name} = find({name!r})\n" for name in ("host", "port", "pool", "mode", "rank"))
    base = f"class Server:\n    def __init__(self, size):\n        check(size)\n{body}        self.start()\n"
    thin = "\n\nclass Server(ServerBase):\n    def __init__(self, size):\n        super().__init__(size)\n"
    theirs = base.replace("        self.start()", "        self.first = size + 1\n        self.start()")
    ours, merged = (text.replace("Server", "ServerBase") + thin for text in (base, theirs))

    def told_of(text: str) -> list[tuple[str, str]]:
        set_tree(workshop, {"m.py": text})
        workshop.git("commit", "-q", "--amend", "-a", "--no-edit")
        answer = guard.check("--merge", "HEAD", "--select", "GRD2", "--fail-on", "never", folder=workshop.folder)
        return [(f["symbol"], f["lost_side"]) for f in answer.findings() if f["severity"] != "note"]

    make_sync(workshop, {"m.py": base}, {"m.py": ours}, {"m.py": theirs}, {"m.py": merged})
    assert told_of(merged.replace("'", '"')) == []
    lost = merged.replace("        self.first = size + 1\n", "").replace("'", '"')
    assert told_of(lost) == [("ServerBase.__init__", "theirs")]
