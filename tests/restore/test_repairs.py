"""Repairs that are more than one edit: what restored code reads, whole fixes, the rest after a refusal, a series."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Workshop
from tests.restore.test_restore import Bench
from tests.syncs import Files, Guard

BASE = "def scale(loss, tokens):\n    return loss / tokens\n\n\ndef other(x):\n    return x\n"


@pytest.fixture
def bench(workshop: Workshop, guard: Guard) -> Bench:
    return Bench(workshop, guard)


def patched(workshop: Workshop, patch: str) -> None:
    workshop.git("apply", stdin=patch)


def definitions(file: Path) -> Counter[str]:
    return Counter(
        node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    )


def analyser(report: str, more: str = "") -> str:
    return f'''\
class Analyser:
    """The second analyser."""

    def lookup(self, name, context):
        found = self.table.get(name)
        if found is None:
            self.missing(name, context)
        return found

    def missing(self, name, context):
        if self.deferred:
            self.note(name)
            return
        message = "Name '%s' is not known" % name
        {report}
        if name in self.builtin_names:
            self.hint(name, context)

    def hint(self, name, context):
        self.log(name, context)
{more}'''


@pytest.mark.parametrize("moved", [False, True])
def test_a_file_that_the_base_lacks_never_gets_a_method_twice(
    bench: Bench, workshop: Workshop, guard: Guard, moved: bool
) -> None:
    old, new = "self.fail(message, context)", "self.fail(message, context, code=UNKNOWN_NAME)"
    more = "\n    def scope(self, depth):\n        return self.scopes[depth]\n"
    base: Files = {"v.py": "V = 1\n", **({"app/second/analyse.py": analyser(old)} if moved else {})}
    ours: Files = {"v.py": "V = 1\n", "app/second/analyse.py" if moved else "app/analyse.py": analyser(old, more)}
    theirs: Files = {"v.py": "V = 1\n", "app/analyse.py": analyser(new)}
    merged: Files = {"v.py": "V = 1\n", "app/analyse.py": analyser(old, more)}
    found = [f for f in bench.sync(base, ours, theirs, merged) if "code" in (f["message"] or "")]
    answer = guard("restore", found[0]["fingerprint"], "--merge", bench.merge)
    assert answer.status == 0, answer.errors
    patched(workshop, answer.output)
    file = workshop.folder / "app/analyse.py"
    assert set(definitions(file).values()) == {1}
    assert file.read_text() == analyser(new, more)


@pytest.mark.parametrize("form", ["import", "function", "constant"])
def test_what_restored_code_reads_comes_along(bench: Bench, workshop: Workshop, guard: Guard, form: str) -> None:
    given = {
        "import": "from math import floor as clamp\n\n\n",
        "function": "def clamp(n):\n    return max(n, 1)\n\n\n",
        "constant": "clamp = int\n\n\n",
    }[form]
    fixed = given + BASE.replace("loss / tokens", "loss / clamp(tokens)")
    ours = BASE.replace("return x", "return x + 1")
    found = bench.sync({"m.py": BASE}, {"m.py": ours}, {"m.py": fixed}, {"m.py": ours})
    wanted = [f for f in found if f["symbol"] == "scale"]
    assert wanted
    answer = guard("restore", wanted[0]["fingerprint"], "--merge", bench.merge)
    assert answer.status == 0, answer.errors
    patched(workshop, answer.output)
    namespace: dict[str, object] = {}
    exec((workshop.folder / "m.py").read_text(), namespace)
    scale, other = namespace["scale"], namespace["other"]
    assert callable(scale)
    assert callable(other)
    assert scale(6.0, 3) == 2.0
    assert other(1) == 2


def test_an_undefined_name_is_given_back(bench: Bench, workshop: Workshop, guard: Guard) -> None:
    base = "from math import sqrt\n\n\ndef norm(x):\n    return sqrt(x)\n"
    theirs = base.replace("sqrt(x)", "sqrt(x * x)")
    merged = theirs.removeprefix("from math import sqrt\n\n\n")
    bench.sync({"m.py": base}, {"m.py": base + "\nA = 1\n"}, {"m.py": theirs}, {"m.py": merged + "\nA = 1\n"})
    answer = guard.check("--merge", bench.merge, "--select", "GRD301")
    (broken,) = answer.findings("GRD301")
    answer = guard("restore", broken["fingerprint"], "--merge", bench.merge)
    assert answer.status == 0, answer.errors
    patched(workshop, answer.output)
    assert (workshop.folder / "m.py").read_text().startswith("from math import sqrt\n")


@pytest.fixture
def two_fixes(bench: Bench) -> Bench:
    """A loss that can be restored (#22, in two files), and one that clashes (ours, #11)."""
    base = {"m.py": BASE, "n.py": "LIMIT = 1\n", "c.yaml": "a: [x]\nb: 1\n"}
    ours = {**base, "c.yaml": "a: y\nb: 1\n"}
    theirs = {"m.py": BASE.replace("/ tokens", "/ max(tokens, 1)"), "n.py": "LIMIT = 8\n", "c.yaml": "a: [x]\nb: 2\n"}
    merged = {"m.py": BASE, "n.py": "LIMIT = 1\n", "c.yaml": "a: z w\nb: 2\n"}
    bench.sync(base, ours, theirs, merged)
    return bench


def test_one_refusal_does_not_stop_the_rest(two_fixes: Bench, workshop: Workshop, guard: Guard) -> None:
    marks = [f["fingerprint"] for f in two_fixes.losses("--merge", two_fixes.merge)]
    answer = guard("restore", *marks, "--merge", two_fixes.merge)
    assert answer.status == 1
    assert "cannot be restored" in answer.errors
    patched(workshop, answer.output)
    assert "max(tokens, 1)" in (workshop.folder / "m.py").read_text()
    assert (workshop.folder / "n.py").read_text() == "LIMIT = 8\n"
    assert (workshop.folder / "c.yaml").read_text() == "a: z w\nb: 2\n"


def test_a_whole_fix_by_its_pull_request(two_fixes: Bench, workshop: Workshop, guard: Guard) -> None:
    answer = guard("restore", "#22", "--merge", two_fixes.merge)
    assert answer.status == 0, answer.errors
    patched(workshop, answer.output)
    assert "max(tokens, 1)" in (workshop.folder / "m.py").read_text()
    assert (workshop.folder / "n.py").read_text() == "LIMIT = 8\n"
    refused = guard("restore", "#404", "--merge", two_fixes.merge)
    assert refused.status == 2
    assert "#404" in refused.errors


@pytest.mark.parametrize("as_branch", [False, True])
def test_all_errors_as_a_series(two_fixes: Bench, workshop: Workshop, guard: Guard, as_branch: bool) -> None:
    errors = [f for f in two_fixes.losses("--merge", two_fixes.merge) if f["severity"] == "error"]
    assert errors
    head = workshop.git("rev-parse", "HEAD")
    more = ("--branch", "repair") if as_branch else ()
    answer = guard("restore", "--all-errors", "--merge", two_fixes.merge, *more)
    assert answer.status in (0, 1), answer.errors
    assert workshop.git("rev-parse", "HEAD") == head
    if as_branch:
        assert answer.output == ""
        workshop.switch("repair")
        assert guard("restore", "--all-errors", "--merge", two_fixes.merge, *more).status == 2  # it is there already
    else:
        workshop.git("am", "-q", stdin=answer.output)
    assert workshop.git("rev-list", "--count", f"{head}..HEAD") != "0"
    assert "Restore #22" in workshop.git("log", f"{head}..HEAD", "--format=%s").replace("Fix theirs (#22)", "#22")
    left = [f for f in two_fixes.losses("--since", f"{head}^1...HEAD") if f["severity"] == "error"]
    assert len(left) < len(errors)


@pytest.mark.parametrize("arguments", [(), ("#1", "--all-errors"), ("--branch", "x"), ("--all-errors", "--apply")])
def test_what_does_not_go_together(workshop: Workshop, guard: Guard, arguments: tuple[str, ...]) -> None:
    workshop.commit("base", {"a": "1\n"})
    answer = guard("restore", *arguments, folder=workshop.folder)
    assert answer.status == 2
    assert "name what to restore" in answer.errors
