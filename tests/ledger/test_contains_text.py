"""`guard contains` for fixes of files that are not Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workshop
from tests.ledger.test_contains import run, status

Ask = Callable[..., list[dict[str, Any]]]
KERNEL = """__global__ void scale(float* y, const float* x, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] / {count};
}}

__global__ void fill(float* y, float value, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = value;
}}
"""
# A file by what a fix changes in it: path, and its text with the value left out.
SHAPES = {
    "yaml": ("recipe.yaml", "model: small\ncheck:\n  metric: exact\n  baseline: {}\n  tolerance: 0.02\n"),
    "toml": ("pyproject.toml", "[project]\nname = 'x'\n[tool.x]\nbaseline = {}\nother = 1\n"),
    "json": ("settings.json", '{{"name": "x", "check": {{"baseline": {}, "tolerance": 2}}}}\n'),
    "shell": ("run.sh", "set -e\nexport BASELINE={}\npython train.py\n"),
    "requirements": ("requirements.txt", "torch==2.6\nnumpy=={}\n"),
    "kernel": ("csrc/scale.cu", KERNEL.replace("{count}", "(n + {})")),
}


@pytest.fixture
def ask(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def contains(*arguments: str) -> list[dict[str, Any]]:
        result = run(workshop.folder, monkeypatch, "contains", *arguments, "-o", "json")
        rows: list[dict[str, Any]] = json.loads(result.stdout)["contains"]
        return rows

    return contains


@pytest.fixture(params=list(SHAPES))
def versions(request: pytest.FixtureRequest, workshop: Workshop) -> Callable[[str], dict[str, str | bytes | None]]:
    """A file at its first version on main and on `old`; then the fix (tag `fix`) on main."""
    path, text = SHAPES[request.param]

    def version(value: str) -> dict[str, str | bytes | None]:
        return {path: text.format(value)}

    workshop.commit("start", version("0.51"))
    workshop.git("branch", "old")
    workshop.commit("Fix the baseline (#12)", version("0.58"))
    workshop.git("tag", "fix")
    return version


def test_a_later_edit_is_equivalent_and_named(versions: Any, workshop: Workshop, ask: Ask) -> None:
    later = workshop.commit("Measure anew (#15)", versions("0.61"))
    rows = ask("#12", "--in", "main", "fix", "old")
    assert status(rows) == ["equivalent", "present", "missing"]
    assert rows[0]["by"] == later


def test_the_old_text_again_is_reverted_by_that_commit(versions: Any, workshop: Workshop, ask: Ask) -> None:
    undo = workshop.commit("Go back", versions("0.51"))
    rows = ask("#12", "--in", "main")
    assert status(rows) == ["reverted"]
    assert rows[0]["by"] == undo


@pytest.mark.parametrize(
    ("path", "before", "added"),
    [
        ("setup.cfg", "[flake8]\nignore = E1\n", "max-line = 120\n"),
        ("c.yaml", "run:\n  a: 1\n", "  retries: 3\n"),
        ("a.cu", "void f() {\n  start();\n  stop();\n}\n", ""),
    ],
)
def test_an_added_line_taken_out_again_is_reverted(
    path: str, before: str, added: str, workshop: Workshop, ask: Ask
) -> None:
    after = before + added if added else before.replace("  stop", "  synchronize_streams();\n  stop")
    workshop.commit("start", {path: before})
    fix = workshop.commit("Fix it (#3)", {path: after})
    undo = workshop.commit("Take it out", {path: before})
    rows = ask(fix, "--in", "main")
    assert (status(rows), rows[0]["by"]) == (["reverted"], undo)


def test_the_kernel_counts_and_not_its_test(workshop: Workshop, ask: Ask) -> None:
    test, tested = "def test_scale():\n    assert scale([2.0])\n", "def test_none():\n    assert scale([]) == []\n"
    workshop.commit("start", {"csrc/scale.cu": KERNEL.format(count="n"), "tests/test_scale.py": test})
    for name in ("old", "half", "back"):
        workshop.git("branch", name)
    fixed: dict[str, str | bytes | None] = {"csrc/scale.cu": KERNEL.format(count="max(n, 1)")}
    workshop.commit("Divide by at least one (#31)", {**fixed, "tests/test_scale.py": test + "\n\n" + tested})
    workshop.switch("half")
    workshop.commit("Take the tests", {"tests/test_scale.py": test + "\n\n" + tested})
    workshop.switch("back")
    workshop.commit("By hand", fixed)
    rows = ask("#31", "--in", "main", "back", "half", "old")
    assert status(rows) == ["present", "present", "missing", "missing"]
    assert rows[2]["place"] == "csrc/scale.cu:3"
    assert rows[0]["numeric"] is True


def test_python_and_kernel_count_both(workshop: Workshop, ask: Ask) -> None:
    workshop.commit("start", {"k.cu": KERNEL.format(count="n"), "m.py": "def f(x):\n    return x\n"})
    workshop.git("branch", "half")
    module = "def f(x):\n    return clamp(x, 1)\n"
    workshop.commit("Fix both (#5)", {"k.cu": KERNEL.format(count="max(n, 1)"), "m.py": module})
    workshop.switch("half")
    workshop.commit("Half", {"m.py": module})
    rows = ask("#5", "--in", "main", "half")
    assert status(rows) == ["present", "partly"]
    assert rows[1]["place"] == "k.cu:3"


@pytest.mark.parametrize(("count", "expected"), [("max(n, 1)", "moved"), ("n", "reverted")])
def test_a_kernel_file_cut_in_two(count: str, expected: str, workshop: Workshop, ask: Ask) -> None:
    workshop.commit("start", {"csrc/ops.cu": KERNEL.format(count="n")})
    fix = workshop.commit("Divide by at least one", {"csrc/ops.cu": KERNEL.format(count="max(n, 1)")})
    one, other = KERNEL.format(count=count).split("\n\n")
    workshop.commit("Cut the file in two", {"csrc/scale.cu": one + "\n", "csrc/ops.cu": other})
    rows = ask(fix, "--in", "main")
    assert status(rows) == [expected]
    if expected == "moved":
        assert rows[0]["place"] == "csrc/scale.cu:3"


def test_a_submodule(workshop: Workshop, ask: Ask) -> None:
    def commit(message: str, library: str, *parents: str) -> str:
        tree = workshop.git("mktree", "--missing", stdin=f"160000 commit {library * 40}\tlib\n")
        return workshop.git("commit-tree", tree, *(f for p in parents for f in ("-p", p)), "-m", message)

    old = commit("start", "a")
    fix = commit("Take the mended library (#41)", "b", old)
    back, later = commit("By hand", "b", old), commit("Take a newer one", "c", fix)
    undo = commit("Go back", "a", fix)
    workshop.git("update-ref", "refs/heads/main", fix)
    rows = ask("#41", "--in", fix, back, later, undo, old)
    assert status(rows) == ["present", "present", "equivalent", "reverted", "missing"]
    assert [row["by"] for row in rows[2:4]] == [later, undo]


def test_every_commit_contains_itself(workshop: Workshop, ask: Ask) -> None:
    for number, (path, text) in enumerate(SHAPES.values()):
        workshop.commit(f"add {path}", {path: text.format(number), "docs/a.md": f"# A\n\nText {number}.\n"})
        workshop.commit(f"change {path}", {path: text.format(number + 0.5)})
    workshop.git("mv", "run.sh", "bin.sh")
    workshop.commit("rename", {"settings.json": None, "blob.bin": b"\0\1"})
    for commit in workshop.git("rev-list", "HEAD").split():
        assert status(ask(commit, "--in", commit)) == ["present"], commit


def test_the_place_is_where_the_part_is_missing(
    workshop: Workshop, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A merge keeps one edit of a fix and drops the definition that held the other."""

    def plan(wait: str | None) -> str:
        method = f"\n    def until(self, now):\n        wait = {wait}\n        return wait\n" if wait else ""
        return "class Plan:\n    def start(self):\n        return self.first\n" + method

    def dump(name: str) -> str:
        return f"def show({name}):\n    stamp = {name}.pop('stamp')\n    say(stamp, {name})\n"

    workshop.commit("start", {"plan.py": plan("max(now, 1)"), "dump.py": dump("event")})
    workshop.branch("dev")
    workshop.commit("other work", {"other.py": "X = 1\n"})
    workshop.switch("main")
    workshop.commit("fix: wait what is set (#7)", {"plan.py": plan("max(now, self.least)"), "dump.py": dump("ev")})
    workshop.switch("dev")
    workshop.merge("main", {"plan.py": plan(None)})
    (row,) = ask("#7", "--in", "dev")
    assert (row["status"], row["place"]) == ("partly", "plan.py:1")
    workshop.switch("main")
    workshop.commit("More of main", {"more.py": "Y = 1\n"})
    workshop.switch("dev")
    workshop.merge("main")
    result = run(workshop.folder, monkeypatch, "check", "--merge", "HEAD", "-o", "json")
    (found,) = [f for f in json.loads(result.stdout)["findings"] if f["code"] == "GRD502"]
    assert (found["path"], found["line"], found["symbol"]) == ("plan.py", 1, "Plan.until")
