"""Syncs of every shape, through the command line: what is judged, what is refused, and with which exit state."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = "STACK = 8192\nLIMIT = 4\n\n\ndef f(x):\n    return x\n"
OURS = BASE.replace("8192", "16384")
THEIRS = BASE.replace("LIMIT = 4", "LIMIT = 5")


def branches(workshop: Workshop) -> tuple[str, str]:
    """main and dev, each with one change; HEAD is dev."""
    workshop.commit("base", {"m.py": BASE})
    workshop.branch("dev")
    ours = workshop.commit("Raise the stack (#11)", {"m.py": OURS})
    workshop.switch("main")
    theirs = workshop.commit("Fix the limit (#22)", {"m.py": THEIRS})
    workshop.switch("dev")
    return ours, theirs


def losses(guard: Guard, workshop: Workshop, *which: str) -> tuple[int, list[tuple[str, str]]]:
    """Exit state with --fail-on warning, and (lost side, path) of the losses."""
    answer = guard.check(*which, "--select", "GRD2", "--fail-on", "warning", folder=workshop.folder)
    found = [(f["lost_side"], f["path"]) for f in answer.findings() if f["severity"] != "note"] if answer.output else []
    return answer.status, found


def test_a_blob_taken_whole_hides_nothing(workshop: Workshop, guard: Guard) -> None:
    """Hard input 1."""
    branches(workshop)
    merge = workshop.merge("main", {"m.py": THEIRS})
    assert losses(guard, workshop, "--merge", merge) == (1, [("ours", "m.py")])
    assert losses(guard, workshop) == (1, [("ours", "m.py")]), "HEAD is that merge"


def test_a_file_name_that_is_not_utf_8_is_like_any_other(workshop: Workshop, guard: Guard) -> None:
    branches(workshop)
    name = os.fsdecode(b"lat\xe9in\n.py")
    for branch, text in (("main", "def f(n):\n    return n + 2\n"), ("dev", "def f(n):\n    return n + 1\n")):
        workshop.switch(branch)
        workshop.commit(f"f on {branch}", {name: text, "m.py": THEIRS})
    workshop.git("merge", "-q", "-s", "ours", "-m", "Merge branch 'main' into dev", "main")
    merge = workshop.git("rev-parse", "HEAD")
    answer = guard.check("--merge", merge, folder=workshop.folder)
    assert [outcome for outcome in answer.report["outcomes"] if outcome["status"] != "ran"] == []
    assert ("theirs", "lat\\xe9in\n.py") in losses(guard, workshop, "--merge", merge)[1]


def test_a_clean_merge_is_exit_0(workshop: Workshop, guard: Guard) -> None:
    branches(workshop)
    merge = workshop.merge("main", {"m.py": OURS.replace("LIMIT = 4", "LIMIT = 5")})
    assert losses(guard, workshop, "--merge", merge) == (0, [])


def test_a_squashed_sync_is_never_nothing(workshop: Workshop, guard: Guard) -> None:
    """Hard input 2: one parent, the subject of a sync, the tree of upstream's tip but for one file."""
    ours, theirs = branches(workshop)
    squash = workshop.commit("Sync upstream/main", {"m.py": THEIRS, "n.py": "n = 1\n"})
    for which in (("--merge", squash), ("--since", ours)):
        answer = guard.check(*which, "--select", "GRD2", folder=workshop.folder)
        assert answer.status == 3, which
        assert "looks like a squashed sync" in answer.output + answer.errors
        assert "--theirs" in answer.output + answer.errors
    by_hand = ("--ours", f"{squash}^", "--theirs", theirs, "--merged", squash)
    assert losses(guard, workshop, *by_hand) == (1, [("ours", "m.py")])
    (workshop.folder / "guard.toml").write_text('sync-from = "main"\n')
    assert losses(guard, workshop, "--merge", squash) == (1, [("ours", "m.py")])
    assert losses(guard, workshop, "--since", ours) == (1, [("ours", "m.py")])


