from __future__ import annotations

import json
from typing import Any

import pytest

from guard.errors import GuardError, NothingCheckedError
from tests.conftest import Workshop
from tests.ledger.test_contains import run


@pytest.fixture
def reviewed(workshop: Workshop) -> Workshop:
    """A branch `work` with two changed files, and a `main` that went on in a third one."""
    workshop.commit("start", {"a.py": "A = 1\n", "b.py": "B = 1\n", "c.py": "C = 1\n"})
    workshop.branch("work")
    workshop.commit("change", {"a.py": "A = 2\n", "b.py": "B = 2\n"})
    workshop.switch("main")
    workshop.commit("go on", {"c.py": "C = 2\n"})
    return workshop


def _told(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[dict[str, Any]]:
    result = run(workshop.folder, monkeypatch, "check", "--landed", *arguments, "-o", "json")
    findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    assert result.return_value == (1 if any(f["severity"] == "error" for f in findings) else 0)
    return findings


def test_a_clean_merge_and_a_clean_squash_are_as_checked(reviewed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed.merge("work")
    assert _told(reviewed, monkeypatch, "HEAD") == []
    reviewed.git("reset", "-q", "--hard", "HEAD^1")
    reviewed.git("merge", "-q", "--squash", "work")
    reviewed.commit("Squashed")
    assert _told(reviewed, monkeypatch, "HEAD", "--merge", "work") == []


def test_a_change_that_did_not_land(reviewed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed.merge("work", {"b.py": "B = 1\n"})
    (told,) = _told(reviewed, monkeypatch, "HEAD")
    assert (told["code"], told["path"], told["line"]) == ("GRD503", "b.py", 1)
    assert "the checked change is not in it" in told["message"]
    assert told["evidence"]["theirs"] == "B = 2"
    assert told["evidence"]["merged"] == "B = 1"


def test_a_squash_that_undoes_the_branch(reviewed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed.commit("Squashed from an old checkout", {"a.py": "A = 2\n", "b.py": "B = 2\n", "c.py": "C = 1\n"})
    (told,) = _told(reviewed, monkeypatch, "HEAD", "--merge", "work")
    assert told["path"] == "c.py"
    assert "what the branch had changed since is undone" in told["message"]


def test_a_form_that_nobody_checked(reviewed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed.merge("work", {"a.py": "A = 3\n"})
    (told,) = _told(reviewed, monkeypatch, "HEAD")
    assert "differs from the checked head" in told["message"]


def test_a_conflict_taken_from_the_checked_head_is_a_warning(
    reviewed: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewed.commit("go on in the same place", {"a.py": "A = 9\n"})
    reviewed.merge("work", {"a.py": "A = 2\n"})
    (told,) = _told(reviewed, monkeypatch, "HEAD")
    assert (told["severity"], told["path"]) == ("warning", "a.py")


def test_the_head_must_be_known(reviewed: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NothingCheckedError, match="name the checked head"):
        run(reviewed.folder, monkeypatch, "check", "--landed", "HEAD")
    with pytest.raises(GuardError, match="--merge only"):
        run(reviewed.folder, monkeypatch, "check", "--landed", "HEAD", "--since", "HEAD^")
