"""What people expect of a linter: suppressions, notebooks, files that do not parse, names nearly right, settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guard.cli import guard
from guard.errors import GuardError
from tests.lint.programs import lint_text

BAD = "    comm.wait_stream(torch.cuda.default_stream())"
HEAD = "import torch\n\n"


def codes(text: str) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in lint_text(text)]


@pytest.mark.parametrize(
    "comment",
    [
        "# guard: allow[current-stream] it is meant",
        "# noqa: E501  # guard: allow[current-stream] it is meant",
        "# type: ignore[arg-type] # guard: allow[current-stream] it is meant",
        "# guard: allow[current-stream] it is meant  # noqa",
        "# guard: allow[current-stream] as in #5798  # type: ignore",
        "# guard: allow[GRD119, integer-counters] it is meant",
        "# pragma: no cover # guard:allow[current-stream] it is meant # pylint: disable=x",
        "# guard: allow[current-stream]: it is meant",
    ],
)
def test_a_suppression_stands_beside_other_directives(comment: str) -> None:
    assert codes(f"{HEAD}def start(comm):\n{BAD}  {comment}\n") == []


@pytest.mark.parametrize("comment", ["# guard: allow[current-stream]  # noqa", "# noqa # guard: allow[current-stream]"])
def test_the_directive_beside_is_no_reason(comment: str) -> None:
    assert codes(f"{HEAD}def start(comm):\n{BAD}  {comment}\n") == [("GRD119", 4), ("GRD902", 4)]


@pytest.mark.parametrize(
    "text",
    [
        f"# guard: allow-file[current-stream] why\n{HEAD}def start(comm):\n{BAD}\n{BAD}\n",
        f"{HEAD}def start(comm):\n{BAD}\n{BAD}\n# guard: allow-file[current-stream] why\n",
        f"{HEAD}def start(comm):  # guard: allow[current-stream] why\n{BAD}\n    if comm:\n    {BAD}\n",
        f"{HEAD}# guard: allow[current-stream] why\ndef start(comm):\n    x = 1\n{BAD}\n",
        f"{HEAD}class A:  # guard: allow[current-stream] why\n    def f(self, comm):\n    {BAD}\n",
        f"{HEAD}@torch.no_grad()\n# guard: allow[current-stream] why\ndef start(comm):\n    x = 1\n{BAD}\n",
        f"{HEAD}# guard: allow[current-stream] why\n@torch.no_grad()\ndef start(comm):\n    x = 1\n{BAD}\n",
        f"{HEAD}def start(\n    comm,\n):  # guard: allow[current-stream] why\n    x = 1\n{BAD}\n",
    ],
)
def test_a_file_or_a_definition_is_covered(text: str) -> None:
    assert codes(text) == []


def test_a_definition_covers_no_other() -> None:
    text = f"{HEAD}def start(comm):  # guard: allow[current-stream] why\n{BAD}\n\ndef more(comm):\n{BAD}\n"
    assert codes(text) == [("GRD119", 7)]


@pytest.mark.parametrize(
    "comment",
    [
        "# guard: alow[current-stream] why",
        "# guard: allow(current-stream) why",
        "# guard: allow: current-stream",
        "# guard: allow[current-stream why",
        "# guard allow[current-stream] why",
        "# guard: ignore[current-stream] why",
        "# guard: disable=current-stream",
        "# noqa  # guard: allow-line[current-stream] why",
        "# guard: allow GRD119 why",
    ],
)
def test_a_misspelt_suppression_is_told(comment: str) -> None:
    text = f"{HEAD}# guard: this file is guarded\ndef start(comm):\n{BAD}  {comment}\n"
    assert codes(text) == [("GRD119", 5), ("GRD905", 5)]


@pytest.mark.parametrize(
    "comment", ["# guard: ignore missing keys", "# guard: x may be None", "# write '# guard: allow[x] why' to hide it"]
)
def test_prose_is_no_suppression(comment: str) -> None:
    assert codes(f"x = 1  {comment}\n") == []


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, Any]:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(guard, ["check", "--no-cache", "-o", "json", *arguments], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, json.loads(done.stdout)


def notebook(*cells: str, language: str = "python", form: str = "list") -> str:
    def source(cell: str) -> Any:
        return cell.splitlines(keepends=True) if form == "list" else cell

    rows = [{"cell_type": "markdown", "source": ["# A title"]}]
    rows += [{"cell_type": "code", "source": source(cell), "outputs": []} for cell in cells]
    return json.dumps({"cells": rows, "metadata": {"language_info": {"name": language}}, "nbformat": 4})


def shown(report: Any) -> list[tuple[str, int]]:
    return [(finding["code"], finding["line"]) for finding in report["findings"]]


@pytest.mark.parametrize("form", ["list", "text"])
def test_cells_are_linted_with_cell_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    first = "%matplotlib inline\nimport torch\n!pip install x\nfiles = !ls\ntorch?"
    second = f"%%time\ndef start(comm):\n    x = 1\n{BAD}"
    text = notebook(first, "%%bash\nls -l | wc", second, form=form)
    (tmp_path / "a.ipynb").write_text(text)
    for place in ("a.ipynb", "."):
        status, report = run(tmp_path, monkeypatch, place)
        assert status == 1
        assert shown(report) == [("GRD119", 4)]
        assert report["findings"][0]["message"].startswith("cell 4, line 4: ")
        assert report["findings"][0]["path"] == "a.ipynb"
    assert json.loads((tmp_path / "a.ipynb").read_text()) == json.loads(text)


def test_a_cell_that_is_no_python_does_not_hide_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.ipynb").write_text(notebook("import torch", "x = 1\ndef (:", f"def start(comm):\n{BAD}"))
    status, report = run(tmp_path, monkeypatch, "a.ipynb")
    assert status == 1
    assert sorted(shown(report)) == [("GRD119", 2), ("GRD904", 2)]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 1}', notebook("x <- 1", language="R")])
def test_a_notebook_that_cannot_be_read_is_not_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "a.ipynb").write_text(text)
    status, report = run(tmp_path, monkeypatch, "a.ipynb")
    assert status == 3
    assert report["findings"] == []
    assert any(outcome.get("subject") == "a.ipynb" for outcome in report["outcomes"])


def test_a_notebook_is_never_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = notebook("import torch", f"def start(comm):\n{BAD}")
    (tmp_path / "a.ipynb").write_text(text)
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(guard, ["check", "--fix", "a.ipynb"], standalone_mode=False)
    assert (tmp_path / "a.ipynb").read_text() == text


@pytest.mark.parametrize("text", ["x = 1\ndef (:\n", "x = 1\n  y = 2\n", "x = 1\nprint 'x'\n"])
def test_a_file_that_does_not_parse_is_a_finding_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text("x = 1\n")
    status, report = run(tmp_path, monkeypatch, "a.py", "b.py")
    assert status == 1
    assert [(f["code"], f["path"], f["line"], f["severity"]) for f in report["findings"]] == [
        ("GRD904", "a.py", 2, "error")
    ]
    assert any(outcome.get("subject") == "a.py" for outcome in report["outcomes"])


@pytest.mark.parametrize(
    ("key", "near"),
    [("integer-counter", "integer-counters"), ("reverted-fixes", "reverted-fix"), ("GRD1002", "GRD102")],
)
def test_explain_suggests_what_is_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, near: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(guard, ["explain", key], standalone_mode=False)
    assert isinstance(done.exception, GuardError)
    assert near in str(done.exception)


def test_settings_of_a_sub_project_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    trainer = tmp_path / "packages" / "trainer"
    trainer.mkdir(parents=True)
    (trainer / "reduce.py").write_text(f"{HEAD}def start(comm):\n{BAD}\n")
    (trainer / "pyproject.toml").write_text('[tool.guard]\nignore = ["GRD119"]\n')
    (tmp_path / "packages" / "pyproject.toml").write_text('[project]\nname = "all"\n')
    said = "packages/trainer/pyproject.toml has [tool.guard], which is not read"
    for here, place in ((tmp_path, "packages/trainer/reduce.py"), (trainer, "reduce.py")):
        status, report = run(here, monkeypatch, place)
        assert status == 1
        assert any(notice.startswith(said) for notice in report["notices"])
    _, report = run(trainer, monkeypatch, "--config", "pyproject.toml", "reduce.py")
    assert not any("not read" in notice for notice in report["notices"])
