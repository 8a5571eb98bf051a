"""`guard merge` and `guard resolve` on real merges: what they write, what they leave, and how to get back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from guard.report import FORMATS
from tests.conftest import Workshop
from tests.syncs import Guard

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "report.schema.json").read_text())
BASE = "from m import a, b\n\n\ndef f(loss, n):\n    x = call(a, b)\n    keep(x)\n    keep(n)\n    return loss / n\n"
OURS = BASE.replace("b\n", "b, left\n", 1).replace("loss / n", "loss / n * left")
THEIRS = BASE.replace("b\n", "b, right\n", 1).replace("loss / n", "loss / (n + right)")


def identify(workshop: Workshop) -> None:
    """Say who merges; git asks for it."""
    workshop.git("config", "user.name", "Ada")
    workshop.git("config", "user.email", "ada@example.org")


def conflict(workshop: Workshop, ours: str = OURS, theirs: str = THEIRS) -> None:
    """Branches dev (checked out) and main that meet in model.py."""
    identify(workshop)
    workshop.commit("base", {"model.py": BASE, "other.py": "x = 1\n"})
    workshop.branch("dev")
    workshop.commit("Scale by the left (#11)", {"model.py": ours})
    workshop.switch("main")
    workshop.commit("Fix the count (#22)", {"model.py": theirs, "other.py": "x = 2\n"})
    workshop.switch("dev")


def state(workshop: Workshop) -> tuple[str, ...]:
    """Everything that a merge may change: HEAD, index and work tree."""
    git = workshop.git
    files = {
        path.relative_to(workshop.folder): path.read_bytes()
        for path in sorted(workshop.folder.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return git("rev-parse", "HEAD"), git("ls-files", "--stage"), git("status", "--porcelain"), repr(files)


def test_joins_what_it_can_and_leaves_the_rest_to_a_person(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    answer = guard("merge", "main", "-o", "json", folder=workshop.folder)
    assert answer.status == 1
    jsonschema.validate(answer.report, SCHEMA)
    rows = {row["status"]: row for row in answer.report["resolution"]}
    assert rows["resolved"]["line"] == 1
    assert rows["open"]["numeric"] is True
    assert [o["pr"] for o in rows["open"]["ours"]] == [11]
    assert [o["pr"] for o in rows["open"]["theirs"]] == [22]
    assert {entry["side"] for entry in rows["open"]["would_lose"]} == {"ours", "theirs"}
    text = (workshop.folder / "model.py").read_text()
    assert text.startswith("from m import a, b, left, right\n")
    assert text.endswith(
        "<<<<<<< HEAD\n    return loss / n * left\n||||||| "
        + workshop.git("merge-base", "dev", "main")[:12]
        + "\n    return loss / n\n=======\n    return loss / (n + right)\n>>>>>>> main\n"
    )
    assert workshop.git("status", "--porcelain") == "UU model.py\nM  other.py"
    assert workshop.git("rev-parse", "MERGE_HEAD") == workshop.git("rev-parse", "main")


def test_abort_works_afterwards(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    before = state(workshop)
    guard("merge", "main", folder=workshop.folder)
    assert state(workshop) != before
    workshop.git("merge", "--abort")
    assert state(workshop) == before


@pytest.mark.parametrize("format_name", FORMATS)
def test_dry_run_writes_nothing_in_any_format(workshop: Workshop, guard: Guard, format_name: str) -> None:
    conflict(workshop)
    before = state(workshop)
    answer = guard("merge", "main", "--dry-run", "-o", format_name, folder=workshop.folder)
    assert answer.status == 1
    assert "model.py" in answer.output
    assert state(workshop) == before


def test_commits_only_when_asked_and_nothing_is_open(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop, OURS.replace(" * left", ""), THEIRS.replace("(n + right)", "n"))
    head = workshop.git("rev-parse", "HEAD")
    answer = guard("merge", "main", "--commit", folder=workshop.folder)
    assert answer.status == 0
    assert workshop.git("rev-list", "--parents", "-1", "HEAD").split()[1:] == [head, workshop.git("rev-parse", "main")]
    message = workshop.git("log", "-1", "--format=%B")
    assert message.startswith("Merge main\n\nConflicts joined by syntax")
    assert "model.py:1" in message


def test_does_not_commit_over_an_open_conflict(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    head = workshop.git("rev-parse", "HEAD")
    assert guard("merge", "main", "--commit", folder=workshop.folder).status == 1
    assert workshop.git("rev-parse", "HEAD") == head
    assert workshop.git("rev-parse", "MERGE_HEAD")


def test_refuses_where_git_refuses_and_changes_nothing(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    workshop.write({"other.py": "mine = 1\n"})
    before = state(workshop)
    answer = guard("merge", "main", folder=workshop.folder)
    assert answer.status == 2
    assert "other.py" in answer.errors
    assert state(workshop) == before


def test_says_so_where_there_is_nothing_to_merge(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    assert guard("merge", "dev", folder=workshop.folder).status == 3
    assert guard("resolve", folder=workshop.folder).status == 3


@pytest.mark.parametrize("verb", ["merge", "rebase", "cherry-pick"])
def test_resolves_a_conflict_that_someone_else_made(workshop: Workshop, guard: Guard, verb: str) -> None:
    conflict(workshop)
    workshop.git(verb, "main", check=False)
    answer = guard("resolve", "-o", "json", folder=workshop.folder)
    assert answer.status == 1
    assert [row["status"] for row in answer.report["resolution"]] == ["resolved", "open"]
    assert (workshop.folder / "model.py").read_text().startswith("from m import a, b, left, right\n")
    assert workshop.git("diff", "--name-only", "--diff-filter=U") == "model.py"


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_reads_every_style_of_markers(workshop: Workshop, guard: Guard, style: str) -> None:
    conflict(workshop, OURS.replace(" * left", ""), THEIRS.replace("(n + right)", "n"))
    workshop.git("-c", f"merge.conflictStyle={style}", "merge", "main", check=False)
    assert guard("resolve", folder=workshop.folder).status == 0
    assert workshop.git("status", "--porcelain") == "M  model.py\nM  other.py"


def test_leaves_a_file_alone_that_someone_has_worked_on(workshop: Workshop, guard: Guard) -> None:
    conflict(workshop)
    workshop.git("merge", "main", check=False)
    file = workshop.folder / "model.py"
    file.write_text(file.read_text().replace("keep(x)", "keep(x, mine)"))
    before = state(workshop)
    answer = guard("resolve", "-o", "json", folder=workshop.folder)
    assert answer.status == 1
    assert "edited" in answer.report["resolution"][0]["reason"]
    assert state(workshop) == before


def test_opens_what_the_judge_finds_broken(workshop: Workshop, guard: Guard) -> None:
    """Joined by the rules, but the name that theirs' part reads is gone with ours' clean deletion elsewhere."""
    lines = "\n\n".join(f"def keep_{n}():\n    return {n}\n" for n in range(3))
    base = f"def helper(x):\n    return x\n\n\n{lines}\n\ndef f(a):\n    return a\n"
    ours = base.removeprefix("def helper(x):\n    return x\n\n\n") + "\n\ndef left(a):\n    return a\n"
    theirs = base + "\n\ndef right(a):\n    return helper(a)\n"
    identify(workshop)
    workshop.commit("base", {"model.py": base})
    workshop.branch("dev")
    workshop.commit("Drop what nobody calls", {"model.py": ours})
    workshop.switch("main")
    workshop.commit("Call it", {"model.py": theirs})
    workshop.switch("dev")
    answer = guard("merge", "main", "-o", "json", folder=workshop.folder)
    (row,) = answer.report["resolution"]
    assert row["status"] == "open"
    assert "undefined-name" in row["reason"]


@pytest.mark.parametrize("moment", ["replace", "add"])
def test_a_failing_write_leaves_everything_as_before(workshop: Workshop, moment: str) -> None:
    """The disk is full, or the index locked, in the middle of it: no file and no index is half done."""
    conflict(workshop, OURS.replace(" * left", ""), THEIRS.replace("(n + right)", "n"))
    before = state(workshop)
    program = {
        "replace": "import pathlib\ndef no(self, target):\n    raise OSError(28, 'No space left on device')\n"
        "pathlib.Path.replace = no\n",
        "add": "import guard.git.command as c\nrun = c.GitCommand.run\n"
        "def no(self, *a, **k):\n    if a[0] == 'add':\n        raise c.GitError('index.lock')\n"
        "    return run(self, *a, **k)\nc.GitCommand.run = no\n",
    }[moment]
    code = f"import sys\nsys.argv = ['guard', 'merge', 'main']\n{program}from guard.cli import main\nmain()\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=workshop.folder, capture_output=True, check=False)
    assert done.returncode == 2, done.stderr
    assert state(workshop) == before