def test_an_octopus_is_refused(workshop: Workshop, guard: Guard) -> None:
    ours, theirs = branches(workshop)
    third = workshop.git("commit-tree", f"{ours}^{{tree}}", "-p", f"{ours}^", "-m", "third")
    tree = f"{theirs}^{{tree}}"
    octopus = workshop.git("commit-tree", tree, "-p", ours, "-p", theirs, "-p", third, "-m", "Merge three")
    workshop.git("reset", "-q", "--hard", octopus)
    for which in (("--merge", octopus), ("--since", ours), ()):
        answer = guard.check(*which, folder=workshop.folder)
        assert answer.status == 2, which
        assert "octopus" in answer.errors
        assert answer.output == ""


@pytest.mark.parametrize("name", ["m.py", "m.yaml"])
def test_a_criss_cross_has_git_s_virtual_base(workshop: Workshop, guard: Guard, name: str) -> None:
    """Each side merged the other's first commit; then each changed another line."""
    text = "".join(f"k{n} = {n}\n" if name == "m.py" else f"k{n}: {n}\n" for n in range(20))

    def with_(*changes: int) -> str:
        made = text
        for key in changes:
            made = made.replace(f"k{key} = {key}\n", f"k{key} = {key}0\n").replace(
                f"k{key}: {key}\n", f"k{key}: {key}0\n"
            )
        return made

    workshop.commit("base", {name: text})
    workshop.branch("dev")
    one = workshop.commit("ours 1", {name: with_(2)})
    workshop.switch("main")
    other = workshop.commit("theirs 1", {name: with_(9)})
    workshop.git("merge", "-q", "--no-ff", "-m", "Merge dev", one)
    workshop.commit("theirs 2", {name: with_(2, 9, 14)})
    workshop.switch("dev")
    workshop.git("merge", "-q", "--no-ff", "-m", "Merge main", other)
    workshop.commit("ours 2 (#2)", {name: with_(2, 9, 18)})
    bases = workshop.git("merge-base", "--all", "dev", "main").split()
    assert sorted(bases) == sorted([one, other])
    good = workshop.merge("main", {name: with_(2, 9, 14, 18)})
    assert losses(guard, workshop, "--merge", good) == (0, [])
    workshop.git("reset", "-q", "--hard", "HEAD^1")
    bad = workshop.merge("main", {name: with_(2, 9, 14)})
    assert losses(guard, workshop, "--merge", bad) == (1, [("ours", name)])


@pytest.mark.parametrize("name", ["m.py", "m.yaml"])
def test_a_criss_cross_whose_bases_conflict(workshop: Workshop, guard: Guard, name: str) -> None:
    """The virtual base holds conflict markers where the bases disagree; that is neither a crash nor silence."""
    sign = " = " if name.endswith(".py") else ": "
    text = {n: f"a{sign}{n}\nb{sign}1\nc{sign}1\nd{sign}1\ne{sign}1\n" for n in (0, 1, 2)}
    workshop.commit("base", {name: text[0]})
    workshop.branch("dev")
    one = workshop.commit("ours 1", {name: text[1]})
    workshop.switch("main")
    other = workshop.commit("theirs 1", {name: text[2]})
    workshop.merge(one, {name: text[2]})
    workshop.commit("theirs 2", {name: text[2].replace(f"c{sign}1", f"c{sign}2")})
    workshop.switch("dev")
    workshop.merge(other, {name: text[1]})
    ours = workshop.commit("ours 2 (#2)", {name: text[1].replace(f"e{sign}1", f"e{sign}2")})
    theirs = text[2].replace(f"c{sign}1", f"c{sign}2")
    merge = workshop.merge("main", {name: theirs})
    answer = guard.check("--merge", merge, "--select", "GRD2", folder=workshop.folder)
    told = {f["path"] for f in answer.findings()} | {o["subject"] for o in answer.report["outcomes"]}
    assert name in told, ours
    assert answer.status in {0, 1}


