"""GRD206, GRD208 and GRD209 on files that are not Python, through the command line on real merges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Workshop
from tests.syncs import Files, Guard, make_sync

RECIPE = "products:\n- name: a\n  lr: 1\n- name: b\n  lr: 2\n"


@pytest.fixture
def told(workshop: Workshop, guard: Guard) -> Any:
    """The GRD2 findings on files of a sync of four trees, notes aside unless asked for."""

    def judge(base: Files, ours: Files, theirs: Files, merged: Files, notes: bool = False) -> list[dict[str, Any]]:
        make_sync(workshop, base, ours, theirs, merged)
        answer = guard.check(
            "--merge", "HEAD", "--select", "GRD206,GRD208", "--fail-on", "never", folder=workshop.folder
        )
        assert answer.status == 0, answer.errors
        failed = [o for o in answer.report["outcomes"] if o["check"] == "textual" and o["status"] == "failed"]
        assert not failed, failed
        return [f for f in answer.findings() if notes or f["severity"] != "note"]

    return judge


def row(finding: dict[str, Any]) -> tuple[str, str, str, str]:
    return finding["code"], finding["lost_side"], finding["verdict"], finding["symbol"]


def test_a_value_that_went_back(told: Any) -> None:
    """Theirs edits the next line, and the whole file is taken from theirs."""
    base = "a: 1\nSTACK: 8192\nb: 1\n"
    (found,) = told(
        {"c.yaml": base},
        {"c.yaml": base.replace("8192", "16384")},
        {"c.yaml": base.replace("b: 1", "b: 2")},
        {"c.yaml": base.replace("b: 1", "b: 2")},
    )
    assert row(found) == ("GRD208", "ours", "reverted", "STACK")
    assert found["severity"] == "warning"
    assert found["line"] == 2
    assert [origin["pr"] for origin in found["origins"]] == [11]
    assert found["evidence"] == {
        "base": "STACK: 8192",
        "ours": "STACK: 16384",
        "theirs": "STACK: 8192",
        "merged": "STACK: 8192",
    }


@pytest.mark.parametrize("swapped", [False, True])
def test_both_sides_and_both_signs(told: Any, swapped: bool) -> None:
    base = {"d.toml": "[t]\nkeep = 1\nold = 1\n", "z.md": "# Z\n"}
    made = {"d.toml": "[t]\nkeep = 1\nnew = 1\n", "z.md": "# Z\n"}
    other = {**base, "z.md": "# Z\n\nMore.\n"}
    ours, theirs = (other, made) if swapped else (made, other)
    (found,) = told(base, ours, theirs, {"d.toml": base["d.toml"], "z.md": other["z.md"]})
    assert row(found) == ("GRD208", "theirs" if swapped else "ours", "reverted", "t")
    assert "`new: 1` is not in merged" in found["message"]
    assert "`old: 1`, which" in found["message"]


@pytest.mark.parametrize(
    ("path", "base", "ours", "merged"),
    [
        (
            "r.yaml",
            RECIPE,
            RECIPE + "- name: c\n  lr: 3\n",
            "products:\n- {lr: 3, name: c}\n- {name: b, lr: 2}\n- {name: a, lr: 1}\n",
        ),
        ("a.json", '{"a": 1}', '{"a": 1, "b": [1, 2]}', '{\n  "b": [\n    2,\n    1\n  ],\n  "a": 1\n}\n'),
        ("a.md", "Old text. It goes on.\n", "Old text. New text. It goes on.\n", "Old text. New\ntext. It\ngoes on.\n"),
        (
            "a.cu",
            "int f(){ return 1; }\n",
            "int f(){ int x=2; return x; }\n",
            "int f()\n{\n  int x = 2; // two\n  return x;\n}\n",
        ),
        ("a.txt", "one\ntwo\n", "two\none\nthree\n", "one\ntwo\nthree\n"),
        ("a.sh", "a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\nb\nc\n"),
    ],
)
def test_layout_and_order_are_no_loss(told: Any, path: str, base: str, ours: str, merged: str) -> None:
    theirs = {path: base + "\n", "other.txt": "x\n"}
    assert told({path: base}, {path: ours}, theirs, {path: merged, "other.txt": "x\n"}) == []


def test_an_equal_line_elsewhere_hides_nothing(told: Any) -> None:
    base = "[a]\nx = 1\n[b]\ny = 1\n"
    ours = "[a]\nx = 1\n[b]\ny = 1\nx = 1\n"
    (found,) = told({"s.ini": base}, {"s.ini": ours}, {"s.ini": base, "n": "n\n"}, {"s.ini": base, "n": "n\n"})
    assert row(found) == ("GRD208", "ours", "lost", "b")


def test_moved_text_is_not_lost(told: Any) -> None:
    base = "# A\n\nFirst thing said.\n\n# B\n\nSecond thing said.\n"
    ours = base.replace("First", "A new sentence stands here. First")
    merged = base.replace("Second thing said.", "Second thing said. A new sentence stands here.")
    assert told({"a.md": base}, {"a.md": ours}, {"a.md": base, "n": "n\n"}, {"a.md": merged, "n": "n\n"}) == []
    moved = {"a.md": base, "b.md": "# B\n\nA new sentence stands here.\n", "n": "n\n"}
    assert told({"a.md": base}, {"a.md": ours}, {"a.md": base, "n": "n\n"}, moved) == []


def test_a_renamed_file_is_followed(told: Any) -> None:
    base = "".join(f"key{n}: {n}\n" for n in range(20))
    ours = {"new name.yaml": base}
    theirs = {"old.yaml": base.replace("key7: 7", "key7: 70")}
    assert told({"old.yaml": base}, ours, theirs, {"new name.yaml": theirs["old.yaml"]}) == []
    (found,) = told({"old.yaml": base}, ours, theirs, {"new name.yaml": base})
    assert (found["path"], found["symbol"], found["lost_side"]) == ("new name.yaml", "key7", "theirs")


def test_superseded_names_the_commit(told: Any, workshop: Workshop) -> None:
    base = "image: a\nrest: 1\n"
    merged = {"c.yaml": "image: c\nrest: 1\n"}
    (found,) = told({"c.yaml": base}, {"c.yaml": "image: b\nrest: 1\n"}, merged, merged, notes=True)
    assert (found["severity"], found["verdict"], found["lost_side"]) == ("note", "superseded", "ours")
    assert "theirs changed the same text in #22" in found["message"]


def test_half_of_a_contested_hunk_is_a_loss(told: Any) -> None:
    base = "a: 1\nb: 1\n"
    (found,) = told(
        {"c.yaml": base}, {"c.yaml": "a: 2\nb: 2\n"}, {"c.yaml": "a: 1\nb: 3\n"}, {"c.yaml": "a: 1\nb: 3\n"}
    )
    assert row(found) == ("GRD208", "ours", "reverted", "a")


def test_a_value_of_neither_side(told: Any) -> None:
    base = "graph: [attn]\nb: 1\n"
    (found,) = told(
        {"c.yaml": base}, {"c.yaml": "graph: attn mlp\nb: 1\n"}, {"c.yaml": base, "n": "n\n"},
        {"c.yaml": "graph: attn router\nb: 1\n", "n": "n\n"},
    )  # fmt: skip
    assert found["verdict"] == "partly"
    assert "the value of neither side" in found["message"]


def test_both_sides_appended_and_one_was_taken(told: Any) -> None:
    base = "# T\n\nText.\n"
    ours = base + "\n## Packing\n\nHow packing works. It is fast.\n"
    theirs = base + "\n## Cache\n\nHow the cache works.\n"
    (found,) = told({"a.md": base}, {"a.md": ours}, {"a.md": theirs}, {"a.md": theirs})
    assert row(found)[:3] == ("GRD208", "ours", "lost")
    assert "Packing" in found["message"]
    assert "the file is that of theirs, whole" in found["message"]


def test_deleted_text_that_the_other_side_went_on_with_is_no_loss(told: Any) -> None:
    base = "".join(f"line {n} of a list\n" for n in range(8))
    ours = "line 0 of a list\n"
    theirs = base.replace("line 3 of", "line three of").replace("line 5 of", "line five of")
    assert told({"l.txt": base}, {"l.txt": ours}, {"l.txt": theirs}, {"l.txt": theirs}) == []


def test_lost_and_revived_files(told: Any) -> None:
    base = {"keep.md": "k\n", "gone.yaml": "a: 1\n", "cold.json": "{}\n"}
    ours = {"keep.md": "k\n", "cold.json": "{}\n", "docs/é guide.md": "# Guide\n"}
    theirs = {**base, "keep.md": "k2\n"}
    found = told(base, ours, theirs, {"keep.md": "k2\n", "gone.yaml": "a: 1\n"})
    assert [
        (f["path"], f["severity"], f["verdict"], f["lost_side"]) for f in sorted(found, key=lambda f: f["path"])
    ] == [
        ("cold.json", "error", "lost", None),
        ("docs/é guide.md", "error", "lost", "ours"),
        ("gone.yaml", "warning", "revived", "ours"),
    ]
    assert {f["code"] for f in found} == {"GRD206"}


def test_a_file_that_the_other_side_deleted_is_no_loss(told: Any) -> None:
    base = {"a.yaml": "a: 1\n", "k": "k\n"}
    assert told(base, {"a.yaml": "a: 2\n", "k": "k\n"}, {"k": "k2\n"}, {"k": "k2\n"}) == []


def test_a_file_that_the_resolution_moved_is_not_lost(told: Any) -> None:
    base = {"k": "k\n"}
    ours = {"k": "k\n", "docs/a.md": "# A page of some length\n"}
    assert told(base, ours, {"k": "k2\n"}, {"k": "k2\n", "docs/new/a.md": "# A page of some length\n"}) == []


def test_golden_values_are_policy(workshop: Workshop, guard: Guard) -> None:
    base, ours, theirs = (
        {"t/golden_values_x.json": f'{{"lm": {n}}}', "uv.lock": f"{n}\n", "k": f"{n}\n"} for n in "123"
    )
    make_sync(workshop, base, ours, theirs, {**theirs, "t/golden_values_x.json": base["t/golden_values_x.json"]})
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", folder=workshop.folder)
    assert [f for f in answer.findings() if f["path"] != "k"] == []
    (skipped,) = [o for o in answer.report["outcomes"] if o["check"] == "textual" and o["status"] == "skipped"]
    assert skipped["reason"] == "policy"
    assert skipped["subject"].startswith("2 ")


def test_binary_files_links_and_modes(workshop: Workshop, guard: Guard) -> None:
    def tree(blob: bytes, one_sided: bytes, text: str) -> dict[str, str | bytes]:
        return {"both.bin": blob, "one.bin": one_sided, "k": text}

    base = tree(b"\0base", b"\0base", "1\n")
    make_sync(workshop, base, base, base, base)
    workshop.git("checkout", "-q", "-B", "main", "HEAD")
    (workshop.folder / "link").symlink_to("k")
    (workshop.folder / "one").symlink_to("k")
    (workshop.folder / "run.sh").write_text("echo\n")
    start = workshop.commit("links", {})
    workshop.branch("dev", start)
    for link in ("link", "one"):
        (workshop.folder / link).unlink()
        (workshop.folder / link).symlink_to("ours")
    (workshop.folder / "run.sh").chmod(0o755)
    workshop.commit("ours (#1)", tree(b"\0ours", b"\0ours", "1\n"))
    workshop.branch("main", start)
    (workshop.folder / "link").unlink()
    (workshop.folder / "link").symlink_to("theirs")
    workshop.commit("theirs (#2)", tree(b"\0theirs", b"\0base", "2\n"))
    theirs = workshop.git("rev-parse", "HEAD^{tree}")
    merge = workshop.git("commit-tree", theirs, "-p", "dev", "-p", "main", "-m", "Merge")
    answer = guard.check("--merge", merge, "--select", "GRD208", folder=workshop.folder)
    skipped = {o["subject"]: o["reason"] for o in answer.report["outcomes"] if o["check"] == "textual" and o["subject"]}
    assert skipped == {
        "both.bin": "binary file that both sides changed",
        "link": "symlink that both sides changed",
    }
    assert sorted((f["path"], f["verdict"], f["lost_side"]) for f in answer.findings()) == [
        ("one", "reverted", "ours"),
        ("one.bin", "reverted", "ours"),
        ("run.sh", "reverted", "ours"),
    ]


def test_submodules(workshop: Workshop, guard: Guard) -> None:
    def commit(message: str, one: str, both: str, parents: tuple[str, ...]) -> str:
        entries = f"160000 commit {one * 40}\tone\n160000 commit {both * 40}\tboth\n"
        tree = workshop.git("mktree", "--missing", stdin=entries)
        return workshop.git("commit-tree", tree, *(f for p in parents for f in ("-p", p)), "-m", message)

    base = commit("base", "a", "a", ())
    ours, theirs = commit("ours", "b", "b", (base,)), commit("theirs", "a", "c", (base,))
    merge = commit("Merge", "a", "c", (ours, theirs))
    workshop.git("update-ref", "refs/heads/main", merge)
    answer = guard.check("--merge", merge, "--select", "GRD208", folder=workshop.folder)
    assert [(f["path"], f["lost_side"]) for f in answer.findings()] == [("one", "ours")]
    reasons = {o["subject"]: o["reason"] for o in answer.report["outcomes"] if o["subject"]}
    assert reasons == {"both": "submodule that both sides changed"}


def test_what_a_later_commit_took_out_is_a_note(workshop: Workshop, guard: Guard) -> None:
    base, ours = {"c.yaml": "a: 1\n", "k": "1\n"}, {"c.yaml": "a: 1\nb: 2\n", "k": "1\n"}
    theirs = {"c.yaml": "a: 1\n", "k": "2\n"}
    make_sync(workshop, base, ours, theirs, {"c.yaml": "a: 1\nb: 2\n", "k": "2\n"})
    start = workshop.git("rev-parse", "HEAD^1")
    workshop.commit("Drop b", {"c.yaml": "a: 1\n"})
    answer = guard.check("--since", start, "--select", "GRD208", folder=workshop.folder)
    (found,) = answer.findings()
    assert (found["severity"], found["symbol"]) == ("note", "b")
    assert "a commit after the sync took it out" in found["message"]
    assert answer.status == 0


def test_what_a_later_commit_repaired_is_no_finding(workshop: Workshop, guard: Guard) -> None:
    base, ours = {"c.yaml": "a: 1\n", "k": "1\n"}, {"c.yaml": "a: 1\nb: 2\n", "k": "1\n"}
    make_sync(workshop, base, ours, {"c.yaml": "a: 1\n", "k": "2\n"}, {"c.yaml": "a: 1\n", "k": "2\n"})
    start = workshop.git("rev-parse", "HEAD^1")
    assert len(guard.check("--since", start, "--select", "GRD208", folder=workshop.folder).findings()) == 1
    workshop.commit("Repair", {"c.yaml": "b: 2\na: 1\n"})
    assert guard.check("--since", start, "--select", "GRD208", folder=workshop.folder).findings() == []


def test_survival_and_one_side_taken(workshop: Workshop, guard: Guard) -> None:
    base = "".join(f"k{n}: 0\n" for n in range(10))
    ours = base.replace("k1: 0", "k1: 1").replace("k5: 0", "k5: 1").replace("k9: 0", "k9: 1")
    theirs = base.replace("k3: 0", "k3: 1")
    make_sync(workshop, {"c.yaml": base}, {"c.yaml": ours}, {"c.yaml": theirs}, {"c.yaml": theirs})
    answer = guard.check("--merge", "HEAD", "--select", "GRD2", folder=workshop.folder)
    (taken,) = answer.findings("GRD209")
    said = "the file was taken whole from theirs: 0 % of ours' 3 changes survive, where git would have joined both"
    assert taken["message"] == said
    assert len(answer.findings("GRD208")) == 1
    answer = guard("restore", taken["fingerprint"], "--merge", "HEAD", "--apply")
    assert answer.status == 0, answer.errors
    assert (workshop.folder / "c.yaml").read_text() == ours.replace("k3: 0", "k3: 1")


def test_fingerprints_do_not_depend_on_lines(told: Any) -> None:
    base = "a: 1\nSTACK: 8192\nb: 1\n"
    prints = set()
    for head in ("", "x: 1\ny: 2\n"):
        theirs = head + base.replace("b: 1", "b: 2")
        (found,) = told({"c.yaml": base}, {"c.yaml": base.replace("8192", "9")}, {"c.yaml": theirs}, {"c.yaml": theirs})
        prints.add(found["fingerprint"])
    assert len(prints) == 1
