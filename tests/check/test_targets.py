"""What `--since merge-base` is relative to where no setting says it, and that the report says which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard

BASE = "def aux(probs, bsz):\n    count = probs.shape[0]\n    return probs.sum() / count\n"
FIXED = BASE.replace("shape[0]", "shape[0] * bsz")


@pytest.fixture
def clone(make_workshop: Callable[[str], Workshop], tmp_path: Path) -> Workshop:
    """A clone of a repository with main, dev and a feature branch of dev; main has a fix that dev has not."""
    origin = make_workshop("origin")
    origin.commit("base", {"m.py": BASE, "n.py": "n = 1\n"})
    origin.branch("dev")
    origin.commit("dev's own", {"n.py": "n = 2\n", "d.py": "d = 1\n"})
    origin.branch("a-feature")
    origin.commit("a feature", {"f.py": "f = 1\n"})
    origin.switch("main")
    origin.commit("Fix the count of tokens (#5798)", {"m.py": FIXED})
    copy = make_workshop("clone")
    copy.git("remote", "add", "origin", str(origin.folder))
    copy.git("fetch", "-q", "origin")
    copy.git("remote", "set-head", "origin", "main")
    return copy


def sync(clone: Workshop, branch: str, message: str = "Merge main") -> str:
    """A sync of main into dev on a branch, that loses the fix."""
    clone.git("checkout", "-q", "--no-track", "-B", branch, "origin/dev")
    return clone.merge("origin/main", {"m.py": BASE + "\n\nx = 1\n"}, message)


def push(clone: Workshop, branch: str) -> None:
    clone.git("push", "-q", "-u", "origin", branch)


def relative_to(guard: Guard, clone: Workshop) -> tuple[int, str]:
    answer = guard.check("--since", "merge-base", folder=clone.folder)
    said = [notice for notice in answer.report["notices"] if notice.startswith("relative to ")]
    assert len(said) == 1
    assert guard("check", "--since", "merge-base", "--jobs", "1").output.count(said[0]) == 1, "the text says it too"
    return answer.status, said[0].removeprefix("relative to ").partition(", which")[0]


@pytest.mark.parametrize("pushed", [False, True])
def test_an_open_sync_is_relative_to_the_branch_it_is_made_for(clone: Workshop, guard: Guard, pushed: bool) -> None:
    merge = sync(clone, "main2dev/today")
    if pushed:
        push(clone, "main2dev/today")
    clone.commit("a follow-up", {"z.py": "z = 1\n"})
    assert relative_to(guard, clone) == (1, f"origin/dev, for which {merge[:10]} is the open sync")


def test_a_detached_sync_is_relative_to_the_branch_it_is_made_for(clone: Workshop, guard: Guard) -> None:
    merge = sync(clone, "main2dev/today")
    clone.git("checkout", "-q", "--detach")
    clone.git("branch", "-D", "main2dev/today")
    assert relative_to(guard, clone) == (1, f"origin/dev, for which {merge[:10]} is the open sync")


def test_the_upstream_where_it_is_another_branch(clone: Workshop, guard: Guard) -> None:
    clone.git("checkout", "-q", "-b", "topic", "origin/a-feature")
    clone.merge("origin/main", {"m.py": BASE + "\n\nx = 1\n"})
    assert relative_to(guard, clone) == (1, "origin/a-feature, the upstream of topic")


def test_the_upstream_of_the_branch_itself_while_a_merge_is_not_pushed(clone: Workshop, guard: Guard) -> None:
    sync(clone, "dev")
    clone.git("branch", "-u", "origin/dev")
    assert relative_to(guard, clone) == (1, "origin/dev, the upstream of dev")


def test_else_the_default_branch(clone: Workshop, guard: Guard) -> None:
    sync(clone, "dev")
    push(clone, "dev")
    assert relative_to(guard, clone) == (1, "origin/main, the default branch")


def test_the_default_branch_without_a_remote(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"m.py": BASE})
    workshop.branch("topic")
    workshop.commit("topic", {"n.py": "n = 1\n"})
    status, said = relative_to(guard, workshop)
    assert (status, said) == (0, "main, the default branch")


def test_a_branch_that_is_contained_leaves_nothing_to_check_and_says_so(clone: Workshop, guard: Guard) -> None:
    clone.git("checkout", "-q", "-B", "main", "origin/main")
    answer = guard("check", "--since", "merge-base", folder=clone.folder)
    assert answer.status == 3
    assert "it contains HEAD, so nothing is left to check" in answer.output


def test_a_setting_goes_first(clone: Workshop, guard: Guard) -> None:
    sync(clone, "main2dev/today")
    (clone.folder / "guard.toml").write_text('target = "a-feature"\n')
    assert relative_to(guard, clone) == (1, "origin/a-feature, the configured target")


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "dev"),
        ("--since", "dev~1"),
        ("--merge", "dev"),
        ("--since", "dev...HEAD"),
        ("--ours", "dev", "--theirs", "HEAD"),
    ],
)
def test_a_branch_that_only_the_remote_has_is_named(clone: Workshop, guard: Guard, words: tuple[str, ...]) -> None:
    sync(clone, "main2dev/today")
    answer = guard("check", *words, folder=clone.folder)
    assert answer.status == 2
    assert "origin/dev" in answer.errors
    assert "origin/nowhere" not in guard("check", "--since", "nowhere").errors