def test_github_s_merge_of_a_pull_request(workshop: Workshop, guard: Guard) -> None:
    """The runner has the merge of dev and a sync branch checked out; the sync inside is judged at that tip."""
    ours, _ = branches(workshop)
    workshop.branch("main2dev", "dev")
    workshop.merge("main", {"m.py": THEIRS})
    head = workshop.commit("follow-up", {"n.py": "n = 1\n"})
    workshop.branch("dev", ours)
    meanwhile = workshop.commit("meanwhile", {"o.py": "o = 1\n"})
    tree = workshop.git("merge-tree", "--write-tree", meanwhile, head)
    merge = workshop.git("commit-tree", tree, "-p", meanwhile, "-p", head, "-m", f"Merge {head} into {meanwhile}")
    workshop.git("checkout", "-q", "--detach", merge)
    assert losses(guard, workshop, "--since", f"{meanwhile}...HEAD") == (1, [("ours", "m.py")])
    workshop.git("branch", "-f", "dev", meanwhile)
    (workshop.folder / "guard.toml").write_text('target = "dev"\n')
    assert losses(guard, workshop, "--since", "merge-base") == (1, [("ours", "m.py")])


def test_follow_up_commits(workshop: Workshop, guard: Guard) -> None:
    """What a later commit repaired is no finding of the range, and still one of the merge itself."""
    ours, _ = branches(workshop)
    merge = workshop.merge("main", {"m.py": THEIRS})
    assert losses(guard, workshop, "--since", ours) == (1, [("ours", "m.py")])
    workshop.commit("Restore the stack", {"m.py": OURS.replace("LIMIT = 4", "LIMIT = 5")})
    assert losses(guard, workshop, "--since", ours) == (0, [])
    assert losses(guard, workshop, "--merge", merge) == (1, [("ours", "m.py")])


def test_what_a_later_commit_took_out_is_no_loss_of_the_sync(workshop: Workshop, guard: Guard) -> None:
    """Only where the sync's own tree had it, and a commit can be named."""
    ours, _ = branches(workshop)
    both = OURS.replace("LIMIT = 4", "LIMIT = 5")
    workshop.merge("main", {"m.py": both})
    workshop.commit("Lower the limit again (#33)", {"m.py": OURS})
    answer = guard.check("--since", ours, "--select", "GRD2", folder=workshop.folder)
    (told,) = answer.findings("GRD201")
    assert (answer.status, told["severity"], told["verdict"]) == (0, "note", "removed on purpose")
    assert (told["path"], told["lost_side"]) == ("m.py", "theirs")
    assert "#33" in told["message"]
    workshop.git("reset", "-q", "--hard", "HEAD^^")
    workshop.merge("main", {"m.py": OURS})
    workshop.commit("Say more", {"m.py": OURS.replace("return x", "return x + 0")})
    assert losses(guard, workshop, "--since", ours) == (1, [("theirs", "m.py")]), "the sync had lost it already"


def test_what_a_later_branch_took_out_and_what_a_later_merge_dropped(workshop: Workshop, guard: Guard) -> None:
    ours, _ = branches(workshop)
    both = OURS.replace("LIMIT = 4", "LIMIT = 5")
    sync = workshop.merge("main", {"m.py": both})
    workshop.branch("feature")
    workshop.commit("Lower the limit again (#33)", {"m.py": OURS})
    workshop.switch("dev")
    workshop.commit("meanwhile", {"n.py": "n = 1\n"})
    workshop.merge("feature", {"m.py": OURS})
    answer = guard.check("--since", ours, "--select", "GRD2", folder=workshop.folder)
    assert [f["severity"] for f in answer.findings() if "#33" in f["message"]] == ["note"]
    assert answer.status == 0
    workshop.git("reset", "-q", "--hard", sync)
    workshop.git("branch", "-D", "feature")
    workshop.branch("feature")
    workshop.commit("Another file", {"o.py": "o = 1\n"})
    workshop.switch("dev")
    workshop.commit("meanwhile", {"n.py": "n = 1\n"})
    workshop.merge("feature", {"m.py": OURS})
    assert ("theirs", "m.py") in losses(guard, workshop, "--since", ours)[1], "nobody decided that"


