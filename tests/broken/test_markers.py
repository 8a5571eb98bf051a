"""GRD308: what a person forgets of a conflict, in any kind of file."""

from __future__ import annotations

import pytest

from tests.broken.conftest import Judge, told

PATHS = ["a.py", "a.yaml", "a.md", "k.cu", "notes.txt", "Dockerfile"]
MARKS = ["<<<<<<< HEAD", "=======", ">>>>>>> upstream/main", "||||||| merged common ancestors", "<<<<<<<"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("mark", MARKS)
def test_one_marker_that_was_forgotten(judge: Judge, path: str, mark: str) -> None:
    result = judge(
        base={path: "value = 1\n"},
        ours={path: "value = 2\n"},
        theirs={path: "value = 3\n"},
        merged={path: f"first value = 2\n{mark}\nvalue = 3\n"},
    )
    (found,) = (one for one in result.findings if one.code == "GRD308")
    assert (found.path, found.line, found.subject) == (path, 2, mark.split(" ", maxsplit=1)[0])
    assert found.severity.value == "error"


@pytest.mark.parametrize("path", ["a.md", "a.rst"])
@pytest.mark.parametrize("title", ["Changes", "Notes"])
def test_a_heading_in_a_file_that_conflicted_is_no_marker(judge: Judge, path: str, title: str) -> None:
    heading = f"{title}\n=======\n\n"
    result = judge(
        base={path: "text 1\n"},
        ours={path: "text 2\n"},
        theirs={path: "text 3\n"},
        merged={path: heading + "text 2\ntext 3\n"},
    )
    assert told(result) == []


def test_what_a_parent_has_is_no_marker_of_this_merge(judge: Judge) -> None:
    guide = "# How to resolve\n\n<<<<<<< HEAD\nmine\n"
    result = judge(
        base={"guide.md": "# How\n", "k.txt": "1\n"},
        ours={"guide.md": guide},
        theirs={"k.txt": "2\n"},
        merged={"guide.md": guide + "yours\n"},
    )
    assert told(result) == []
