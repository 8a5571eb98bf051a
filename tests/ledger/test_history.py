from __future__ import annotations

import json
from typing import Any

import pytest

from guard.commands.history import ends
from guard.errors import ConfigError, GuardError, NothingCheckedError
from guard.git import Repository
from guard.provenance.carried_losses import read_losses
from tests.conftest import Workshop
from tests.ledger.conftest import FIXED, ROUTER
from tests.ledger.test_contains import run
from tests.syncs import Guard

CLIP = "def clip(grads, limit):\n    norm = grads.norm()\n    return grads * limit / norm\n"
CLIP_FIXED = CLIP.replace("/ norm", "/ (norm + 1e-6)")


@pytest.fixture
def audited(workshop: Workshop) -> Workshop:
    """dev takes main in once, loses two fixes of main by it, and mends one of them later (tag `mend`)."""
    workshop.commit("start", {"router.py": ROUTER, "clip.py": CLIP, "dev.py": "DEV = 1\n"})
    workshop.git("tag", "start")
    workshop.branch("dev")
    workshop.commit("dev's own work", {"dev.py": "DEV = 2\n"})
    workshop.switch("main")
    workshop.commit("Fix the sequence loss scale for several micro-batches (#58)", {"router.py": FIXED})
    workshop.commit("Fix clipping of a zero norm (#59)", {"clip.py": CLIP_FIXED})
    workshop.switch("dev")
    workshop.merge("main", {"router.py": ROUTER, "clip.py": CLIP}, "Sync main into dev")
    workshop.git("tag", "sync")
    workshop.commit("dev goes on", {"dev.py": "DEV = 3\n"})
    workshop.commit("Restore the router's fix (#70)", {"router.py": FIXED})
    workshop.git("tag", "mend")
    workshop.commit("dev goes on again", {"dev.py": "DEV = 4\n"})
    return workshop