def test_a_test_of_what_the_sync_lost_that_a_later_commit_deletes_is_a_warning(
    workshop: Workshop, guard: Guard
) -> None:
    workshop.commit("base", {"m.py": BASE})
    workshop.branch("dev")
    ours = workshop.commit("ours", {"m.py": OURS})
    workshop.switch("main")
    test = "from m import LIMIT\n\n\ndef test_the_limit_is_five():\n    assert LIMIT == 5\n"
    workshop.commit("Fix the limit (#22)", {"m.py": THEIRS, "tests/test_m.py": test})
    workshop.switch("dev")
    workshop.merge("main", {"m.py": OURS, "tests/test_m.py": test})
    workshop.git("rm", "-q", "tests/test_m.py")
    workshop.commit("Delete a failing test (#33)", {"n.py": "n = 1\n"})
    told = guard.check("--since", ours, "--select", "GRD2", folder=workshop.folder).findings()
    assert [f["path"] for f in told if f["code"] == "GRD201"] == ["m.py"]
    (deleted,) = [f for f in told if f["path"] == "tests/test_m.py"]
    assert (deleted["severity"], deleted["verdict"]) == ("warning", "removed on purpose")
    assert "#33" in deleted["message"]


FUNCTIONS = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))


def edited(*numbers: int) -> str:
    text = FUNCTIONS
    for number in numbers:
        text = text.replace(f"return x + {number}\n", f"return x + {number}{number}\n")
    return text


def test_a_renamed_file_is_followed(workshop: Workshop, guard: Guard) -> None:
    base, ours, theirs = (
        {"old.py": FUNCTIONS, "k": "1\n"},
        {"new.py": edited(6), "k": "1\n"},
        {"old.py": edited(3), "k": "1\n"},
    )
    make_sync(workshop, base, ours, theirs, {"new.py": edited(3, 6), "k": "1\n"})
    assert losses(guard, workshop, "--merge", "HEAD") == (0, [])
    make_sync(workshop, base, ours, theirs, {"new.py": edited(6), "k": "1\n"})
    assert losses(guard, workshop, "--merge", "HEAD") == (1, [("theirs", "new.py")])


def test_a_renamed_file_that_both_changed_in_one_line(workshop: Workshop, guard: Guard) -> None:
    """The resolution chose theirs: one contested change of ours is the most that can be said."""
    chosen = edited(3).replace("x + 6", "x + 7")
    base, ours = {"old.py": FUNCTIONS, "k": "1\n"}, {"new.py": edited(6), "k": "1\n"}
    make_sync(workshop, base, ours, {"old.py": chosen, "k": "1\n"}, {"new.py": chosen, "k": "1\n"})
    _, found = losses(guard, workshop, "--merge", "HEAD")
    assert len(found) <= 1


def test_a_copied_file_is_no_loss(workshop: Workshop, guard: Guard) -> None:
    base, theirs = {"old.py": FUNCTIONS, "k": "1\n"}, {"old.py": edited(3), "k": "1\n"}
    make_sync(workshop, base, {**base, "copy.py": FUNCTIONS}, theirs, {**theirs, "copy.py": FUNCTIONS})
    assert losses(guard, workshop, "--merge", "HEAD") == (0, [])
    make_sync(workshop, base, {**base, "copy.py": FUNCTIONS}, theirs, {**base, "copy.py": FUNCTIONS})
    assert losses(guard, workshop, "--merge", "HEAD") == (1, [("theirs", "old.py")])


def test_a_shallow_clone_is_exit_2_with_the_fetch_line(workshop: Workshop, guard: Guard, tmp_path: Path) -> None:
    """Hard input 8."""
    branches(workshop)
    workshop.merge("main", {"m.py": THEIRS})
    clone = tmp_path / "shallow"
    workshop.git("clone", "-q", "--depth", "1", f"file://{workshop.folder}", str(clone))
    for which in ((), ("--merge", "HEAD"), ("--since", "merge-base"), ("--since", "HEAD~3")):
        answer = guard.check(*which, folder=clone)
        assert answer.status == 2, which
        assert "git fetch --unshallow --tags origin" in answer.errors
        assert answer.output == ""


