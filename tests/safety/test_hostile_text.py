"""Whatever a repository calls its files, commits, branches and people, no output acts on a terminal or a log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from guard.report import FORMATS
from guard.report.paint import STYLES
from guard.report.plain import clean
from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

EVIL = "\x1b[31mRED\x1b]0;title\x07\u202eevil\u2066\x9b2J##[add-mask]x ##vso[task.setvariable]y"
NAME = f"{EVIL}.py"
LOSS = "def loss(x, n):\n    return x / n\n"
FIXED = LOSS.replace("x / n", "x / (n * 2)")
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LOG_COMMAND = re.compile(r"##[\w.-]*\[|(?m:^\s*::[A-Za-z])")


def unsafe_in(text: str, *, styles: bool = False, commands: bool = False) -> list[str]:
    """What of a text a terminal or a log would obey."""
    if styles:
        for style in STYLES:
            text = text.replace(style, "")
        text = text.replace("\x1b[31m", "")
    if commands:  # the lines of the format that is made of them
        text = re.sub(r"(?m)^::(error|warning|notice) ", "", text)
    return UNSAFE.findall(text) + LOG_COMMAND.findall(text)


@pytest.fixture
def hostile(workshop: Workshop) -> Workshop:
    """A merge that lost a fix, where every name that a repository can choose is chosen to do harm."""
    who = {"GIT_AUTHOR_NAME": EVIL, "GIT_COMMITTER_NAME": EVIL, "GIT_AUTHOR_EMAIL": "\x1b[2J@x"}
    text = {"t.md": f"# A\n\nText {EVIL}.\n\n::stop-commands::x\n", "d.yaml": "a: 1\n"}
    fixed = text | {"t.md": text["t.md"] + f"\n::error file=x::y\n\nMore {EVIL}\n"}
    other = {"k.txt": "2\n"}
    for name, value in who.items():
        pytest.MonkeyPatch().setenv(name, value)
    make_sync(
        workshop,
        {NAME: LOSS, "k.txt": "1\n", **text},
        {NAME: FIXED, "k.txt": "1\n", **fixed},
        {NAME: LOSS, **other, **text},
        {NAME: LOSS, **other, **text},
        ours_message=f"Fix {EVIL} (#12)\n\n##[command]x\n::error::y",
    )
    workshop.git("commit", "-q", "--amend", "-m", f"Merge {EVIL}\n\n::warning::z")
    workshop.git("config", f"remote.{EVIL}.url", "https://example.invalid/\x1b[31m")
    branch = "x##\u202ey"
    workshop.git("branch", branch)
    return workshop


@pytest.mark.parametrize("more", [("--color", "never"), ("--color", "always"), ("--color", "always", "-vv")])
def test_no_format_hands_a_command_on(hostile: Workshop, guard: Guard, tmp_path: Path, more: tuple[str, ...]) -> None:
    files = [f"-o{name}={tmp_path / name}" for name in FORMATS]
    for printed in ("text", "concise"):
        answer = guard("check", "--merge", "HEAD", f"-o{printed}", *(files if printed == "text" else ()), *more)
        assert answer.status == 1, answer.errors
        assert unsafe_in(answer.output, styles="always" in more) == []
        assert unsafe_in(answer.errors) == []
    for name in FORMATS:
        text = (tmp_path / name).read_text("utf-8")
        assert unsafe_in(text, commands=name == "github") == [], name


def test_json_keeps_what_it_must_not_print(hostile: Workshop, guard: Guard) -> None:
    paths = {finding["path"] for finding in guard.check("--merge", "HEAD").report["findings"]}
    assert NAME in paths


def test_no_other_command_hands_one_on(hostile: Workshop, guard: Guard, tmp_path: Path) -> None:
    report = guard.check("--merge", "HEAD").report
    mark = next(finding["fingerprint"] for finding in report["findings"] if finding["path"] == NAME)
    branch = "x##\u202ey"
    (hostile.folder / NAME).write_text(LOSS)
    commands = [
        ("explain", mark, "--merge", "HEAD"),
        ("restore", mark, "--merge", "HEAD", "--apply"),
        ("restore", mark, "--merge", "HEAD", "--apply"),  # now the work tree differs
        ("accept", mark, "--reason", f"because {EVIL}"),
        ("contains", "HEAD^1", "--in", branch),
        ("contains", "HEAD^1", "--in", EVIL),
        ("history", "HEAD~1..HEAD"),
        ("learn", "HEAD^1"),
        ("check", "--merge", EVIL),
        ("check", "--since", f"HEAD~1{EVIL}"),
        ("check", NAME, "--fix"),
        ("check", f"no{NAME}"),
        ("check", "--config", str(tmp_path / EVIL)),
        ("check", "--baseline", str(tmp_path / EVIL), "--merge", "HEAD"),
        ("rules",),
    ]
    for command in commands:
        answer = guard(*command)
        assert unsafe_in(answer.output) == [], command
        assert unsafe_in(answer.errors) == [], command
        assert "Traceback" not in answer.errors, command


def test_settings_and_rules_with_hostile_names(hostile: Workshop, guard: Guard) -> None:
    for text in (f'"{json.dumps(EVIL)[1:-1]}" = 1\n', "target = \x1b[31m\n", f'rules = ["{json.dumps(EVIL)[1:-1]}"]\n'):
        hostile.write({"guard.toml": text})
        answer = guard("check", "--merge", "HEAD")
        assert answer.status == 2
        assert unsafe_in(answer.errors) == [], text
    hostile.write({"guard.toml": "", f"rules/pins/{EVIL}.yaml": "id: [\n"})
    answer = guard("check", "--merge", "HEAD")
    assert answer.status == 2
    assert unsafe_in(answer.errors) == []


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("##[error]x", "# #[error]x"),
        ("a ##vso[x]", "a # #vso[x]"),
        ("## [x] and ##, ## a[1]", "## [x] and ##, ## a[1]"),
        ("  ::set-output x", "  : :set-output x"),
        ("std::vector and a::b", "std::vector and a::b"),
        ("one\n::two", "one\n: :two"),
        ("\x1b[2J\x07\r\u202e", "\\x1b[2J\\x07\\x0d\\u202e"),
        ("tab\tand\nline", "tab\tand\nline"),
    ],
)
def test_the_one_function(text: str, safe: str) -> None:
    assert clean(text) == safe
    assert unsafe_in(safe) == []
    assert clean(safe) == safe
