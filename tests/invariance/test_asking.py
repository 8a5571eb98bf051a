"""What a person who asks gets told: at once where nothing is chosen, whole where a package is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from guard.commands.verify import verify
from guard.errors import GuardError
from guard.invariance.rank.tree import TreeError, enter, remedy
from guard.invariance.tree import open_tree


def test_a_choice_of_nothing_is_answered_without_a_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(verify, ["-k", "nowhere", "--output-format", "json"], standalone_mode=False)
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert done.return_value == 3
    assert outcome["reason"] == "no case of the essential suite is selected by -k 'nowhere'"


def test_a_choice_that_only_the_full_suite_has_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(verify, ["-k", "pipeline_interleaved", "--output-format", "json"], standalone_mode=False)
    assert "--suite full has" in json.loads(done.stdout)["outcomes"][0]["reason"]


def test_new_against_nothing_is_an_error() -> None:
    with pytest.raises((GuardError, click.ClickException), match="give --against"):
        CliRunner().invoke(verify, ["--fail-on-new"], standalone_mode=False, catch_exceptions=False)


@pytest.mark.parametrize("inside", ["Megatron-LM", "third_party/megatron-lm", "a/b/c"])
def test_a_repository_that_vendors_megatron_is_measured_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    core = tmp_path / inside / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").touch()
    monkeypatch.chdir(tmp_path)
    found = open_tree(".", tmp_path / "scratch", sys.executable)
    assert (found.folder, found.prefix) == (tmp_path / inside, f"{inside}/")


@pytest.mark.parametrize(
    ("name", "package"), [("triton", "triton"), ("triton.language", "triton"), ("einops", "einops")]
)
def test_a_missing_package_is_told_with_how_to_get_it(name: str, package: str) -> None:
    said = remedy(ModuleNotFoundError(f"No module named {name!r}", name=name))
    assert said == f"; install it: {sys.executable} -m pip install {package}"


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("no", name="megatron.core.x"), ImportError("cannot import name"), ValueError("other")]
)
def test_what_no_package_mends_gets_no_such_advice(error: Exception) -> None:
    assert remedy(error) == ""


def test_a_tree_that_lacks_a_package_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = tmp_path / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("import a_package_that_is_nowhere\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.split(".")[0] == "megatron"]:
        monkeypatch.delitem(sys.modules, name)
    try:
        with pytest.raises(TreeError, match="-m pip install a_package_that_is_nowhere"):
            enter(tmp_path)
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "megatron"]:
            del sys.modules[name]


START = {"type": "start", "device": "cuda", "torch": "2", "version": "1", "cases": 1}
DIFFERS = {"type": "case", "case": "seq_aux_mbs", "cut": {"mbs": 1}, "tolerance": 1e-4, "status": "differs"}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([START, {**DIFFERS, "ratio": 4.0, "rel": 3.0, "reason": "ratio 4"}, {"type": "end"}], 1),
        ([START, {**DIFFERS, "status": "ok", "ratio": 1.0, "rel": 0.0}, {"type": "end"}], 0),
        ([START, {**DIFFERS, "status": "skipped", "reason": "needs 8 ranks"}, {"type": "end"}], 3),
        ([START, {**DIFFERS, "status": "ok", "ratio": 1.0, "rel": 0.0}], 2),
    ],
    ids=["differs", "holds", "skipped", "stopped early"],
)
def test_the_records_of_torchrun_make_the_report_and_its_exit_code(
    tmp_path: Path, empty_tree: Path, rows: list[dict[str, object]], code: int
) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    arguments = ["--tree", str(empty_tree), "--records", str(file), "--output-format", "json"]
    done = CliRunner().invoke(verify, arguments, standalone_mode=False)
    assert done.return_value == code
    assert json.loads(done.stdout)["invariance"][0]["case"] == "seq_aux_mbs"
