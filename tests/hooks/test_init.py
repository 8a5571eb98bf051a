"""`guard init` in repositories that have nothing, something, or all of it."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from hooked import ROOT

from guard.commands.init import HOOKS_FILE, WORKFLOW_FILE, init


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(init, list(arguments), standalone_mode=False)
    if result.exception:
        raise result.exception
    return result


def files(place: Path) -> dict[str, str]:
    return {
        str(file.relative_to(place)): file.read_text("utf-8")
        for file in sorted(place.rglob("*"))
        if file.is_file() and ".git" not in file.relative_to(place).parts
    }


def test_an_empty_repository_gets_all_three(place: Path) -> None:
    said = run("--target", "develop").output
    assert sorted(files(place)) == [WORKFLOW_FILE, HOOKS_FILE, "guard.toml"]
    assert tomllib.loads(files(place)["guard.toml"]) == {"target": "develop"}
    hooks = yaml.safe_load(files(place)[HOOKS_FILE])["repos"][0]["hooks"]
    published = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    for hook in hooks:
        assert hook["entry"] == published[hook["id"]]["entry"]
    assert "\n  TARGET: develop\n  SOURCE: main\n  SYNC_PREFIX: main2develop/\n" in files(place)[WORKFLOW_FILE]
    for name, text in files(place).items():
        assert f"--- {name}" in said
        assert text.splitlines()[-1].strip() in said


def test_a_second_run_changes_nothing(place: Path) -> None:
    run()
    before = files(place)
    assert "nothing to write" in run().output
    assert files(place) == before


def test_a_dry_run_writes_nothing(place: Path) -> None:
    assert "nothing was written" in run("--dry-run").output
    assert files(place) == {}


@pytest.mark.parametrize("indent", ["", "  "])
def test_what_is_there_stays_as_it_is(place: Path, indent: str) -> None:
    project = '# mine\n[project]\nname = "x"\n[tool.other]\na = [\n  1,\n]'
    hooks = f"# mine\nfail_fast: true\nrepos:\n{indent}- repo: local\n{indent}  hooks:\n{indent}    - id: a\n"
    (place / "pyproject.toml").write_text(project)
    (place / HOOKS_FILE).write_text(hooks)
    (place / ".github" / "workflows").mkdir(parents=True)
    (place / WORKFLOW_FILE).write_text("mine\n")
    run()
    after = files(place)
    assert after[WORKFLOW_FILE] == "mine\n"
    assert after["pyproject.toml"].startswith(project)
    assert tomllib.loads(after["pyproject.toml"]) == {
        "project": {"name": "x"},
        "tool": {"other": {"a": [1]}, "guard": {"target": "dev"}},
    }
    assert after[HOOKS_FILE].startswith(hooks)
    repos = yaml.safe_load(after[HOOKS_FILE])["repos"]
    assert [[hook["id"] for hook in repo["hooks"]] for repo in repos] == [["a"], ["guard-lint", "guard-merge"]]


@pytest.mark.parametrize(
    "hooks",
    ["repos: [{repo: local, hooks: [{id: a}]}]\n", "repos:\n- repo: local\n  hooks: []\nfail_fast: true\n", "[]\n"],
)
def test_a_file_that_cannot_be_extended_is_left_to_its_owner(place: Path, hooks: str) -> None:
    (place / HOOKS_FILE).write_text(hooks)
    said = run().output
    assert (place / HOOKS_FILE).read_text() == hooks
    assert "add this to its repos by hand" in said
    assert "id: guard-merge" in said


def test_nothing_is_asked_without_a_terminal(place: Path) -> None:
    done = CliRunner().invoke(init, [], input="n\n", standalone_mode=False)
    assert "Write" not in done.output
    assert WORKFLOW_FILE in files(place)


def test_outside_of_a_repository_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="not inside the work tree"):
        run()


@pytest.mark.parametrize("name", ["-x", "a b", 'a"b', "a$b"])
def test_a_wrong_branch_name_is_refused(place: Path, name: str) -> None:
    with pytest.raises(Exception, match="no name of a branch"):
        run("--source", name)
    assert files(place) == {}
