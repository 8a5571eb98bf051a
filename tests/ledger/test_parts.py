from __future__ import annotations

import json

import pytest

from guard.git import Repository
from guard.provenance.landings import Landings, plain_subject, read_landings
from guard.provenance.repairs import road
from guard.sync.readings import Readings, narrowed
from tests.conftest import Workshop
from tests.ledger.conftest import FIXED, ROUTER
from tests.ledger.test_contains import run
from tests.ledger.test_history import CLIP, CLIP_FIXED


def _landings(workshop: Workshop) -> Landings:
    with Repository.open(workshop.folder) as repository:
        return read_landings(repository, [repository.resolve("HEAD")])


def test_pull_requests_are_found_in_subjects_and_trailers(workshop: Workshop) -> None:
    squash = workshop.commit("Fix a thing (#12)")
    trailer = workshop.commit("Fix another thing\n\nPull-Request: #13")
    pick = workshop.commit("[dev] Fix a thing (cherry-pick #12) (#40)")
    merge = workshop.commit("Mention #12 without being it (#41)")
    landings = _landings(workshop)
    assert [commit.sha for commit in landings.with_pull(12)] == [squash]
    assert [commit.sha for commit in landings.with_pull(13)] == [trailer]
    assert {twin.sha for twin in landings.twins(landings.commits[squash])} == {pick}
    assert {twin.sha for twin in landings.twins(landings.commits[pick])} == {squash}
    assert landings.twins(landings.commits[merge]) == []


def test_a_revert_is_no_twin(workshop: Workshop) -> None:
    fix = workshop.commit("Fix the overflow of the counter (#12)")
    workshop.commit('Revert "Fix the overflow of the counter (#12)" (#12)')
    landings = _landings(workshop)
    assert landings.twins(landings.commits[fix]) == []


@pytest.mark.parametrize(
    "subject",
    [
        "Fix the scale (#12)",
        "[dev] Fix the scale (#13)",
        "cp: Fix the scale (cherry-pick #12) (#13)",
        "[Dev][Cherry-Pick Main] fix the scale",
    ],
)
def test_marks_and_numbers_are_no_part_of_a_subject(subject: str) -> None:
    assert plain_subject(subject) == "fix the scale"


CLASS = '''class Router:
    def first(self):
        return 1

    @property
    @cached
    def second(self, value=(
        1
    )):
        """Text
    with a line that stands further left than the body.
        """
        return value

    async def third(self):
        return 3
'''


def test_one_method_is_read_without_its_class() -> None:
    found = narrowed(CLASS, "third")
    assert found == (14, "async def third(self):\n    return 3\n")
    first = narrowed(CLASS, "first")
    assert first is not None
    assert first[1].startswith("def first(self):\n    return 1\n")
    assert narrowed(CLASS, "fourth") is None
    assert narrowed(CLASS + "\n    def third(self):\n        return 4\n", "third") is None


def test_a_method_whose_end_cannot_be_told_is_read_with_its_class(workshop: Workshop) -> None:
    sha = workshop.commit("start", {"router.py": CLASS})
    with Repository.open(workshop.folder) as repository:
        readings = Readings(repository)
        second = readings.definition(f"{sha}:router.py", ("Router.second", 0))
        third = readings.definition(f"{sha}:router.py", ("Router.third", 0))
    assert second is not None
    assert [statement.text for statement in second.statements][-1] == "return value"
    assert third is not None
    assert third.line == 15
    assert readings.definition(f"{sha}:none.py", ("Router.third", 0)) is None


def test_a_repair_inside_a_merged_branch_is_named_and_not_the_merge(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.commit("start", {"router.py": ROUTER, "clip.py": CLIP})
    workshop.git("tag", "start")
    workshop.branch("dev")
    workshop.commit("dev", {"dev.py": "DEV = 1\n"})
    workshop.switch("main")
    workshop.commit("Fix the loss (#58)", {"router.py": FIXED, "clip.py": CLIP_FIXED})
    workshop.switch("dev")
    sync = workshop.merge("main", {"router.py": ROUTER}, "Sync main into dev")
    workshop.branch("topic")
    workshop.commit("prepare", {"topic.py": "TOPIC = 1\n"})
    mend = workshop.commit("Restore the fix", {"router.py": FIXED})
    workshop.commit("polish", {"topic.py": "TOPIC = 2\n"})
    workshop.switch("dev")
    workshop.commit("dev goes on", {"dev.py": "DEV = 2\n"})
    tip = workshop.merge("topic", message="Merge pull request #71 from ada/topic")
    with Repository.open(workshop.folder) as repository:
        assert road(repository, sync, tip)[0] == sync
        assert road(repository, sync, tip)[-1] == tip
        assert road(repository, tip, tip) == (tip,)
    result = run(workshop.folder, monkeypatch, "history", "start..dev", "-o", "json", "--no-cache", "--jobs", "1")
    row = next(row for row in json.loads(result.stdout)["syncs"] if row["merge"]["merged"] == sync)
    assert [repair["commit"] for repair in row["repaired_by"]] == [mend]


def test_the_commit_that_took_a_fix_out_is_found_among_many(forked: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        forked.commit(f"go on {number}", {"router.py": FIXED + f"\nNUMBER = {number}\n"})
    undo = forked.commit("Simplify", {"router.py": ROUTER + "\nNUMBER = 6\n"})
    for number in range(7, 12):
        forked.commit(f"go on {number}", {"router.py": ROUTER + f"\nNUMBER = {number}\n"})
    result = run(forked.folder, monkeypatch, "contains", "fix", "--in", "main", "-o", "json")
    (row,) = json.loads(result.stdout)["contains"]
    assert (row["status"], row["by"]) == ("reverted", undo)
