"""Reading repositories of every shape, and leaving all of them as they were."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from guard.errors import GitError, ShallowCloneError
from guard.git import Repository
from guard.git.index import index_tree, merge_heads
from tests.conftest import Workshop


def snapshot(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file below a folder with its mtime and content: objects, refs, index and work tree.

    The mtime of an object is left out: git freshens an object of an alternate that it would have written.
    """
    return {
        str(path.relative_to(folder)): (
            0 if "objects" in path.parts else path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.fixture
def diverged(workshop: Workshop) -> Workshop:
    """main and dev with a conflict in a.py and a clean edit on either side."""
    workshop.commit("base", {"a.py": "x = 1\n", "b.py": "b = 1\n", "sp ace é.py": "c = 1\n"})
    workshop.branch("dev")
    workshop.commit("ours", {"a.py": "x = 2\n", "sp ace é.py": "c = 2\n"})
    workshop.switch("main")
    workshop.commit("theirs", {"a.py": "x = 3\n", "b.py": "b = 3\n"})
    workshop.switch("dev")
    return workshop


def test_automatic_merge_and_blobs(diverged: Workshop) -> None:
    with Repository.open(diverged.folder) as repository:
        ours, theirs = repository.resolve("dev"), repository.resolve("main")
        merge = repository.automatic_merge(ours, theirs)
        entries = repository.entries(merge.tree)
        assert merge.conflicts == {"a.py"}
        assert repository.blob(entries["b.py"].sha) == b"b = 3\n"
        assert repository.blob(entries["sp ace é.py"].sha) == b"c = 2\n"
        assert b"<<<<<<<" in repository.blob(entries["a.py"].sha)


def test_a_base_given_by_hand_is_the_base(diverged: Workshop) -> None:
    with Repository.open(diverged.folder) as repository:
        ours, theirs = repository.resolve("dev"), repository.resolve("main")
        merge = repository.automatic_merge(ours, theirs, base=theirs)
        assert merge.conflicts == frozenset()
        assert repository.entries(merge.tree) == repository.entries(ours)


def test_nothing_is_written_to_the_analysed_repository(diverged: Workshop) -> None:
    before = snapshot(diverged.folder)
    with Repository.open(diverged.folder) as repository:
        ours, theirs = repository.resolve("dev"), repository.resolve("main")
        repository.automatic_merge(ours, theirs)
        repository.automatic_merge(ours, theirs, base=theirs)
        index_tree(repository)
        scratch = repository.scratch.directory
    assert snapshot(diverged.folder) == before
    assert not scratch.exists()


def test_what_still_writes_leaves_nothing_behind(diverged: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    with Repository.open(diverged.folder) as repository:
        scratch = repository.scratch.directory
        remove = os.rmdir

        def while_git_writes(path: str, **others: int) -> None:
            """A git that an interrupted run did not wait for."""
            with contextlib.suppress(FileNotFoundError):
                (scratch / "objects" / "late").touch()
            remove(path, **others)

        monkeypatch.setattr(os, "rmdir", while_git_writes)
    assert list(scratch.parent.glob(f"{scratch.name}*")) == []


def test_more_paths_than_a_command_line_holds(diverged: Workshop) -> None:
    base = diverged.git("rev-parse", "main~1")
    many = [f"a/long/name/of/a/folder/that/is/not/there/{number:0100}.py" for number in range(20_000)]
    diverged.commit("odd", {"line\nbreak é.py": "x = 1\n"})
    diverged.commit("other", {"é.py": "x = 1\n"})
    diverged.commit("neither", {"more.py": "x = 1\n"})
    with Repository.open(diverged.folder) as repository:
        tip = repository.resolve("dev")
        found = repository.commits([tip, f"^{base}", "--", *many, "sp ace é.py", "line\nbreak é.py", "é.py"])
        assert [commit.subject for commit in found] == ["other", "odd", "ours"]


def test_bare_linked_and_configless(diverged: Workshop, tmp_path: Path) -> None:
    head = diverged.git("rev-parse", "HEAD")
    bare = tmp_path / "bare.git"
    diverged.git("clone", "-q", "--bare", str(diverged.folder), str(bare))
    linked = tmp_path / "linked"
    diverged.git("worktree", "add", "-q", "--detach", str(linked))
    configless = tmp_path / "configless.git"
    diverged.git("clone", "-q", "--bare", str(diverged.folder), str(configless))
    (configless / "config").unlink()
    for folder, work_tree in ((bare, None), (linked, linked), (configless, None)):
        with Repository.open(folder) as repository:
            assert repository.resolve("HEAD") == head
            assert repository.work_tree == work_tree
            assert len(repository.entries(head)) == 3
            assert repository.automatic_merge(head, repository.resolve("main")).conflicts == {"a.py"}


def test_sha256_repositories(tmp_path: Path) -> None:
    folder = tmp_path / "sha256"
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(folder)], check=True)
    shop = Workshop(folder)
    shop.commit("one", {"a.py": "x = 1\n"})
    with Repository.open(folder) as repository:
        head = repository.resolve("HEAD")
        assert len(head) == 64
        assert repository.blob(repository.entries(head)["a.py"].sha) == b"x = 1\n"


def test_a_hostile_repository_gets_nothing(diverged: Workshop, tmp_path: Path) -> None:
    """Configuration, attributes, replace refs and grafts of the analysed repository have no effect."""
    witness = tmp_path / "witness"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {witness}\ncat\n")
    program.chmod(0o755)
    real = diverged.git("rev-parse", "main")
    for key in ("core.fsmonitor", "diff.external", "merge.evil.driver", "diff.evil.textconv", "filter.evil.smudge"):
        diverged.git("config", key, str(program))
    diverged.git("config", "core.hooksPath", str(tmp_path))
    (diverged.folder / ".git/info").mkdir(exist_ok=True)
    (diverged.folder / ".git/info/attributes").write_text("* merge=evil diff=evil filter=evil\n")
    diverged.git("replace", real, "dev")
    with Repository.open(diverged.folder) as repository:
        assert repository.resolve("main") == real
        assert repository.commit(real).subject == "theirs"
        assert repository.automatic_merge(repository.resolve("dev"), real).conflicts == {"a.py"}
        index_tree(repository)
        list(repository.commits(["-p", real]))
    assert not witness.exists()


def test_variables_of_a_hook_do_not_mislead(diverged: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(diverged.folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(diverged.folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(diverged.folder / ".git/index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "/bin/false")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "merge.renames")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "nonsense")
    before = snapshot(diverged.folder)
    with Repository.open(diverged.folder) as repository:
        assert repository.automatic_merge(repository.resolve("dev"), repository.resolve("main")).conflicts == {"a.py"}
        assert index_tree(repository).unmerged == ()
    assert snapshot(diverged.folder) == before


def test_the_index_of_a_merge_in_progress(diverged: Workshop) -> None:
    diverged.git("merge", "-q", "main", check=False)
    with Repository.open(diverged.folder) as repository:
        assert merge_heads(repository) == (diverged.git("rev-parse", "main"),)
        assert index_tree(repository).unmerged == ("a.py",)
        diverged.write({"a.py": "x = 5\n"})
        diverged.git("add", "a.py")
        index = index_tree(repository)
        assert index.unmerged == ()
        assert repository.blob(repository.entries(index.tree)["a.py"].sha) == b"x = 5\n"


def test_githead_names_what_is_merged_before_merge_head_is_there(
    diverged: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = diverged.git("rev-parse", "main")
    monkeypatch.setenv(f"GITHEAD_{theirs}", "main")
    with Repository.open(diverged.folder) as repository:
        assert merge_heads(repository) == (theirs,)


@pytest.mark.parametrize("revision", ["nope", "", "-x", "--output=/tmp/x", "HEAD:a.py", "HEAD^{tree}"])
def test_what_is_no_commit_is_refused(diverged: Workshop, revision: str) -> None:
    with Repository.open(diverged.folder) as repository, pytest.raises(GitError):
        repository.resolve(revision)


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not in a git repository"):
        Repository.open(tmp_path)
    with pytest.raises(GitError, match="is no directory"):
        Repository.open(tmp_path / "missing")


def test_an_error_tells_the_cause_and_no_hint(workshop: Workshop) -> None:
    first = workshop.commit("one", {"a.txt": "one\n" * 50})
    second = workshop.commit("two", {"a.txt": None, "b.txt": "one\n" * 50 + "two\n"})
    blob = workshop.git("rev-parse", f"{second}:b.txt")
    (workshop.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with Repository.open(workshop.folder) as repository, pytest.raises(GitError) as caught:
        repository.git("diff-tree", "-r", "-M", first, second)
    assert blob in str(caught.value)
    assert "hint" not in str(caught.value)


def test_a_line_break_in_the_path_is_refused(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "two\nlines")
    with pytest.raises(GitError, match="line break"):
        Repository.open(workshop.folder)


def test_a_shallow_clone_names_the_fetch_line(
    diverged: Workshop, make_workshop: Callable[[str], Workshop], tmp_path: Path
) -> None:
    shallow = tmp_path / "shallow"
    diverged.git("clone", "-q", "--depth", "1", f"file://{diverged.folder}", str(shallow))
    line = "git fetch --unshallow --tags origin"
    with Repository.open(shallow) as repository, pytest.raises(ShallowCloneError, match=line):
        repository.require_history()


def test_a_partial_clone_reads_its_missing_blobs_into_the_scratch_directory(diverged: Workshop, tmp_path: Path) -> None:
    diverged.git("config", "uploadpack.allowFilter", "true")
    diverged.git("config", "uploadpack.allowAnySHA1InWant", "true")
    partial = tmp_path / "partial"
    source = f"file://{diverged.folder}"
    diverged.git("clone", "-q", "--no-checkout", "--filter=blob:none", source, str(partial))
    before = snapshot(partial)
    with Repository.open(partial) as repository:
        assert repository.is_partial
        entries = repository.entries(repository.resolve("HEAD"))
        repository.prefetch(entry.sha for entry in entries.values())
        assert repository.blob(entries["a.py"].sha) == b"x = 2\n"
        merge = repository.automatic_merge(repository.resolve("HEAD"), repository.resolve("origin/main"))
        assert merge.conflicts == {"a.py"}
    assert snapshot(partial) == before
    assert "GIT_NO_LAZY_FETCH" not in os.environ
