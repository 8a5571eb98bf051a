"""`guard restore` on real merges: the patch applies, and the finding is gone afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workshop
from tests.syncs import Files, Guard, make_sync

GRD2 = ("--select", "GRD2", "--fail-on", "never")
PYTHON = '''\
import math

STACK = 8192
LIMIT = 4


def scale(loss, tokens):
    """Divide by tokens."""
    if tokens == 0:
        return loss
    return loss / tokens


def other(x):
    y = x + 1
    return y


class Router:
    def aux(self, probs, bsz):
        count = probs.shape[0]
        return self.loss(probs, count)

    def loss(self, probs, count):
        return probs.sum() / count
'''


class Bench:
    """A sync of four trees, its losses, and what restoring each of them gives."""

    def __init__(self, workshop: Workshop, guard: Guard) -> None:
        self.workshop, self.guard = workshop, guard
        self.merge = ""

    def sync(self, base: Files, ours: Files, theirs: Files, merged: Files) -> list[dict[str, Any]]:
        self.merge = make_sync(self.workshop, base, ours, theirs, merged)
        return self.losses("--merge", self.merge)

    def losses(self, *which: str) -> list[dict[str, Any]]:
        answer = self.guard.check(*which, *GRD2, folder=self.workshop.folder)
        assert answer.status == 0, answer.errors
        failed = [o for o in answer.report["outcomes"] if o["status"] == "failed"]
        assert not failed, failed
        return [f for f in answer.findings() if f["severity"] != "note"]

    def restore(self, *fingerprints: str) -> None:
        """Print the patch, apply it with git, and see that the same is what --apply writes."""
        answer = self.guard("restore", *fingerprints, "--merge", self.merge, folder=self.workshop.folder)
        assert answer.status == 0, answer.errors
        patch = self.workshop.folder.parent / "restore.patch"
        patch.write_text(answer.output, "utf-8", "surrogateescape", newline="")
        self.workshop.git("apply", "--index", str(patch))
        by_patch = self.workshop.git("write-tree")
        self.workshop.git("reset", "-q", "--hard")
        assert self.guard("restore", *fingerprints, "--merge", self.merge, "--apply").status == 0
        self.workshop.git("add", "-A")
        assert self.workshop.git("write-tree") == by_patch

    def clean_after(self, *fingerprints: str) -> None:
        """Restore the findings; afterwards the check has none of them, and no new loss."""
        before = {found["fingerprint"] for found in self.losses("--merge", self.merge)}
        self.restore(*fingerprints)
        self.workshop.git("commit", "-q", "-m", "Restore")
        after = self.losses("--ours", f"{self.merge}^1", "--theirs", f"{self.merge}^2", "--merged", "HEAD")
        assert {found["fingerprint"] for found in after} == before - set(fingerprints)


@pytest.fixture
def bench(workshop: Workshop, guard: Guard) -> Bench:
    return Bench(workshop, guard)


def only(findings: list[dict[str, Any]], path: str) -> dict[str, Any]:
    (found,) = [finding for finding in findings if finding["path"] == path]
    return found


@pytest.mark.parametrize("swapped", [False, True])
def test_reverted_and_lost_python_of_either_side(bench: Bench, workshop: Workshop, swapped: bool) -> None:
    """Hard input: one side changes a constant, the other another line, and the file is taken whole."""
    changed = PYTHON.replace("STACK = 8192", "STACK = 16384")
    other = PYTHON.replace("y = x + 1", "y = x + 2")
    ours, theirs = (other, changed) if swapped else (changed, other)
    found = bench.sync({"m.py": PYTHON}, {"m.py": ours}, {"m.py": theirs}, {"m.py": other})
    assert found, "the loss is not told"
    bench.clean_after(only(found, "m.py")["fingerprint"])
    assert (workshop.folder / "m.py").read_text() == other.replace("8192", "16384")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return loss / tokens\n", "    return loss / max(tokens, 1)\n"),
        ("        count = probs.shape[0]\n", "        count = probs.shape[0] * bsz\n"),
        ("    if tokens == 0:\n        return loss\n", ""),
        ("def other(x):\n", "def added(x):\n    return x * 2\n\n\ndef other(x):\n"),
        ("    def loss(self, probs, count):\n        return probs.sum() / count\n", "    pass\n"),
        ("import math\n", "import math\nimport os\n"),
    ],
    ids=["reverted", "factor", "revived", "function", "method", "import"],
)
def test_every_kind_of_python_loss(bench: Bench, workshop: Workshop, old: str, new: str) -> None:
    made = PYTHON.replace(old, new)
    theirs = PYTHON.replace("LIMIT = 4", "LIMIT = 5")
    found = bench.sync({"a b/m.py": PYTHON}, {"a b/m.py": made}, {"a b/m.py": theirs}, {"a b/m.py": theirs})
    assert found, "the loss is not told"
    bench.clean_after(*{finding["fingerprint"] for finding in found})
    assert (workshop.folder / "a b/m.py").read_text() == made.replace("LIMIT = 4", "LIMIT = 5")


def test_partly_lost_python(bench: Bench, workshop: Workshop) -> None:
    made = PYTHON.replace(
        "    if tokens == 0:\n        return loss\n", "    tokens = max(tokens, 1)\n    loss = loss * 2\n"
    )
    merged = made.replace("    loss = loss * 2\n", "").replace("y = x + 1", "y = x + 2")
    theirs = PYTHON.replace("y = x + 1", "y = x + 2")
    found = bench.sync({"m.py": PYTHON}, {"m.py": made}, {"m.py": theirs}, {"m.py": merged})
    assert found, "the loss is not told"
    bench.clean_after(*{finding["fingerprint"] for finding in found})
    assert (workshop.folder / "m.py").read_text() == made.replace("y = x + 1", "y = x + 2")


def test_text_of_every_kind(bench: Bench, workshop: Workshop) -> None:
    base = {
        "c.yaml": "args:\n  --samples: 1\n  --rest: 2\n",
        "pyproject.toml": '[project]\ndependencies = [\n  "numpy",\n]\n',
        "ü page.md": "# Page\r\n\r\nText one.\r\n",
        "k.cu": "int f() {\n  return 1;\n}\n",
        "Dockerfile": "FROM a\nRUN x\n",
        "n.sh": "one\ntwo",
    }
    ours = {
        "c.yaml": base["c.yaml"].replace("1", "100"),
        "pyproject.toml": base["pyproject.toml"].replace('  "numpy",\n', '  "numpy",\n  "quart",\n'),
        "ü page.md": base["ü page.md"] + "\r\n## Mine\r\n\r\nMore text.\r\n",
        "k.cu": base["k.cu"].replace("return 1;", "int x = 2;\n  return x;"),
        "Dockerfile": "FROM a\n",
        "n.sh": "one\ntwo\nthree",
    }
    theirs = {
        "c.yaml": base["c.yaml"].replace("2", "3"),
        "pyproject.toml": base["pyproject.toml"] + "\n[tool.x]\ny = 1\n",
        "ü page.md": base["ü page.md"] + "\r\n## Theirs\r\n\r\nOther text.\r\n",
        "k.cu": base["k.cu"] + "int g() { return 1; }\n",
        "Dockerfile": "FROM a\nRUN x\nRUN y\n",
        "n.sh": "zero\none\ntwo",
    }
    found = bench.sync(base, ours, theirs, theirs)
    assert {finding["path"] for finding in found} == set(base)
    bench.clean_after(*(finding["fingerprint"] for finding in found))
    after = {name: (workshop.folder / name).read_bytes() for name in base}
    assert after["c.yaml"] == b"args:\n  --samples: 100\n  --rest: 3\n"
    assert after["Dockerfile"] == b"FROM a\nRUN y\n"
    assert after["n.sh"] == b"zero\none\ntwo\nthree"
    assert after["ü page.md"].count(b"\n") == after["ü page.md"].count(b"\r\n") == 11


def test_one_change_and_not_its_neighbours(bench: Bench, workshop: Workshop) -> None:
    base = "a: 1\nb: 1\nc: 1\n"
    ours = "a: 2\nb: 2\nc: 2\n"
    theirs = "a: 1\nb: 3\nc: 1\n"
    found = bench.sync({"c.yaml": base}, {"c.yaml": ours}, {"c.yaml": theirs}, {"c.yaml": theirs})
    bench.clean_after(only(found, "c.yaml")["fingerprint"])
    assert (workshop.folder / "c.yaml").read_text() == "a: 2\nb: 3\nc: 2\n"


def test_whole_files_and_modes(bench: Bench, workshop: Workshop) -> None:
    base = {"k": "1\n", "old.py": "def gone(): ...\n", "old.md": "# Old\n", "run.sh": "echo\n"}
    make_sync(workshop, base, base, base, base)
    start = workshop.git("rev-parse", "HEAD")
    workshop.branch("dev", start)
    (workshop.folder / "run.sh").chmod(0o755)
    workshop.write(
        {"old.py": None, "old.md": None, "new dir/neu ß.py": "def new(a):\n    return a * 2\n", "n.md": "# N\n"}
    )
    workshop.commit("ours (#1)")
    workshop.branch("main", start)
    workshop.commit("theirs (#2)", {"k": "2\n"})
    merge = workshop.git("commit-tree", "main^{tree}", "-p", "dev", "-p", "main", "-m", "Merge branch 'main'")
    workshop.branch("dev", merge)
    bench.merge = merge
    found = bench.losses("--merge", merge)
    assert {f["path"] for f in found} == {"old.py", "old.md", "run.sh", "new dir/neu ß.py", "n.md"}
    bench.clean_after(*(f["fingerprint"] for f in found))
    assert workshop.git("ls-files", "-s", "run.sh").startswith("100755")
    assert not (workshop.folder / "old.py").exists()


def test_what_clashes_is_refused_with_the_sides_own_edit(bench: Bench, workshop: Workshop, guard: Guard) -> None:
    base = {"c.yaml": "a: [x]\nb: 1\n"}
    merged = {"c.yaml": "a: z w\nb: 2\n"}
    (found,) = bench.sync(base, {"c.yaml": "a: y\nb: 1\n"}, {"c.yaml": "a: [x]\nb: 2\n"}, merged)
    before = (workshop.folder / "c.yaml").read_bytes()
    for more in ((), ("--apply",)):
        answer = guard("restore", found["fingerprint"][:8], "--merge", bench.merge, *more)
        assert answer.status == 2
        assert answer.output == ""
        assert "does not apply cleanly" in answer.errors
        assert "-a: [x]" in answer.errors
        assert "+a: y" in answer.errors
    assert (workshop.folder / "c.yaml").read_bytes() == before


def _loss(bench: Bench) -> str:
    base, ours = {"d/c.yaml": "a: 1\n", "k": "1\n"}, {"d/c.yaml": "a: 2\n", "k": "1\n"}
    (found,) = bench.sync(base, ours, {"d/c.yaml": "a: 1\n", "k": "2\n"}, {"d/c.yaml": "a: 1\n", "k": "2\n"})
    fingerprint: str = found["fingerprint"]
    return fingerprint


def test_apply_refuses_a_changed_work_tree(bench: Bench, workshop: Workshop, guard: Guard) -> None:
    fingerprint = _loss(bench)
    workshop.write({"d/c.yaml": "a: 1 # mine\n"})
    answer = guard("restore", fingerprint, "--merge", bench.merge, "--apply")
    assert answer.status == 2
    assert "differs from merged" in answer.errors
    assert (workshop.folder / "d/c.yaml").read_text() == "a: 1 # mine\n"


@pytest.mark.parametrize("folder", [False, True])
def test_apply_never_follows_a_symbolic_link(
    bench: Bench, workshop: Workshop, guard: Guard, tmp_path: Path, folder: bool
) -> None:
    fingerprint = _loss(bench)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.yaml").write_text("a: 1\n")
    place = workshop.folder / "d"
    (place / "c.yaml").unlink()
    if folder:
        place.rmdir()
        place.symlink_to(outside)
    else:
        (place / "c.yaml").symlink_to(outside / "c.yaml")
    answer = guard("restore", fingerprint, "--merge", bench.merge, "--apply")
    assert answer.status == 2
    assert (outside / "c.yaml").read_text() == "a: 1\n"


def test_apply_does_nothing_when_one_of_several_cannot(bench: Bench, workshop: Workshop, guard: Guard) -> None:
    base = {"a.yaml": "a: 1\n", "b.yaml": "b: 1\n", "k": "1\n"}
    ours = {"a.yaml": "a: 2\n", "b.yaml": "b: 2\n", "k": "1\n"}
    found = bench.sync(base, ours, {**base, "k": "2\n"}, {**base, "k": "2\n"})
    workshop.write({"b.yaml": "mine\n"})
    answer = guard("restore", *(f["fingerprint"] for f in found), "--merge", bench.merge, "--apply")
    assert answer.status == 2
    assert (workshop.folder / "a.yaml").read_text() == "a: 1\n"


def test_bad_fingerprints(bench: Bench, guard: Guard) -> None:
    fingerprint = _loss(bench)
    unknown = "0" * 16 if not fingerprint.startswith("0" * 6) else "1" * 16
    assert "no finding has the fingerprint" in guard("restore", unknown, "--merge", bench.merge).errors
    assert "no fingerprint" in guard("restore", "GRD208", "--merge", bench.merge).errors
    assert "no fingerprint" in guard("restore", fingerprint[:5], "--merge", bench.merge).errors
    assert guard("restore", fingerprint[:6].upper(), "--merge", bench.merge).status == 0


def test_nothing_to_look_in_is_exit_3(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"a": "1\n"})
    answer = guard("restore", "0123456789abcdef", folder=workshop.folder)
    assert answer.status == 3


def test_a_dead_change_is_refused_with_the_reason(bench: Bench, guard: Guard) -> None:
    """The text is there already: no patch of the side's own edit can bring it into effect."""
    callee = (
        "def attach(loss, count=None, scale_count=None):\n"
        "    if scale_count is None:\n"
        "        scale_count = count if count is not None else 1\n"
        "    return loss * scale_count\n\n\n"
        "def run(loss, n, bsz):\n"
        "    return attach(loss, count=n)\n"
    )
    ours = callee.replace("attach(loss, count=n)", "attach(loss, count=n, scale_count=total(n))")
    theirs = callee.replace("attach(loss, count=n)", "attach(loss, count=n * bsz)")
    merged = callee.replace("attach(loss, count=n)", "attach(loss, count=n * bsz, scale_count=total(n))")
    found = bench.sync({"m.py": callee}, {"m.py": ours}, {"m.py": theirs}, {"m.py": merged})
    (dead,) = [finding for finding in found if finding["verdict"] == "dead"]
    answer = guard("restore", dead["fingerprint"], "--merge", bench.merge)
    assert (answer.status, answer.output) == (2, "")
    assert "something else makes it inert" in answer.errors
    assert "+    return attach(loss, count=n * bsz)" in answer.errors
