"""Configuration: what is read, and what a mistake is told as."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from guard.config import Config, CoupledFiles, SidePolicy, load
from guard.errors import ConfigError


def test_defaults_without_a_file(tmp_path: Path) -> None:
    assert load(tmp_path) == Config()


def test_reads_the_table_of_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """
[tool.guard]
target = "dev"
fail-on = "warning"
protected = ["CODEOWNERS"]
[[tool.guard.take-theirs]]
paths = ["docs/"]
reason = "generated there"
expires = 2027-01-31
[[tool.guard.coupled]]
paths = ["a.py", "b.py"]
"""
    )
    config = load(tmp_path)
    assert (config.target, config.fail_on, config.protected) == ("dev", "warning", ("CODEOWNERS",))
    assert config.take_theirs == (SidePolicy(("docs/",), "generated there", datetime.date(2027, 1, 31)),)
    assert config.coupled == (CoupledFiles(("a.py", "b.py")),)


def test_guard_toml_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\ntarget = 'dev'\n")
    (tmp_path / "guard.toml").write_text("target = 'next'\n")
    assert load(tmp_path).target == "next"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.guard]\ntargett = 'dev'\n", r"pyproject.toml:2: unknown key 'targett' in tool.guard; known: .*target"),
        ("[tool.guard]\nselect = 'GRD2'\n", r"pyproject.toml:2: tool.guard.select must be a list"),
        ("[tool.guard]\ntarget = 3\n", r"pyproject.toml:2: tool.guard.target must be of type str"),
        ("[tool.guard]\nfail-on = 'sometimes'\n", r"fail_on must be one of error, warning, note, never"),
        ("[tool.guard\n", r"pyproject.toml: "),
        ("[[tool.guard.keep-ours]]\nreason = 'x'\n", r"needs the key 'paths'"),
        ("[[tool.guard.keep-ours]]\npaths = ['x']\nexpires = 'soon'\n", r"toml:3: .*expires must be of type date"),
        ("[tool]\nguard = 3\n", r"tool.guard must be a table"),
    ],
)
def test_a_mistake_names_file_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        load(tmp_path)