def test_a_merge_in_progress(workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hard input 9: the index is judged; without a merge one line says so; a path given twice is told once."""
    _, theirs = branches(workshop)
    answer = guard("check", "--hook", folder=workshop.folder)
    assert (answer.status, answer.output.count("\n")) == (0, 1)
    assert "no merge in progress" in answer.output
    workshop.git("merge", "--no-ff", "--no-commit", "-q", "main", check=False)
    workshop.write({"m.py": THEIRS})
    workshop.git("add", "m.py")
    for which in ((), ("--hook",), ("--hook", "m.py", "m.py")):
        assert losses(guard, workshop, *which) == (1, [("ours", "m.py")]), which
    # At pre-merge-commit git names the other side in the environment only.
    (workshop.folder / ".git/MERGE_HEAD").unlink()
    monkeypatch.setenv(f"GITHEAD_{theirs}", "main")
    assert losses(guard, workshop, "--hook") == (1, [("ours", "m.py")])


def test_an_unresolved_merge_says_what_it_did_not_check(workshop: Workshop, guard: Guard) -> None:
    branches(workshop)
    workshop.switch("main")
    workshop.commit("conflict", {"m.py": THEIRS.replace("8192", "1")})
    workshop.switch("dev")
    workshop.git("merge", "--no-ff", "--no-commit", "-q", "main", check=False)
    answer = guard.check("--select", "GRD2", folder=workshop.folder)
    told = [o for o in answer.report["outcomes"] if o["check"] == "merge"]
    assert [(o["subject"], o["status"]) for o in told] == [("m.py", "skipped")]


def test_conflict_markers_are_one_finding_a_file(workshop: Workshop, guard: Guard) -> None:
    """Hard input 4."""
    branches(workshop)
    marked = BASE.replace(
        "STACK = 8192\n", "<<<<<<< HEAD\nSTACK = 16384\n=======\nSTACK = 8192\n>>>>>>> upstream/main\n"
    )
    heading = '"""Title\n=======\n"""\n'
    ours = workshop.git("rev-parse", "HEAD")
    merge = workshop.merge("main", {"m.py": marked + marked.replace("f(", "g("), "h.py": heading})
    answer = guard.check("--merge", merge, "--select", "GRD2,GRD3", folder=workshop.folder)
    assert answer.status == 1
    assert [(f["code"], f["path"]) for f in answer.findings("GRD308")] == [("GRD308", "m.py")]
    assert not [f for f in answer.findings("GRD3") if f["code"] != "GRD308"], "no flood of parse errors"
    workshop.commit("Resolve", {"m.py": OURS.replace("LIMIT = 4", "LIMIT = 5")})
    answer = guard.check("--since", ours, "--select", "GRD2,GRD3", folder=workshop.folder)
    assert (answer.status, answer.findings("GRD308")) == (0, []), "the pair of commits is judged as one"


def test_a_bare_repository_and_a_linked_work_tree(workshop: Workshop, guard: Guard, tmp_path: Path) -> None:
    branches(workshop)
    merge = workshop.merge("main", {"m.py": THEIRS})
    bare, linked = tmp_path / "bare", tmp_path / "linked"
    shutil.copytree(workshop.folder / ".git", bare)
    (bare / "config").unlink()
    workshop.git("worktree", "add", "-q", "--detach", str(linked), merge)
    for folder in (bare, linked):
        answer = guard.check("--merge", merge, "--select", "GRD2", "--fail-on", "warning", folder=folder)
        assert (answer.status, len([f for f in answer.findings() if f["severity"] != "note"])) == (1, 1)


def test_a_conflict_that_is_not_resolved_is_skipped_and_no_loss(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"a.py": "def f(x):\n    return x\n", "b.py": "def g(x):\n    return x\n"})
    workshop.branch("dev")
    workshop.commit("ours", {"a.py": "def f(x):\n    return x + 1\n"})
    workshop.switch("main")
    workshop.commit(
        "Fix the scale (#7)", {"a.py": "def f(x):\n    return x * 2\n", "b.py": "def g(x):\n    return x * 2\n"}
    )
    workshop.switch("dev")
    workshop.git("merge", "--no-commit", "main", check=False)
    workshop.git("checkout", "HEAD", "b.py")
    answer = guard.check("--hook", folder=workshop.folder)
    assert {finding["path"] for finding in answer.findings("GRD2")} == {"b.py"}
    assert [outcome["subject"] for outcome in answer.report["outcomes"] if outcome["check"] == "merge"] == ["a.py"]
