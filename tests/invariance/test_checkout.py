from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from guard.errors import GuardError
from guard.git import Repository
from guard.invariance.checkout import export, prefix_of
from guard.invariance.tree import open_tree


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    core = root / "third" / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("__version__ = '1'\n")
    (core / "link.py").symlink_to("/etc/passwd")
    (root / "third" / "setup.py").write_text("1/0\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    (core / "__init__.py").write_text("__version__ = '2'\n")
    git(root, "commit", "-qam", "two")
    return root


def test_only_files_of_megatron_are_exported(repository: Path, tmp_path: Path) -> None:
    into = tmp_path / "out"
    with Repository.open(repository) as opened:
        sha, prefix = export(opened, "HEAD~1", into)
    assert sha == git(repository, "rev-parse", "HEAD~1")
    assert prefix == "third/"
    assert [str(file.relative_to(into)) for file in into.rglob("*") if not file.is_dir()] == [
        "megatron/core/__init__.py"
    ]
    assert (into / "megatron/core/__init__.py").read_text() == "__version__ = '1'\n"


def test_a_tree_may_be_a_revision_or_a_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    found = open_tree("HEAD", tmp_path / "scratch", "python3")
    assert (found.label, found.prefix) == ("HEAD", "third/")
    found = open_tree("third", tmp_path, "python3")
    assert (found.folder, found.prefix, found.sha) == (repository / "third", "third/", None)


def test_what_holds_no_megatron_is_an_error(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    git(repository, "rm", "-qr", "third")
    git(repository, "commit", "-qm", "three")
    with pytest.raises(GuardError, match=r"holds no megatron/core/__init__\.py"):
        open_tree("HEAD", tmp_path / "scratch", "python3")
    with pytest.raises(GuardError, match="no folder nowhere"):
        open_tree("nowhere", tmp_path / "scratch", "python3")
    with pytest.raises(GuardError, match="unknown revision"):
        open_tree("x", tmp_path, "python3")


def test_the_shortest_prefix_wins() -> None:
    assert prefix_of(["a/b/megatron/core/__init__.py", "a/megatron/core/__init__.py"]) == "a/"
    assert prefix_of(["megatron/core/__init__.py"]) == ""
    assert prefix_of(["xmegatron/core/__init__.py"]) is None
