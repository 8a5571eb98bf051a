"""Lists in text files are joined by item; data files by what they say, or not at all."""

from __future__ import annotations

import json
import tomllib

import pytest
import yaml

from tests.merging.conftest import join_text

# what it shows: path, base, ours, theirs, joined
JOINED = {
    "requirements": ("requirements.txt", "a==1\n", "a==1\nleft==2\n", "a==1\nright\n", "a==1\nleft==2\nright\n"),
    "two packages changed": ("requirements.txt", "a==1\nb==1\n", "a==2\nb==1\n", "a==1\nb==3\n", "a==2\nb==3\n"),
    "owners": (
        ".github/CODEOWNERS",
        "/a @x\n/b @x\n",
        "/a @x @left\n/b @x\n",
        "/a @x\n/b @right\n/c @z\n",
        "/a @x @left\n/b @right\n/c @z\n",
    ),
    "a changelog": ("CHANGELOG.md", "# New\n\n- a\n", "# New\n\n- a\n- left\n", "# New\n\n- a\n- right\n",
                    "# New\n\n- a\n- left\n- right\n"),
    "keys of YAML": ("c.yaml", "a: 1\n", "a: 1\nleft: 2\n", "a: 1\nright: 3\n", "a: 1\nleft: 2\nright: 3\n"),
    "keys of TOML": ("c.toml", "[t]\na = 1\n", "[t]\na = 1\nleft = 2\n", "[t]\na = 1\nright = 3\n",
                     "[t]\na = 1\nleft = 2\nright = 3\n"),
    "items of JSON": (
        "c.json",
        '{\n  "a": 1\n}\n',
        '{\n  "a": 1,\n  "left": 2\n}\n',
        '{\n  "a": 1,\n  "right": 3\n}\n',
        '{\n  "a": 1,\n  "left": 2,\n  "right": 3\n}\n',
    ),
    "texts of a YAML list": (
        "c.yml",
        "names:\n- a\n",
        "names:\n- a\n- left\n",
        "names:\n- a\n- right\n",
        "names:\n- a\n- left\n- right\n",
    ),
}  # fmt: skip

# what it shows: path, base, ours, theirs
OPEN = {
    "one package in two versions": ("requirements.txt", "a==1\n", "a==2\n", "a==3\n"),
    "one key with two values": ("c.yaml", "a: 1\n", "a: 2\n", "a: 3\n"),
    "delete against change": ("c.toml", "a = 1\nb = 1\n", "b = 1\n", "a = 2\nb = 1\n"),
    "one new key with two values": ("c.json", "{\n}\n", '{\n"a": 1\n}\n', '{\n"a": 2\n}\n'),
    "numbers whose order has a meaning": ("c.yaml", "s:\n- 1\n", "s:\n- 1\n- 2\n", "s:\n- 1\n- 3\n"),
    "nesting that lines do not show": (
        "c.yaml",
        "a:\n  x: 1\n",
        "a:\n  x: 1\n  y: 2\n",
        "a:\n  x: 1\nb:\n  y: 3\n",
    ),
    "a number and a truth value": ("c.yaml", "a: 0\n", "a: 1\n", "a: true\n"),
    "prose": ("README.md", "one\n", "two\n", "three\n"),
}


@pytest.mark.parametrize("case", JOINED.values(), ids=JOINED)
def test_joined(case: tuple[str, str, str, str, str]) -> None:
    path, base, ours, theirs, wanted = case
    for sides in ((ours, theirs), (theirs, ours)):
        assert join_text(base, *sides, path=path).text == wanted


@pytest.mark.parametrize("case", OPEN.values(), ids=OPEN)
def test_left_open(case: tuple[str, str, str, str]) -> None:
    path, base, ours, theirs = case
    for sides in ((ours, theirs), (theirs, ours)):
        assert join_text(base, *sides, path=path).reasons


@pytest.mark.parametrize(
    ("path", "read"), [("c.yaml", yaml.safe_load), ("c.toml", tomllib.loads), ("c.json", json.loads)]
)
def test_what_is_joined_parses(path: str, read: object) -> None:
    wanted = next(case[4] for case in JOINED.values() if case[0] == path)
    assert callable(read)
    assert read(wanted)
