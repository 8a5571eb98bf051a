"""Which merges are judged, and with which sides and tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from guard.errors import GitError, NothingCheckedError
from guard.git import Repository
from guard.sync import topology
from guard.sync.trees import load
from tests.conftest import Workshop


@pytest.fixture
def branches(workshop: Workshop) -> Workshop:
    """main and dev, diverged by one commit each; HEAD is dev."""
    workshop.commit("base", {"a.py": "a = 1\n"})
    workshop.branch("dev")
    workshop.commit("ours", {"b.py": "b = 1\n"})
    workshop.switch("main")
    workshop.commit("theirs (#7)", {"c.py": "c = 1\n"})
    workshop.switch("dev")
    return workshop


def test_a_merge_is_judged_by_its_own_tree(branches: Workshop) -> None:
    ours, theirs = branches.git("rev-parse", "dev"), branches.git("rev-parse", "main")
    merge = branches.merge("main")
    branches.commit("later")
    with Repository.open(branches.folder) as repository:
        sync = topology.from_merge(repository, merge)
        assert (sync.merge, sync.checked, sync.ours, sync.theirs) == (merge, merge, ours, theirs)
        assert sync.bases == (branches.git("merge-base", ours, theirs),)


def test_sides_are_told_by_ancestry(branches: Workshop) -> None:
    """Someone merged dev into a checkout of main and pushed the result to dev."""
    ours, theirs = branches.git("rev-parse", "dev"), branches.git("rev-parse", "main")
    branches.branch("crossed", "main")
    merge = branches.merge("dev")
    with Repository.open(branches.folder) as repository:
        assert topology.from_merge(repository, merge).ours == theirs
        sync = topology.from_merge(repository, merge, others=(theirs,))
        assert (sync.ours, sync.theirs) == (ours, theirs)


def test_the_merge_github_makes_of_a_pull_request_keeps_its_order(branches: Workshop) -> None:
    base, head = branches.git("rev-parse", "main"), branches.git("rev-parse", "dev")
    branches.branch("pull", "main")
    merge = branches.merge("dev", message=f"Merge {head} into {base}")
    with Repository.open(branches.folder) as repository:
        sync = topology.from_merge(repository, merge, others=(base,))
        assert (sync.ours, sync.theirs) == (base, head)


def test_a_sync_deep_inside_a_pull_request_branch_is_found_and_judged_at_the_tip(branches: Workshop) -> None:
    start = branches.git("rev-parse", "dev")
    branches.branch("main2dev")
    sync_merge = branches.merge("main")
    for number in range(30):
        branches.commit(f"follow-up {number}", {"d.py": f"d = {number}\n"})
    branches.switch("dev")
    branches.commit("meanwhile", {"e.py": "e = 1\n"})
    outer = branches.merge("main2dev")
    main = branches.git("rev-parse", "main")
    with Repository.open(branches.folder) as repository:
        syncs = topology.in_range(repository, start, outer, (main,))
        assert [(sync.merge, sync.checked) for sync in syncs] == [(sync_merge, outer), (outer, outer)]
        assert syncs[0].theirs == main


def test_merges_that_main_made_itself_are_not_judged_again(branches: Workshop) -> None:
    branches.branch("feature", "main")
    branches.commit("feature", {"f.py": "f = 1\n"})
    branches.switch("main")
    branches.commit("main goes on", {"c.py": "c = 2\n"})
    inner = branches.merge("feature")
    branches.switch("dev")
    start = branches.git("rev-parse", "dev")
    sync_merge = branches.merge("main")
    with Repository.open(branches.folder) as repository:
        syncs = topology.in_range(repository, start, sync_merge, (branches.git("rev-parse", "main"),))
        assert [sync.merge for sync in syncs] == [sync_merge]
        branches.switch("dev")
    # The next sync tells main's line from a pull request's without being told which branch is main.
    branches.switch("main")
    branches.branch("feature2", inner)
    branches.commit("feature 2", {"g.py": "g = 1\n"})
    branches.switch("main")
    branches.commit("main goes on again", {"c.py": "c = 3\n"})
    branches.merge("feature2")
    branches.switch("dev")
    branches.commit("dev goes on", {"b.py": "b = 2\n"})
    start = branches.git("rev-parse", "dev")
    second = branches.merge("main")
    with Repository.open(branches.folder) as repository:
        assert [sync.merge for sync in topology.in_range(repository, start, second)] == [second]


def test_one_parent_is_told_and_never_clean(branches: Workshop) -> None:
    plain = branches.commit("Tidy up")
    squash = branches.commit("Sync upstream/main", {"c.py": "c = 1\n"})
    with Repository.open(branches.folder) as repository:
        with pytest.raises(NothingCheckedError, match="is not a merge"):
            topology.from_merge(repository, plain)
        ask = rf"looks like a squashed sync.*--theirs UPSTREAM --merged {squash[:10]}"
        with pytest.raises(NothingCheckedError, match=ask):
            topology.from_merge(repository, squash)
        sync = topology.from_squash(repository, repository.commit(squash), repository.resolve("main"))
        assert (sync.ours, sync.theirs) == (plain, branches.git("rev-parse", "main"))


def test_octopus_and_unrelated_histories_are_refused(branches: Workshop) -> None:
    branches.branch("third", "main~1")
    third = branches.commit("third", {"t.py": "t = 1\n"})
    tree = branches.git("rev-parse", "dev^{tree}")
    octopus = branches.git("commit-tree", tree, "-p", "dev", "-p", "main", "-p", third, "-m", "octopus")
    branches.git("checkout", "-q", "--orphan", "alien")
    branches.commit("alien", {"z.py": "z = 1\n"})
    with Repository.open(branches.folder) as repository:
        with pytest.raises(GitError, match="octopus merge of 3 parents"):
            topology.from_merge(repository, octopus)
        with pytest.raises(GitError, match="unrelated histories"):
            topology.from_sides(repository, "dev", "alien")


def test_criss_cross_uses_a_virtual_base(workshop: Workshop) -> None:
    workshop.commit("base", {"a.py": "a = 1\n\n\n\nz = 1\n"})
    workshop.branch("dev")
    dev = workshop.commit("dev", {"a.py": "a = 2\n\n\n\nz = 1\n"})
    workshop.switch("main")
    main = workshop.commit("main", {"a.py": "a = 1\n\n\n\nz = 2\n"})
    workshop.switch("dev")
    workshop.merge(main)
    workshop.switch("main")
    workshop.merge(dev)
    workshop.commit("main 2", {"m.py": "m = 1\n"})
    workshop.switch("dev")
    workshop.commit("dev 2", {"d.py": "d = 1\n"})
    merge = workshop.merge("main")
    with Repository.open(workshop.folder) as repository:
        sync = topology.from_merge(repository, merge)
        assert set(sync.bases) == {dev, main}
        trees = load(repository, sync)
        assert trees.blob("base", "a.py") == b"a = 2\n\n\n\nz = 2\n"
        assert trees.resolved == ()
        assert set(trees.touched) == {"d.py", "m.py"}


def test_links_and_submodules_are_entries_and_no_files(workshop: Workshop, tmp_path: Path) -> None:
    workshop.commit("base", {"a.py": "a = 1\n"})
    (workshop.folder / "link.py").symlink_to("a.py")
    workshop.git("update-index", "--add", "--cacheinfo", f"160000,{workshop.git('rev-parse', 'HEAD')},sub")
    workshop.git("add", "link.py")
    workshop.git("commit", "-q", "-m", "more")
    with Repository.open(workshop.folder) as repository:
        kinds = {path: entry.kind for path, entry in repository.entries(repository.resolve("HEAD")).items()}
    assert kinds == {"a.py": "file", "link.py": "symlink", "sub": "submodule"}


def test_two_repositories_do_not_mix(make_workshop: Callable[[str], Workshop]) -> None:
    one, two = make_workshop("one"), make_workshop("two")
    first, second = one.commit("one", {"a.py": "1\n"}), two.commit("two", {"a.py": "2\n"})
    with Repository.open(one.folder) as left, Repository.open(two.folder) as right:
        assert left.exists(first)
        assert not left.exists(second)
        assert right.exists(second)
