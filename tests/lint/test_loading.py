"""A rule that does not load is an error with file, line and breadcrumb; nothing is skipped silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from guard.errors import ConfigError
from guard.lint.ruleset import load_rules

GOOD = """id: GRD590
name: my-pin
severity: error
status: stable
summary: S.
why: W.
message: M.
bad: []
good: []
match:
  - call: some_function
    require:
      - passes: group
"""


def load(tmp_path: Path, text: str, name: str = "rule.yaml") -> None:
    (tmp_path / name).write_text(text)
    load_rules([tmp_path], builtin=False)


def test_a_pin_of_the_user_loads_beside_the_built_in_rules(tmp_path: Path) -> None:
    (tmp_path / "pin.yaml").write_text(GOOD)
    rules = load_rules([tmp_path])
    assert rules.find("my-pin") is not None
    assert rules.find("GRD102") is not None


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("  - call: some_function", "  - text: '\\u00e9'\n    call: f", 1, "match[0].text: no regular expression"),
        ("summary: S.", "sumary: S.", 5, "(top): unknown key 'sumary'"),
        ("severity: error", "severity: fatal", 3, "severity: 'fatal' is none of error, warning, note"),
        ("      - passes: group", "      - pases: group", 13, "match[0].require[0]: unknown key 'pases'"),
        ("passes: group", "passes: {a: b}", 13, "match[0].require[0].passes: a single value is meant"),
        ("why: W.\n", "", 1, "(top): missing key 'why'"),
        ("  - call: some_function", "  - pattern: 'f('", 11, "match[0].pattern: pattern is no Python"),
        ("id: GRD590", "id: GRD777", 1, "id: 'GRD777' is no GRD1xx or GRD5xx"),
        ("name: my-pin", "name: My Pin", 1, "name: 'My Pin' is not lower-case words"),
        ("- passes: group", "- {passes: group, held: x}", 13, "a condition has exactly one key, this one has 2"),
        (
            "  - call: some_function",
            "  - call: some_function\n    pattern: f()",
            1,
            "exactly one of 'call' and 'pattern'",
        ),
        ("summary: S.", "summary: S.\nsummary: T.", 6, "key 'summary' stands twice"),
        ("bad: []", "bad: [", 9, "no YAML"),
        ("  - call: some_function", "  - call: f\n    text: '('", 1, "match[0].text: no regular expression"),
    ],
)
def test_mistakes_name_file_line_and_place(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, GOOD.replace(old, new))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'rule.yaml'}:")
    assert said in message
    if said != "no YAML":
        assert f"rule.yaml:{line}: " in message


def test_an_id_that_stands_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD)
    with pytest.raises(ConfigError, match=r"b\.yaml:1: 'GRD590' is also in .*a\.yaml"):
        load_rules([tmp_path], builtin=False)


def test_a_directory_given_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD)
    assert len(load_rules([tmp_path, tmp_path], builtin=False).rules) == 1


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such directory"):
        load_rules([tmp_path / "none"])


def test_an_empty_file_and_bytes_that_are_no_text_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="empty file"):
        load(tmp_path, "")
    (tmp_path / "rule.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_rules([tmp_path], builtin=False)


def test_yaml_cannot_make_objects(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(tmp_path, GOOD.replace("summary: S.", "summary: !!python/object/apply:os.system ['true']"))
