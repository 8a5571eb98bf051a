"""A sentence, never a traceback: settings, programs and machines as bad as they come, and a fault of guard itself."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from guard.git.paths import is_git_directory
from tests.conftest import Workshop
from tests.syncs import Guard

FILES = {"a.py": "x = 1\n"}


def run(workshop: Workshop, *arguments: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, after a shell command."""
    line = shlex.join([sys.executable, "-m", "guard", *arguments])
    root = str(Path(__file__).parent.parent.parent)
    return subprocess.run(
        ["bash", "-c", f"{before}\n{line}"],
        cwd=workshop.folder,
        env={**os.environ, "PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 3000,
        "x = " + "{a=" * 3000,
        "target = " + "1" * 5000,
        "\0",
        "\xff",
        "target = [[]]",
        "exclude = 1",
        "[[coupled]]\npaths = 1",
        "[tool]\nguard = 1",
        "target.x = 1",
    ],
)
@pytest.mark.parametrize("name", ["guard.toml", "pyproject.toml"])
def test_settings_of_any_kind(workshop: Workshop, guard: Guard, text: str, name: str) -> None:
    workshop.write(FILES | {name: text.encode("latin-1")})
    answer = guard("check", "a.py")
    assert answer.status in (0, 2)
    assert answer.status == 0 or answer.errors.startswith("guard: error: ")
    assert "fault of guard" not in answer.errors


@pytest.mark.parametrize("name", ["guard.toml", "pyproject.toml", "rules/pins/x.yaml", "base", "conf.toml"])
@pytest.mark.parametrize("kind", ["pipe", "zero", "folder"])
def test_pipes_devices_and_folders_are_refused(workshop: Workshop, guard: Guard, name: str, kind: str) -> None:
    workshop.write(FILES)
    place = workshop.folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "zero":
        place.symlink_to("/dev/zero")
    else:
        place.mkdir()
    more = {"base": ("--baseline", "base"), "conf.toml": ("--config", "conf.toml")}.get(name, ())
    answer = guard("check", "a.py", *more)
    assert answer.status == 2
    assert answer.errors.startswith("guard: error: ")
    assert "fault of guard" not in answer.errors


def program(folder: Path, text: str) -> str:
    """A git of one's own, in a folder to put on the path."""
    folder.mkdir()
    place = folder / "git"
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(place.stat().st_mode | stat.S_IEXEC)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(
    "text", ["echo garbage", "exit 1", "echo git version 1.0", "head -c 100000 /dev/urandom", "kill -9 $$"]
)
def test_a_git_that_is_none(workshop: Workshop, tmp_path: Path, text: str) -> None:
    workshop.commit("one", FILES)
    answer = run(workshop, "check", "--merge", "HEAD", PATH=program(tmp_path / "bin", text))
    assert answer.returncode == 2
    assert answer.stderr.startswith("guard: error: ")
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("limit", [4, 6, 8, 12])
def test_a_machine_without_descriptors(workshop: Workshop, limit: int) -> None:
    workshop.commit("one", FILES)
    answer = run(workshop, "check", "--merge", "HEAD", before=f"ulimit -n {limit}")
    assert answer.returncode in (1, 2, 3)
    if limit >= 8:  # below that Python itself does not start
        assert "Traceback" not in answer.stderr


def test_a_fault_is_one_block_to_paste(workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    from guard.commands import check

    def broken(*_: object) -> None:
        raise ZeroDivisionError("nobody\x1b[31m foresaw\nthis")

    workshop.commit("one", FILES)
    monkeypatch.setattr(check, "_lint_only", broken)
    answer = guard("check", "a.py", "--fail-on", "never")
    lines = answer.errors.splitlines()
    assert answer.status == 2
    assert answer.output == ""
    assert lines[0] == "guard: error: this is a fault of guard. Please report it with these lines:"
    assert lines[1].startswith("    ZeroDivisionError: nobody\\x1b[31m foresaw this (at guard")
    assert "Python 3" in lines[2]
    assert "git: " in lines[3]
    assert lines[4] == "    command: guard check a.py --fail-on never"
    assert any("guard/commands/check.py:" in line for line in lines[5:])
    assert "Traceback" not in answer.errors


@pytest.mark.parametrize(
    "name",
    [".git", ".GIT", ".Git", ".git.", ".git ", ".git. .", "git~1", "GIT~1", ".git::$INDEX_ALLOCATION", ".git:x",
     ".g\u200cit", ".gi\u200dt", "\ufeff.git", ".git\u202e", "a\\.git", ".git\\hooks"],
)  # fmt: skip
def test_what_a_file_system_takes_for_git(name: str) -> None:
    assert is_git_directory(name)


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "x.git", "git~2", ".git_x", "gitx", "..git", ".gît"])
def test_what_none_takes_for_git(name: str) -> None:
    assert not is_git_directory(name)


def _git(workshop: Workshop, *arguments: str, stdin: bytes) -> str:
    done = subprocess.run(["git", *arguments], cwd=workshop.folder, input=stdin, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.mark.parametrize("where", [(".git",), ("a", ".git"), ("a", "b", ".GIT"), ("a", "git~1"), ("a", ".g\u200cit")])
def test_restore_writes_into_no_git_directory(workshop: Workshop, guard: Guard, where: tuple[str, ...]) -> None:
    """Trees made by hand, as git itself refuses to check them out: the config of a nested repository would run."""

    def tree(**entries: tuple[str, str]) -> str:
        data = b"".join(
            f"{mode} {name}".encode() + b"\0" + bytes.fromhex(sha) for name, (mode, sha) in sorted(entries.items())
        )
        return _git(workshop, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=data)

    def blob(text: str) -> tuple[str, str]:
        return "100644", _git(workshop, "hash-object", "-w", "--stdin", stdin=text.encode())

    def commit(of: str, *parents: str) -> str:
        return workshop.git("commit-tree", of, *(flag for p in parents for flag in ("-p", p)), "-m", "Fix (#1)")

    before, after = blob("def f(a):\n    return a / 2\n"), blob("def f(a):\n    return a / 4\n")
    inner = tree(config=blob("[core]\n\tfsmonitor = touch RAN\n"))
    for name in reversed(where[1:]):
        inner = tree(**{name: ("40000", inner)})
    base = commit(tree(**{"a.py": before}))
    ours = commit(tree(**{"a.py": before, where[0]: ("40000", inner)}), base)
    theirs = commit(tree(**{"a.py": after}), base)
    merge = commit(tree(**{"a.py": after}), ours, theirs)
    workshop.git("update-ref", "refs/heads/main", merge)
    workshop.git("reset", "-q", "--hard")
    held = {path for path in workshop.folder.rglob("*") if ".git" not in path.relative_to(workshop.folder).parts[:1]}
    findings = guard.check("--merge", merge).findings("GRD2")
    for finding in findings:
        for more in ((), ("--apply",)):
            answer = guard("restore", finding["fingerprint"], "--merge", merge, *more)
            assert answer.status == 2
            assert answer.output == ""
    assert held == {p for p in workshop.folder.rglob("*") if ".git" not in p.relative_to(workshop.folder).parts[:1]}
