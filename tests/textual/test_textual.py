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


@pytest.mark.parametrize("path", ["a.yaml", "ci/template.j2", "m.py", "k.cu", "a.md"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_file_that_one_side_edited_and_the_other_deleted(told: Any, path: str, swapped: bool) -> None:
    """Either way one side's act is undone, and the finding names what met it; a warning where it goes against ours."""
    base: Files = {path: "value = 1\n", "k": "k\n"}
    edits, deletes = {**base, path: "value = compute(2, 3)\n"}, {"k": "k2\n"}
    ours, theirs = (deletes, edits) if swapped else (edits, deletes)
    side, other = ("theirs", "ours") if swapped else ("ours", "theirs")
    commit = "#11" if swapped else "#22"
    (found,) = told(base, ours, theirs, {"k": "k2\n"}, notes=True)
    severity = {"ours": "warning", "theirs": "note"}
    assert (found["path"], found["severity"], found["lost_side"]) == (path, severity[side], side)
    gone = f"{path}, which {side} changed, is not in merged: {other} deleted it in {commit}"
    assert found["message"].startswith(gone)
    (found,) = told(base, ours, theirs, {"k": "k2\n", path: edits[path]}, notes=True)
    assert (found["path"], found["severity"], found["lost_side"]) == (path, severity[other], other)
    assert found["message"].startswith(f"{path}, which {other} deleted, is in merged: {side} had changed it")


@pytest.mark.parametrize("path", ["a/m.py", "k.cu", "a.md"])
def test_what_stands_in_the_file_that_it_moved_to_is_no_loss(told: Any, path: str) -> None:
    other = path.replace("a.", "b.").replace("m.", "n.").replace("k.", "l.")
    line = "int value_{0} = start_{0};\n" if path == "k.cu" else "value_{0} = start_{0}\n\n"
    text = "".join(line.format(n) for n in range(9))
    edited = text.replace("= start_3", "= other_start_3")
    base = {path: text}
    assert told(base, {path: edited}, {other: "x = 1;\n\n" + text}, {other: "x = 1;\n\n" + edited}) == []


@pytest.mark.parametrize("path", ["m.py", "conf/a.yaml", "k.cu", "a.md", "a.bin"])
def test_a_file_that_neither_side_touched_and_merged_lacks(told: Any, path: str) -> None:
    text = "\0\1" if path == "a.bin" else "value = 1\n"
    base = {path: text, "k": "1\n"}
    (found,) = told(base, base, {**base, "k": "2\n"}, {"k": "2\n"})
    assert (found["code"], found["severity"], found["path"], found["lost_side"]) == ("GRD206", "error", path, None)


def test_an_asset_with_a_later_version_is_stale(told: Any) -> None:
    base = {"fonts/3.10.1/icons.woff2": "\0old", "k": "1\n"}
    sides = {**base, "k": "2\n"}
    newer = {"fonts/3.11.0/icons.woff2": "\0new"}
    (found,) = told(base, {**base, **newer}, sides, {**newer, "k": "2\n"}, notes=True)
    assert found["severity"] == "note"
    assert found["message"].endswith("is not in merged: fonts/3.11.0/icons.woff2 is")
    older = {"fonts/3.9.0/icons.woff2": "\0new"}
    (found,) = told(base, {**base, **older}, sides, {**older, "k": "2\n"})
    assert found["severity"] == "error"


@pytest.mark.parametrize("path", ["old.yaml", "old.py", "old.cu", "old.md"])
def test_a_renamed_file_kept_beside_its_twin(told: Any, path: str) -> None:
    text = "".join(f"key_{n} = value_{n}\n" for n in range(20))
    renamed, edited = "new/" + path, text.replace("value_7", "other_7")
    merged = {path: edited, renamed: text}
    (found,) = (f for f in told({path: text}, {renamed: text}, {path: edited}, merged) if f["code"] == "GRD206")
    assert (found["path"], found["severity"], found["lost_side"]) == (path, "warning", "ours")
    assert found["message"].startswith(f"{path} is in merged beside {renamed}, to which ours had renamed it")


SWAPPED = {
    "k.cu": ("void f() {\n  first(1);\n  second(2);\n  third(3);\n}\n", "  second(2);\n", "  first(1);\n"),
    "run.sh": ("setup() {\n  first 1\n  second 2\n  third 3\n}\n", "  second 2\n", "  first 1\n"),
    "Dockerfile": ("FROM a AS b\nRUN one\nCOPY x y\nRUN two\n", "COPY x y\n", "RUN one\n"),
    "CMakeLists.txt": ("project(x)\nset(A 1)\ninclude(b.cmake)\n", "include(b.cmake)\n", "set(A 1)\n"),
}


@pytest.mark.parametrize("path", SWAPPED)
def test_an_order_that_went_back(told: Any, path: str) -> None:
    base, later, earlier = SWAPPED[path]
    ours = base.replace(earlier + later, later + earlier)
    theirs = {path: base, "n": "2\n"}
    (found,) = told({path: base, "n": "1\n"}, {path: ours, "n": "1\n"}, theirs, theirs)
    assert (found["lost_side"], found["verdict"]) == ("ours", "reverted")
    assert "which ours had moved, is in its old place again" in found["message"]
    assert told({path: base, "n": "1\n"}, {path: ours, "n": "1\n"}, theirs, {path: ours, "n": "2\n"}) == []
    moved_by_theirs = {path: base.replace(earlier, "").rstrip("\n") + "\n" + earlier, "n": "2\n"}
    assert told({path: base, "n": "1\n"}, {path: ours, "n": "1\n"}, moved_by_theirs, moved_by_theirs) == []


NESTED = {
    "k.cu": ("void g() {\n  for (;;) {\n    work();\n  }\n  done();\n}\n",
             "void g() {\n  for (;;) {\n    work();\n    done();\n  }\n}\n"),
    "run.sh": ("if ready; then\n  work\nfi\ndone_now\n", "if ready; then\n  work\n  done_now\nfi\n"),
    "old.py": (30 * "print 'a'\n" + "if a:\n    work()\ndone_now()\n",
               30 * "print 'a'\n" + "if a:\n    work()\n    done_now()\n"),
}  # fmt: skip


@pytest.mark.parametrize("path", NESTED)
@pytest.mark.parametrize("inwards", [True, False])
def test_a_nesting_that_went_back(told: Any, path: str, inwards: bool) -> None:
    base, ours = NESTED[path] if inwards else NESTED[path][::-1]
    theirs = {path: base, "n": "2\n"}
    (found,) = told({path: base, "n": "1\n"}, {path: ours, "n": "1\n"}, theirs, theirs)
    assert (found["lost_side"], found["verdict"]) == ("ours", "reverted")
    assert "which ours had moved" in found["message"]


OLD_PYTHON = {
    "print": "def f(x):\n" + 30 * "    print 'a', x\n" + "    return x / {}\n",
    "latin": b"def f(x):\n    say('\xe9')\n    return x / {}\n",
    "markers": "def f(x):\n" + 30 * "    if x:\n  else\n" + "    return x / {}\n",
    "template": "def {{{{ name }}}}(x):\n    return x / {}\n",
}


@pytest.mark.parametrize("kind", OLD_PYTHON)
def test_python_that_cannot_be_read_is_judged_by_its_lines(told: Any, kind: str) -> None:
    def version(value: bytes) -> bytes:
        text = OLD_PYTHON[kind]
        data = text.encode() if isinstance(text, str) else text
        return data.replace(b"{}", value).replace(b"{{{{", b"{{").replace(b"}}}}", b"}}")

    base: Files = {"old.py": version(b"2"), "k": "1\n"}
    ours: Files = {"old.py": version(b"4"), "new.py": version(b"8"), "k": "1\n"}
    found = told(base, ours, {**base, "k": "2\n"}, {**base, "k": "2\n"})
    assert [(f["path"], f["code"], f["lost_side"], f["severity"]) for f in found] == [
        ("new.py", "GRD206", "ours", "error"),
        ("old.py", "GRD208", "ours", "warning"),
    ]
    assert told(base, ours, {**base, "k": "2\n"}, {**ours, "k": "2\n"}) == []


@pytest.mark.parametrize("path", ["table.py", "table.json", "table.txt"])
def test_a_file_too_large_for_its_text_is_judged_by_its_content(told: Any, path: str) -> None:
    base = {path: "x" * 4_100_000, "k": "1\n"}
    ours, merged = {**base, path: "y" * 4_100_000}, {**base, "k": "2\n"}
    (found,) = told(base, ours, merged, merged)
    assert (found["path"], found["lost_side"], found["verdict"]) == (path, "ours", "reverted")


@pytest.mark.parametrize(
    ("path", "base", "added"),
    [
        ("k.cu", "void f() {\n  a();\n}\n", "// NOLINT(bugprone-branch-clone)\n"),
        ("run.sh", "#!/bin/sh\necho $a\n", "# shellcheck disable=SC2086\n"),
        ("ci.yaml", "a: 1\n", "# yamllint disable-line\n"),
        ("Dockerfile", "FROM a\n", "# syntax=docker/dockerfile:1\n"),
        ("p.toml", "a = 1\n", "# taplo: ignore\n"),
    ],
)
def test_a_comment_that_a_tool_acts_on(told: Any, path: str, base: str, added: str) -> None:
    trees = {path: base, "n": "1\n"}, {path: added + base, "n": "1\n"}, {path: base, "n": "2\n"}
    (found,) = told(*trees, trees[2], notes=True)
    assert (found["severity"], found["lost_side"]) == ("note", "ours")
    plain = {path: "# plain words\n" + base if path != "k.cu" else "// plain words\n" + base, "n": "1\n"}
    assert told(trees[0], plain, trees[2], trees[2], notes=True) == []


DOUBLED = {
    "Dockerfile": ("FROM a\nRUN base\n", "ARG BUILD_TRITON\nRUN build triton\n"),
    "CHANGES.md": ("# Changes\n\nText here.\n", "[#123]: https://example.org/123\n"),
    "ci.yaml": ("steps:\n- one\n", "- run_the_tests\n"),
    "run.sh": ("python train.py \\\n  --lr 1 \\\n", "  --use-flash-attention \\\n"),
    "requirements.txt": ("numpy==1.0\n", "transformers==4.2\n"),
    "k.cpp": ("void f() {\n  a();\n}\n", "int initialise_streams() {\n  return 1;\n}\n"),
}


@pytest.mark.parametrize("path", DOUBLED)
def test_what_both_sides_brought_and_merged_has_twice(workshop: Workshop, guard: Guard, path: str) -> None:
    base, added = DOUBLED[path]
    ours, theirs = {path: base + added, "n": "1\n"}, {path: base + added + "\n", "n": "2\n"}

    def doubles(merged: str) -> list[dict[str, Any]]:
        make_sync(workshop, {path: base}, ours, theirs, {path: merged, "n": "2\n"})
        return guard.check("--merge", "HEAD", "--select", "GRD309", folder=workshop.folder).findings()

    (found,) = doubles(base + added + added)
    assert (found["code"], found["severity"], found["path"]) == ("GRD309", "warning", path)
    assert added.split("\n")[-2].strip(" -\\}") in found["message"] or "return 1" in found["message"]
    assert doubles(base + "x y z\n" + added) == []


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


def test_a_kernel_file_that_one_side_cut_in_two(told: Any) -> None:
    """What ours changed stands in the file that theirs moved it to, or it is lost."""
    one = "void scale(float* y, int n) {\n  y[0] = y[0] / n;\n  finish(y);\n}\n"
    other = "void fill(float* y, float value) {\n  y[0] = value;\n  finish(y);\n}\n"
    fixed = one.replace("/ n", "/ max(n, 1)")
    base, ours = {"ops.cu": one + "\n" + other}, {"ops.cu": fixed + "\n" + other}
    theirs = {"ops.cu": other, "scale.cu": one}
    (found,) = told(base, ours, theirs, theirs)
    assert (found["lost_side"], found["severity"], found["symbol"]) == ("ours", "warning", "scale")
    assert "`y[0] = y[0] / max(n, 1);` is not in merged" in found["message"]
    assert told(base, ours, theirs, {"ops.cu": other, "scale.cu": fixed}) == []


def _side_in_steps(workshop: Workshop, path: str, base: str, steps: list[str], theirs: str, merged: str) -> None:
    """A sync of which ours made its edits in several commits."""
    workshop.commit("base", {path: base, "n": "1\n"})
    workshop.branch("dev")
    for number, text in enumerate(steps, 1):
        workshop.commit(f"Step {number} (#{number})", {path: text})
    workshop.switch("main")
    workshop.commit("theirs (#90)", {path: theirs, "n": "2\n"})
    workshop.switch("dev")
    workshop.merge("main", {path: merged, "n": "2\n"})


@pytest.mark.parametrize(
    ("path", "line", "count", "findings"),
    [
        ("settings.ini", "key_{0} = {1}\n", 6, 1),
        ("settings.ini", "key_{0} = {1}\n", 3, 3),
        ("requirements.txt", "library-{0}=={1}\n", 3, 1),
        ("requirements/test_requirements.in", "library-{0}=={1}\n", 2, 1),
    ],
)
def test_a_file_taken_whole_is_one_finding_with_its_size(
    workshop: Workshop, guard: Guard, path: str, line: str, count: int, findings: int
) -> None:
    def version(changed: int, last: int = 0) -> str:
        return "".join(line.format(n, 2 if n < changed else 1) for n in range(10)) + line.format(99, last)

    steps = [version(number) for number in range(1, count + 1)]
    _side_in_steps(workshop, path, version(0), steps, version(0, 7), version(0, 7))
    answer = guard.check("--merge", "HEAD", "--select", "GRD208", folder=workshop.folder)
    assert len(answer.findings()) == findings
    told = answer.findings()[0]
    assert len({origin["commit"] for found in answer.findings() for origin in found["origins"]}) == count
    if findings == 1:
        assert f"{count} places" in told["message"]
        restored = guard("restore", told["fingerprint"], "--merge", "HEAD", "--apply")
        assert restored.status == 0, restored.errors
        assert (workshop.folder / path).read_text() == version(count, 7)


@pytest.mark.parametrize("path", ["c.yaml", "m.py", "a.md"])
def test_where_git_would_not_have_joined_both_nothing_says_so(workshop: Workshop, guard: Guard, path: str) -> None:
    base = "".join(f"key_{n} = {n}\n\n" for n in range(6))
    ours, theirs = base.replace("= 1", "= 10").replace("= 5", "= 50"), base.replace("= 1", "= 11")
    make_sync(workshop, {path: base}, {path: ours}, {path: theirs}, {path: theirs})
    (taken,) = guard.check("--merge", "HEAD", "--select", "GRD209", folder=workshop.folder).findings()
    assert "was taken whole from theirs" in taken["message"]
    assert "joined" not in taken["message"]


def test_a_version_that_theirs_had_before_it_deleted_the_file_is_no_work_of_ours(
    workshop: Workshop, guard: Guard
) -> None:
    workshop.commit("base", {"a.yaml": "a: 1\n", "k": "1\n"})
    workshop.branch("dev")
    workshop.commit("Sync main, squashed", {"a.yaml": "a: 2\n"})
    workshop.switch("main")
    workshop.commit("Two", {"a.yaml": "a: 2\n"})
    workshop.commit("Drop it", {"a.yaml": None, "k": "2\n"})
    workshop.switch("dev")
    workshop.merge("main", {})
    workshop.git("rm", "-q", "--ignore-unmatch", "a.yaml")
    workshop.git("commit", "-q", "--amend", "--no-edit")
    assert guard.check("--merge", "HEAD", "--select", "GRD206", folder=workshop.folder).findings() == []


def test_functions_and_branches_of_scripts_nest_as_they_should(told: Any) -> None:
    """What stands below a function or an `else()` is in no deeper block than before, and carries no such name."""
    shell = "function check() {\n  run\n}\n\nfirst 1\nsecond 2\n"
    cmake = "if(USE_CUDA)\n  add_library(a)\nelse()\n  add_library(b)\nendif()\ninstall(TARGETS a)\n"
    base = {"run.sh": "first 1\nsecond 2\n", "CMakeLists.txt": "add_library(a)\ninstall(TARGETS a)\n", "n": "1\n"}
    ours = {"run.sh": "first 1\nsecond 2\nthird 3\n", "CMakeLists.txt": cmake, "n": "1\n"}
    theirs = {
        "run.sh": shell,
        "CMakeLists.txt": base["CMakeLists.txt"].replace("TARGETS a", "TARGETS a LIBRARY"),
        "n": "2\n",
    }
    joined = {
        "run.sh": shell + "third 3\n",
        "CMakeLists.txt": cmake.replace("TARGETS a", "TARGETS a LIBRARY"),
        "n": "2\n",
    }
    assert told(base, ours, theirs, joined) == []


def test_what_one_side_wrapped_and_the_other_edited_is_superseded(told: Any) -> None:
    base = "add_executable(x)\nlink(x PUBLIC one)\noptions(x PRIVATE two)\n"
    ours = "if(USE_CUDA)\n" + base + "endif()\n"
    theirs = base.replace("PUBLIC one", "PUBLIC three four five six")
    merged = {"CMakeLists.txt": ours.replace("PUBLIC one", "PUBLIC three four five six")}
    assert told({"CMakeLists.txt": base}, {"CMakeLists.txt": ours}, {"CMakeLists.txt": theirs}, merged) == []


@pytest.mark.parametrize("path", ["a.yaml", "m.py"])
@pytest.mark.parametrize("kept", [True, False])
def test_what_one_side_deleted_and_the_other_edited_is_restored(
    workshop: Workshop, guard: Guard, path: str, kept: bool
) -> None:
    base: Files = {path: "value = 1\n", "k": "k\n"}
    edits, deletes = {**base, path: "value = compute(2, 3)\n"}, {"k": "k2\n"}
    ours, theirs = (deletes, {**edits, "k": "k\n"}) if kept else (edits, deletes)
    merged = {"k": "k2\n", **({path: edits[path]} if kept else {})}
    make_sync(workshop, base, ours, theirs, merged)
    (found,) = guard.check("--merge", "HEAD", "--select", "GRD206", folder=workshop.folder).findings()
    answer = guard("restore", found["fingerprint"], "--merge", "HEAD", "--apply")
    assert answer.status == 0, answer.errors
    assert (workshop.folder / path).exists() is not kept
    workshop.commit("Restore it")
    start = workshop.git("rev-parse", "HEAD~2")
    left = guard.check("--since", start, "--select", "GRD206", folder=workshop.folder).findings()
    assert [found["severity"] for found in left if found["severity"] != "note"] == []  # now theirs is not followed
