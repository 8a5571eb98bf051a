from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from guard.cli import guard
from tests.conftest import Workshop
from tests.ledger.conftest import DEAD, FIXED, ROUTER, SUBJECT

Ask = Callable[..., list[dict[str, Any]]]


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(guard, list(arguments), standalone_mode=False, catch_exceptions=False)


@pytest.fixture
def ask(forked: Workshop, monkeypatch: pytest.MonkeyPatch) -> Ask:
    def contains(*arguments: str) -> list[dict[str, Any]]:
        result = run(forked.folder, monkeypatch, "contains", *arguments, "-o", "json")
        rows: list[dict[str, Any]] = json.loads(result.stdout).get("contains", [])
        return rows

    return contains


def status(rows: list[dict[str, Any]]) -> list[str]:
    return [row["status"] for row in rows]


def test_present_by_ancestry_and_missing_where_the_old_text_stands(forked: Workshop, ask: Ask) -> None:
    rows = ask("fix", "--in", "main", "dev")
    assert status(rows) == ["present", "missing"]
    assert rows[0]["place"] == "router.py:11"
    assert rows[0]["numeric"] is True


def test_a_pull_request_is_found_by_its_number(ask: Ask) -> None:
    assert status(ask("#58", "--in", "main")) == ["present"]


def test_reverted_by_the_merge_that_took_the_old_text(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    merge = forked.merge("main", {"router.py": ROUTER})
    rows = ask("fix", "--in", "dev")
    assert status(rows) == ["reverted"]
    assert rows[0]["by"] == merge


def test_reverted_by_a_revert(forked: Workshop, ask: Ask) -> None:
    forked.commit("Merge nothing")
    undo = forked.commit('Revert "Fix the sequence loss"', {"router.py": ROUTER})
    rows = ask("fix", "--in", "main")
    assert status(rows) == ["reverted"]
    assert rows[0]["by"] == undo


def test_dead_where_a_newer_argument_overrides_the_fixed_one(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    forked.merge("main", {"router.py": DEAD})
    assert status(ask("fix", "--in", "dev")) == ["dead"]


def test_a_newer_argument_that_overrides_nothing_leaves_the_fix_alive(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    alive = DEAD.replace("if scale_num_tokens is None:", "if True:")
    forked.merge("main", {"router.py": alive})
    assert status(ask("fix", "--in", "dev")) == ["equivalent"]


def test_cherry_picked_is_present_under_another_sha(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    forked.git("cherry-pick", "fix")
    assert status(ask("fix", "--in", "dev")) == ["present"]


def test_a_cherry_pick_that_was_undone_is_reverted_and_not_missing(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    forked.git("cherry-pick", "-x", "fix")
    undo = forked.commit("Take main's old router", {"router.py": ROUTER})
    rows = ask("fix", "--in", "dev")
    assert status(rows) == ["reverted"]
    assert rows[0]["by"] == undo


def test_written_otherwise_is_equivalent(forked: Workshop, ask: Ask) -> None:
    forked.switch("dev")
    forked.commit("own fix", {"router.py": FIXED.replace("count * bsz", "bsz * count")})
    assert status(ask("fix", "--in", "dev"))[0] in {"equivalent", "present"}


def test_rewritten_by_a_later_commit_is_equivalent(forked: Workshop, ask: Ask) -> None:
    later = forked.commit("Scale once", {"router.py": FIXED.replace("count * bsz", "self.tokens(count, bsz)")})
    rows = ask("fix", "--in", "main")
    assert status(rows) == ["equivalent"]
    assert rows[0]["by"] == later


def test_moved_to_another_file_is_followed_by_symbol(forked: Workshop, ask: Ask) -> None:
    forked.git("mv", "router.py", "routing.py")
    forked.commit("Move the router")
    rows = ask("fix", "--in", "main")
    assert status(rows) == ["moved"]
    assert rows[0]["place"].startswith("routing.py:")


def test_never_had_it_where_the_code_is_younger(forked: Workshop, ask: Ask) -> None:
    root = forked.git("rev-list", "--max-parents=0", "main")
    forked.branch("old", root)
    forked.commit("before the router", {"router.py": None})
    assert status(ask("fix", "--in", "old")) == ["not-merged"]


def test_partly_where_one_file_of_two_was_dropped(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.commit("start", {"a.py": "def a(x):\n    return x\n", "b.py": "def b(y):\n    return y\n"})
    workshop.branch("dev")
    workshop.commit("dev", {"c.py": "C = 1\n"})
    workshop.switch("main")
    fixed = {"a.py": "def a(x):\n    return scale(x, 2)\n", "b.py": "def b(y):\n    return scale(y, 3)\n"}
    fix = workshop.commit("Fix both scales", dict(fixed))
    workshop.switch("dev")
    merge = workshop.merge("main", {"b.py": "def b(y):\n    return y\n"})
    result = run(workshop.folder, monkeypatch, "contains", fix, "--in", "dev", "-o", "json")
    (row,) = json.loads(result.stdout)["contains"]
    assert (row["status"], row["by"]) == ("partly", merge)


def test_missing_lists_numeric_fixes_first_and_who_brings_them(
    forked: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked.commit("Fix the name of a value (#60)", {"other.py": "NAME = 1\n"})
    forked.commit("Add a feature (#61)", {"feature.py": "FEATURE = 1\n"})
    picked = forked.commit("Fix another value (#62)", {"dev2.py": "SECOND = 2\n"})
    forked.switch("dev")
    forked.git("cherry-pick", picked)
    result = run(forked.folder, monkeypatch, "contains", "--missing", "main", "dev", "-o", "json")
    rows = json.loads(result.stdout)["contains"]
    assert [row["pr"] for row in rows] == [58, 60]
    assert [row["numeric"] for row in rows] == [True, False]
    assert rows[0]["by"] == forked.git("rev-parse", "fix")
    assert rows[0]["subject"] == SUBJECT


def test_a_pin_is_a_fix_too(forked: Workshop, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    run(forked.folder, monkeypatch, "learn", "fix")
    rows = ask("pin-58-fix-the-sequence-loss-scale-for-several", "--in", "main", "dev")
    assert status(rows) == ["present", "missing"]
    assert rows[0]["pr"] == 58


def test_a_pull_request_that_was_merged_stands_for_all_its_commits(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.commit("start", {"a.py": "def a(x):\n    return x\n", "b.py": "def b(y):\n    return y\n"})
    workshop.git("branch", "old")
    workshop.branch("topic")
    workshop.commit("half", {"a.py": "def a(x):\n    return scale(x, 2)\n"})
    workshop.commit("other half", {"b.py": "def b(y):\n    return scale(y, 3)\n"})
    workshop.switch("main")
    workshop.merge("topic", message="Merge pull request #9 from ada/topic")
    workshop.branch("dev", "old")
    workshop.commit("one half by hand", {"a.py": "def a(x):\n    return scale(x, 2)\n"})
    result = run(workshop.folder, monkeypatch, "contains", "#9", "--in", "main", "dev", "old", "-o", "json")
    assert status(json.loads(result.stdout)["contains"]) == ["present", "partly", "missing"]


def test_exit_code_on_request(forked: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(forked.folder, monkeypatch, "contains", "fix", "--in", "dev").return_value == 0
    assert run(forked.folder, monkeypatch, "contains", "fix", "--in", "dev", "--exit-code").return_value == 1
    assert run(forked.folder, monkeypatch, "contains", "fix", "--in", "main", "--exit-code").return_value == 0


def test_the_table_says_fix_by_branch(forked: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    text = run(forked.folder, monkeypatch, "contains", "#58", "--in", "main", "dev", "--color", "never").stdout
    lines = text.splitlines()
    assert lines[0].split() == ["fix", "main", "dev"]
    assert lines[1].split()[:3] == ["#58", "present", "missing"]
    assert "router.py:11" in lines[2]
