from __future__ import annotations

import dataclasses
import json
from datetime import date
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from synthetic import mark, small

from guard.commands.output import OutputOptions, emit, exit_code, finish, narrow, output_options, wants_color
from guard.errors import ConfigError, GuardError
from guard.model import Finding, Outcome, Report, Severity, Status
from guard.report import View
from guard.store import baseline

RAN = Outcome("lost", Status.RAN)


def finding(severity: Severity, accepted: str | None = None) -> Finding:
    return Finding("GRD201", "reverted-fix", severity, "a.py", 1, "m", mark(severity), accepted=accepted)


@pytest.mark.parametrize(
    ("findings", "outcomes", "fail_on", "expected"),
    [
        ((), (RAN,), None, 0),
        ((finding(Severity.WARNING),), (RAN,), None, 0),
        ((finding(Severity.WARNING),), (RAN,), "warning", 1),
        ((finding(Severity.NOTE),), (RAN,), "note", 1),
        ((finding(Severity.ERROR),), (RAN,), None, 1),
        ((finding(Severity.ERROR),), (RAN,), "never", 0),
        ((finding(Severity.ERROR, "yes"),), (RAN,), None, 0),
        ((), (), None, 3),
        ((), (Outcome("lost", Status.SKIPPED, "no merge"),), None, 3),
        ((), (RAN, Outcome("broken", Status.FAILED, "engine")), None, 2),
        ((finding(Severity.ERROR),), (RAN, Outcome("broken", Status.FAILED, "engine")), "never", 2),
    ],
)
def test_exit_codes(
    findings: tuple[Finding, ...], outcomes: tuple[Outcome, ...], fail_on: str | None, expected: int
) -> None:
    assert exit_code(Report("check", "1", findings, outcomes), fail_on) == expected


def test_several_formats_at_once(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    file = tmp_path / "r.json"
    emit(small(), ["concise", f"json={file}"], View(color=True))
    out, err = capfdbinary.readouterr()
    assert out.count(b"\n") == 11
    assert json.loads(file.read_bytes())["version"] == 1
    assert b"r.json (json, 11 findings)" in err
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    assert file.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("formats", [["nope"], ["text", "json"], ["json="], ["json=/nowhere/at/all.json"]])
def test_wrong_formats_say_so(formats: list[str]) -> None:
    with pytest.raises(GuardError):
        emit(small(), formats, View())


def test_selectors() -> None:
    report = small()
    assert {found.code for found in narrow(report, ["GRD2"], ["revived-code"]).findings} == {"GRD201", "GRD202"}
    assert narrow(report, ["GRD5"], []).findings == ()
    for wrong in ("GRD299", "reverted", "X"):
        with pytest.raises(ConfigError, match="guard rules"):
            narrow(report, [wrong], [])


def test_color_follows_the_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert wants_color("auto")
    assert not wants_color("never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color("auto")
    assert wants_color("always")


def test_the_decorator_gives_one_argument() -> None:
    @click.command()
    @output_options
    @click.argument("name")
    def verb(output: OutputOptions, name: str) -> None:
        click.echo(f"{name} {output.formats} {output.select} {output.verbose} {output.persona} {output.cache}")

    result = CliRunner().invoke(verb, ["x", "-o", "json", "--select", "GRD1,GRD2", "-vv", "--no-cache"])
    assert result.output == "x ('json',) ('GRD1', 'GRD2') 2 None False\n"


def entries(*marks: str, expires: date | None = None) -> list[baseline.Entry]:
    return [baseline.Entry("a b#.py", "GRD201", entry, f"why {entry}", expires) for entry in marks]


def test_baseline_is_sorted_and_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "b"
    given = [*entries("b" * 16, "a" * 16), baseline.Entry("A/é.py", "GRD1" + "01", "c" * 16, "r\nr", date(2030, 1, 2))]
    file.write_text(baseline.format_entries(given))
    body = file.read_text().splitlines()[1:]
    assert body == [
        f"{'c' * 16} GRD101 A/é.py expires=2030-01-02 # r r",
        f"{'a' * 16} GRD201 a%20b%23.py # why {'a' * 16}",
        f"{'b' * 16} GRD201 a%20b%23.py # why {'b' * 16}",
    ]
    assert [entry.path for entry in baseline.read(file)] == ["A/é.py", "a b#.py", "a b#.py"]
    assert baseline.format_entries(baseline.read(file)) == file.read_text()


def test_a_baseline_that_is_not_there_accepts_nothing_and_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finish(small(), OutputOptions(baseline=tmp_path / "none", cache=False)) == 1
    assert "none is not there yet, so nothing is accepted" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="cannot be read"):
        baseline.read(tmp_path / "none")


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "b"
    file.write_text("# h\n\nabc\n")
    with pytest.raises(ConfigError, match=r"b:3: expected"):
        baseline.read(file)
    file.write_text(f"{'a' * 16} GRD201 x expires=soon # y\n")
    with pytest.raises(ConfigError, match=r"b:1: 'soon' is no date"):
        baseline.read(file)


def test_accepted_and_stale() -> None:
    report = Report("check", "1", (finding(Severity.ERROR), finding(Severity.WARNING)), (RAN,))
    known = entries(mark("error"), "f" * 16) + entries(mark("warning"), expires=date(2026, 1, 1))
    applied = baseline.apply(report, known, "base", covered=lambda entry: True, today=date(2026, 1, 2))
    assert [found.accepted for found in applied.findings[:2]] == [f"why {mark('error')}", None]
    assert [(found.code, found.severity.value, found.subject) for found in applied.findings[2:]] == [
        ("GRD903", "note", "f" * 16),
        ("GRD903", "note", mark("warning")),
    ]
    on_the_last_day = baseline.apply(report, known, "base", today=date(2026, 1, 1))
    assert [found.accepted is None for found in on_the_last_day.findings] == [False, False]


def test_pruning_never_adds() -> None:
    known = entries(mark("error"), "f" * 16)
    assert baseline.prune(known, {"f" * 16, "0" * 16}, date(2026, 1, 1)) == tuple(known[:1])
    assert baseline.prune(entries("f" * 16, expires=date(2025, 12, 31)), set(), date(2026, 1, 1)) == ()


def test_trailers_need_a_reason() -> None:
    message = (
        "Sync\n\nGuard-Accept: 0123456789abcdef dev has its own\nguard-accept: ABCDEF01 short\nGuard-Accept: 11111111\n"
    )
    assert baseline.trailers(message) == {"0123456789abcdef": "dev has its own", "abcdef01": "short"}
    report = Report(
        "check", "1", (dataclasses.replace(finding(Severity.ERROR), fingerprint="abcdef0123456789"),), (RAN,)
    )
    assert baseline.accept(report, baseline.trailers(message), "c0ffee").findings[0].accepted == "short (c0ffee)"
