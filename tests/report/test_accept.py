"""Accepting what a run has shown, from the command to the next run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from click.testing import CliRunner
from synthetic import mark, small

from guard.commands.accept import DEFAULT_FILE, accept
from guard.commands.output import OutputOptions, finish
from guard.errors import GuardError
from guard.model import Report, Severity
from guard.store import baseline

QUIET = OutputOptions(formats=("concise",))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    monkeypatch.setenv("GUARD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(accept, list(arguments), standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


def test_an_accepted_finding_no_longer_fails_the_run(place: Path) -> None:
    report = dataclasses.replace(small(), findings=tuple(found for found in small().findings if found.code == "GRD201"))
    assert finish(report, QUIET) == 1
    said = run("99f707ef", "--reason", "dev has its own scale", "--expires", "2999-01-01")
    assert f'set baseline = "{DEFAULT_FILE}"' in said
    entry = baseline.read(place / DEFAULT_FILE)[0]
    assert (entry.fingerprint, entry.code, entry.path) == (
        "99f707ef02f096ed",
        "GRD201",
        "megatron/core/transformer/moe/router.py",
    )
    assert small().merges[0].merged.startswith(entry.merge or "?")
    assert finish(report, dataclasses.replace(QUIET, baseline=place / DEFAULT_FILE)) == 0


def test_a_gone_finding_is_stale_only_where_its_sync_was_judged(place: Path) -> None:
    finish(small(), QUIET)
    run(mark("loader"), "--reason", "r")
    empty = dataclasses.replace(small(), findings=(), outcomes=small().outcomes[:2])
    judged = baseline.apply(empty, baseline.read(place / DEFAULT_FILE), "b", baseline.covered_by(empty))
    assert [(found.code, found.severity) for found in judged.findings] == [("GRD903", Severity.NOTE)]
    elsewhere = dataclasses.replace(empty, merges=())
    assert baseline.apply(
        elsewhere, baseline.read(place / DEFAULT_FILE), "b", baseline.covered_by(elsewhere)
    ) == elsewhere  # fmt: skip


def test_pruning_takes_out_what_the_last_run_called_stale(place: Path) -> None:
    finish(small(), QUIET)
    run(mark("loader"), mark("fix"), "--reason", "r")
    rest = dataclasses.replace(
        small(), findings=tuple(found for found in small().findings if found.code == "GRD201"),
        outcomes=small().outcomes[:2],
    )  # fmt: skip
    finish(rest, dataclasses.replace(QUIET, baseline=place / DEFAULT_FILE), baseline.covered_by(rest))
    assert "took 1 entry out" in run("--prune")
    assert [entry.fingerprint for entry in baseline.read(place / DEFAULT_FILE)] == [mark("fix")]
    assert "took 1 entry out" in run("--prune", mark("fix"))
    assert baseline.read(place / DEFAULT_FILE) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "which finding"),
        (("99f707ef02f096ed",), "--reason is required"),
        (("99f707ef02f096ed", "--reason", "  "), "--reason is required"),
        (("xyz", "--reason", "r"), "is no fingerprint"),
        (("0123456789abcdef", "--reason", "r"), "run guard check first"),
        (("99f707ef02f096ed", "--reason", "r", "--expires", "2001-01-01"), "has passed"),
        (("--prune",), "nothing to prune"),
        (("--prune", "--reason", "r"), "--reason"),
    ],
)
def test_wrong_use_says_what_to_do(place: Path, arguments: tuple[str, ...], message: str) -> None:
    finish(small(), QUIET)
    with pytest.raises(GuardError, match=message):
        run(*arguments)
    assert not (place / DEFAULT_FILE).exists()


def test_an_ambiguous_start_of_a_fingerprint_is_refused(place: Path) -> None:
    one = small().findings[0]
    twins = tuple(dataclasses.replace(one, fingerprint=f"abcdef01{end * 8}") for end in "12")
    finish(Report("check", "1", twins, small().outcomes), QUIET)
    with pytest.raises(GuardError, match="may be any of"):
        run("abcdef01", "--reason", "r")


def test_a_run_without_the_cache_remembers_nothing(place: Path) -> None:
    finish(small(), dataclasses.replace(QUIET, cache=False))
    with pytest.raises(GuardError, match="run guard check first"):
        run(mark("fix"), "--reason", "r")
