"""Globs of a repository are answered in bounded time, whatever they are and whatever the path."""

from __future__ import annotations

import pytest

from guard.globs import path_matches


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 25 + "*b", "**/a" * 25 + "/b", "**a" * 25 + "b", "*" * 60 + "b", "?*" * 40 + "b", "**/*a*" * 12 + "/b",
     "[a]*" * 30 + "b", "a/**/" * 20 + "b"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["a" * 200, "a/" * 100 + "a", "/".join("a" * 20 for _ in range(12))])
def test_no_glob_takes_long(pattern: str, path: str) -> None:
    assert not path_matches(path + "c", [pattern])  # an engine that tries every way would not come back


def test_a_name_that_is_no_utf_8_is_matched() -> None:
    assert path_matches("a/lat\udce9.py", ["*.py"])
    assert path_matches("a/lat\udce9.py", ["lat?.py"])
    assert not path_matches("a/lat\udce9.py", ["lat.py"])