def _report(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    result = run(workshop.folder, monkeypatch, *arguments, "-o", "json", "--no-cache", "--jobs", "1")
    document: dict[str, Any] = json.loads(result.stdout)
    document["exit"] = result.return_value
    return document


def test_one_row_a_sync_with_repairs_and_what_is_open(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    report = _report(audited, monkeypatch, "history", "start..dev")
    (row,) = report["syncs"]
    assert row["merge"]["merged"] == audited.git("rev-parse", "sync")
    assert (row["lost"], row["repaired"], row["open"], row["status"]) == (2, 1, 1, "ran")
    (repair,) = row["repaired_by"]
    assert repair["commit"] == audited.git("rev-parse", "mend")
    assert repair["days"] == pytest.approx(240 / 86400, abs=0.01)
    (told,) = report["findings"]
    assert (told["path"], told["symbol"]) == ("clip.py", "clip")
    assert report["exit"] == 1


def test_a_branch_with_a_date_is_a_range(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    audited.switch("main")
    start = int(audited.git("log", "-1", "--format=%ct", "start"))
    report = _report(audited, monkeypatch, "history", "dev", "--since", f"@{start + 1}")
    assert len(report["syncs"]) == 1


def test_a_range_without_a_sync_checks_nothing(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NothingCheckedError, match="no sync"):
        run(audited.folder, monkeypatch, "history", "mend..dev")


def test_what_the_next_sync_brings_in_a_newer_form_is_not_open(
    audited: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited.switch("main")
    audited.commit("Clip otherwise", {"clip.py": CLIP.replace("limit / norm", "min(limit, norm)")})
    audited.switch("dev")
    audited.merge("main", {"clip.py": CLIP.replace("limit / norm", "min(limit, norm)")}, "Sync main into dev again")
    report = _report(audited, monkeypatch, "history", "start..dev")
    first = report["syncs"][0]
    assert (first["lost"], first["repaired"], first["open"]) == (2, 2, 0)
    assert audited.git("rev-parse", "dev") in {repair["commit"] for repair in first["repaired_by"]}


def test_the_ledger_file_carries_open_losses_over(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    run(audited.folder, monkeypatch, "history", "start..dev", "--ledger", "ledger.json", "--fail-on", "never")
    losses = read_losses((audited.folder / "ledger.json").read_bytes(), "ledger.json")
    assert [(loss.path, loss.repaired) for loss in losses] == [("clip.py", False), ("router.py", True)]
    audited.switch("main")
    audited.commit("Unrelated", {"more.py": "MORE = 1\n"})
    audited.switch("dev")
    audited.merge("main", message="Sync main into dev again")
    (audited.folder / "guard.toml").write_text('ledger = "ledger.json"\n')
    report = _report(audited, monkeypatch, "check", "--merge", "HEAD", "--select", "GRD502")
    (told,) = report["findings"]
    assert (told["code"], told["severity"], told["path"]) == ("GRD502", "error", "clip.py")
    assert told["origins"][0]["pr"] == 59
    assert audited.git("rev-parse", "sync")[:10] in told["message"]


def test_without_a_ledger_history_is_asked(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    audited.switch("main")
    audited.commit("Unrelated", {"more.py": "MORE = 1\n"})
    audited.switch("dev")
    audited.merge("main", message="Sync main into dev again")
    report = _report(audited, monkeypatch, "check", "--merge", "HEAD", "--select", "GRD502")
    assert [(f["path"], f["origins"][0]["pr"]) for f in report["findings"]] == [("clip.py", 59)]


def test_what_a_commit_of_ours_undid_is_a_decision_and_not_carried_over(
    audited: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    audited.commit("Take clipping back", {"clip.py": CLIP_FIXED})
    audited.commit("Clip as before, on purpose", {"clip.py": CLIP})
    audited.switch("main")
    audited.commit("Unrelated", {"more.py": "MORE = 1\n"})
    audited.switch("dev")
    audited.merge("main", message="Sync main into dev again")
    report = _report(audited, monkeypatch, "check", "--merge", "HEAD", "--select", "GRD502")
    assert report["findings"] == []


def test_a_ledger_that_is_missing_or_broken_is_an_error(audited: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    (audited.folder / "guard.toml").write_text('ledger = "ledger.json"\n')
    with pytest.raises(ConfigError, match="guard history --ledger"):
        run(audited.folder, monkeypatch, "check", "--merge", "sync", "--select", "GRD502")
    with pytest.raises(ConfigError, match="no ledger"):
        read_losses(b"[]", "ledger.json")
    with pytest.raises(ConfigError, match="version 9"):
        read_losses(b'{"version": 9, "losses": []}', "ledger.json")


def test_check_in_a_range_tells_what_a_later_commit_repaired(
    audited: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = _report(audited, monkeypatch, "check", "--since", "start", "--select", "GRD2")
    (merge,) = report["merges"]
    (repair,) = merge["repaired"]
    assert (repair["path"], repair["repaired_by"]["commit"]) == ("router.py", audited.git("rev-parse", "mend"))
    open_paths = {finding["path"] for finding in report["findings"]}
    assert "clip.py" in open_paths
    assert "router.py" not in open_paths


def test_a_date_that_is_none_is_refused(workshop: Workshop) -> None:
    head = workshop.commit("one", {"a.py": "x = 1\n"})
    with Repository.open(workshop.folder) as repository, pytest.raises(GuardError, match="written like 2026-03-01"):
        ends(repository, head, "garbage")


def test_the_columns_add_up_whatever_became_of_a_loss(audited: Workshop, guard: Guard) -> None:
    def rows() -> list[dict[str, int]]:
        answer = guard("history", "start..dev", "-o", "json", "--baseline", "accepted.txt", folder=audited.folder)
        return list(answer.report["syncs"])

    (audited.folder / "accepted.txt").write_text("")
    before = rows()
    open_before = sum(row["open"] for row in before)
    assert open_before > 0
    first = guard("history", "start..dev", "-o", "json", folder=audited.folder).report["findings"][0]
    guard("accept", first["fingerprint"], "--reason", "meant", "--baseline", "accepted.txt")
    after = rows()
    assert sum(row["accepted"] for row in after) >= 1
    assert sum(row["open"] + row["accepted"] for row in after) == open_before
    for row in (*before, *after):
        assert row["lost"] + row["revived"] + row["breaks"] == row["repaired"] + row["accepted"] + row["open"]
    text = guard("history", "start..dev").output
    assert " 0 checks ran" not in text
