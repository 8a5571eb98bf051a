"""The settings as users of other linters know them: schema, sources, per-file ignores, patterns, standard input."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from guard.config import Config, FileIgnores, json_schema, load
from guard.errors import ConfigError
from guard.globs import path_matches
from guard.store.cache import DiskStore, default_directory
from tests.conftest import Workshop
from tests.syncs import Guard

ROOT = Path(__file__).parents[1]
LINTED = "import torch\n\n\ndef start(grad_stream):\n    grad_stream.wait_stream(torch.cuda.default_stream())\n"
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def test_the_schema_in_the_repository_is_that_of_the_code() -> None:
    written = json.loads((ROOT / "schemas" / "config.schema.json").read_text())
    assert written == json_schema(), "guard config --schema > schemas/config.schema.json"
    jsonschema.Draft202012Validator.check_schema(written)
    assert all("description" in about or "enum" in about for about in written["properties"].values())


@pytest.mark.parametrize(
    "settings",
    [
        {"target": "dev", "fail-on": "warning", "persona": "audit", "docs-url": "https://example.org"},
        {"per-file-ignores": {"tests/**": ["GRD1", "current-stream"]}},
        {"per-file-ignores": [{"paths": ["a", "!b"], "ignore": ["GRD2"], "reason": "generated"}]},
        {"take-theirs": [{"paths": ["docs/"], "reason": "generated", "expires": "2027-01-31"}]},
        {"coupled": [{"paths": ["a.py", "b.py"]}], "exclude": ["*", "!src/"], "golden": []},
    ],
)
def test_the_schema_takes_what_guard_takes(settings: dict[str, object]) -> None:
    assert list(VALIDATOR.iter_errors(settings)) == []


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"taget": "dev"}, 'taget = "dev"'),
        ({"select": "GRD1"}, 'select = "GRD1"'),
        ({"fail-on": "never ever"}, 'fail-on = "never ever"'),
        ({"coupled": [{"reason": "no paths"}]}, '[[coupled]]\nreason = "no paths"'),
        ({"per-file-ignores": {"a": "GRD1"}}, '[per-file-ignores]\na = "GRD1"'),
    ],
)
def test_the_schema_refuses_what_guard_refuses(settings: dict[str, object], text: str, tmp_path: Path) -> None:
    assert list(VALIDATOR.iter_errors(settings)) != []
    (tmp_path / "guard.toml").write_text(text)
    with pytest.raises(ConfigError):
        load(tmp_path)


def test_config_says_where_each_setting_comes_from(workshop: Workshop, guard: Guard) -> None:
    (workshop.folder / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.guard]\ntarget = "dev"\nselect = ["GRD1"]\n'
    )
    text = guard("config", folder=workshop.folder).output
    assert 'target = "dev"  # pyproject.toml:5\n' in text
    assert 'select = ["GRD1"]  # pyproject.toml:6\n' in text
    assert 'fail-on = "error"  # default\n' in text
    rows = json.loads(guard("config", "-o", "json").output)
    assert {row["key"] for row in rows} == set(json_schema()["properties"])
    assert guard("config", "--config", "nowhere.toml").status == 2


@pytest.mark.parametrize(
    "spelling",
    [
        '[per-file-ignores]\n"gen/**" = ["GRD119"]\n',
        '[[per-file-ignores]]\npaths = ["gen/**"]\nignore = ["current-stream"]\n',
    ],
)
def test_ignores_by_file(workshop: Workshop, guard: Guard, spelling: str) -> None:
    workshop.commit("base", {"gen/a.py": LINTED, "b.py": LINTED})
    paths = lambda *more: {f["path"] for f in guard.check(".", *more, folder=workshop.folder).findings("GRD119")}  # noqa: E731
    assert paths() == {"gen/a.py", "b.py"}
    assert paths("--per-file-ignores", "gen/**:GRD119") == {"b.py"}
    assert paths("--per-file-ignores", "*.py,!b.py:GRD119") == {"gen/a.py", "b.py"}, "a comma belongs to the codes"
    (workshop.folder / "guard.toml").write_text(spelling)
    assert paths() == {"b.py"}
    wrong = guard("check", ".", "--per-file-ignores", "gen/**:GRD7")
    assert (wrong.status, "no code or rule is called 'GRD7'" in wrong.errors) == (2, True)
    assert guard("check", ".", "--per-file-ignores", "gen").status == 2


def test_both_spellings_mean_the_same(tmp_path: Path) -> None:
    (tmp_path / "guard.toml").write_text('[per-file-ignores]\n"a" = ["GRD1"]\n')
    assert load(tmp_path).per_file_ignores == (FileIgnores(("a",), ("GRD1",)),)
    assert Config().per_file_ignores == ()


@pytest.mark.parametrize(
    "patterns",
    [
        ["*.py", "!a.py"],
        ["x/**", "!x/y/"],
        ["!a.py", "*.py"],
        ["*", "!x/", "!x/*.py"],
        ["\\!a.py"],
        ["# a.py", "b.lock"],
    ],
)
def test_lists_of_patterns_match_what_git_matches(tmp_path: Path, patterns: list[str]) -> None:
    paths = ["a.py", "x/a.py", "x/y/a.py", "x/y/b.lock", "b.lock", "!a.py"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("\n".join(patterns) + "\n")
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=tmp_path, input="\n".join(paths), capture_output=True, text=True, check=False)
    assert {path for path in paths if path_matches(path, patterns)} == set(done.stdout.split("\n")) - {""}


def test_standard_input_is_linted_under_a_name(
    workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(text: str, *more: str) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        answer = guard("check", "-", *more, "-o", "json", folder=workshop.folder)
        return answer.status, [f["path"] for f in answer.findings("GRD119")] if answer.output else []

    assert check(LINTED) == (1, ["stdin.py"])
    assert check(LINTED, "--stdin-filename", "src/new.py") == (1, ["src/new.py"])
    assert check("x = 1\n") == (0, [])
    (workshop.folder / "guard.toml").write_text('exclude = ["src/"]\n')
    assert check(LINTED, "--stdin-filename", "src/new.py") == (3, [])
    assert check(LINTED, "--merge", "HEAD") == (2, [])
    assert list(workshop.folder.glob("*.py")) == []


def test_a_baseline_that_is_not_there_yet_and_all_accepted_at_once(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"a.py": LINTED, "b.py": LINTED, "guard.toml": 'baseline = "accepted.txt"\n'})
    first = guard("check", ".", folder=workshop.folder)
    assert first.status == 1
    assert "accepted.txt is not there yet, so nothing is accepted" in first.output
    assert guard("accept", "--all").status == 2, "a reason is needed"
    assert guard("accept", "--all", "0" * 16, "--reason", "x").status == 2
    guard("check", "a.py")
    done = guard("accept", "--all", "--reason", "older than guard")
    assert (done.status, done.output.count("\naccepted "), "a.py" in done.output) == (0, 0, True)
    assert "b.py" not in done.output, "the last check did not show it"
    assert guard("check", ".").status == 1
    assert guard("accept", "--all", "--reason", "older than guard").status == 0
    assert guard("check", ".").status == 0
    assert guard("accept", "--all", "--reason", "again").status == 3, "nothing stands any more"
    lines = (workshop.folder / "accepted.txt").read_text().splitlines()[1:]
    assert [line.partition(" # ")[2] for line in lines] == ["older than guard"] * 2


def test_fingerprints_come_from_standard_input(
    workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.commit("base", {"a.py": LINTED})
    (found,) = guard.check("a.py", folder=workshop.folder).findings("GRD119")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{found['fingerprint']}  # as reviewed\n"))
    assert guard("accept", "-", "--reason", "reviewed").status == 0
    assert found["fingerprint"] in (workshop.folder / "guard-baseline.txt").read_text()


def test_the_cache_is_emptied_of_what_guard_wrote_and_of_nothing_else(guard: Guard, tmp_path: Path) -> None:
    store = DiskStore()
    store.put("kind", "key", b"value")
    store.flush()
    other = default_directory() / "facts.txt"
    other.write_text("another's")
    assert guard("cache", "dir", folder=tmp_path).output.strip() == str(default_directory())
    assert guard("cache", "clean").output.startswith("deleted ")
    assert list(default_directory().iterdir()) == [other]
    assert guard("cache", "clean").output.startswith("deleted 0 files")


def test_the_cache_lies_where_the_platform_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GUARD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert default_directory() == tmp_path / "merge-regression-guard"
    monkeypatch.setenv("GUARD_CACHE_DIR", str(tmp_path / "own"))
    assert default_directory() == tmp_path / "own"
