from __future__ import annotations

from pathlib import Path

from guard.invariance.case import Place
from guard.invariance.place import locate

SOURCE = """\
class Router:
    def gate(self):
        return 1

    def loss(self):
        return 2


def loss():
    return 3


class Router:
    def loss(self):
        return 4
"""


def write(tree: Path, path: str, text: str) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text)


def test_a_method_is_found_in_the_class_that_counts(tmp_path: Path) -> None:
    write(tmp_path, "a/router.py", SOURCE)
    found = locate(tmp_path, [Place("a/router.py", "Router.loss")])
    assert found is not None
    assert (found.line, found.end_line, found.symbol) == (14, 15, "Router.loss")


def test_the_next_place_speaks_where_the_first_is_not_there(tmp_path: Path) -> None:
    write(tmp_path, "b.py", "def loss():\n    pass\n")
    found = locate(tmp_path, [Place("a.py", "loss"), Place("b.py", "loss")])
    assert found is not None
    assert (found.path, found.line) == ("b.py", 1)


def test_a_file_without_the_symbol_is_better_than_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "x = 1\n")
    found = locate(tmp_path, [Place("a.py", "loss")])
    assert found is not None
    assert (found.symbol, found.line) == ("<module>", 1)


def test_a_file_that_does_not_parse_has_no_definition(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "def loss(:\n")
    found = locate(tmp_path, [Place("a.py", "loss")])
    assert found is not None
    assert found.symbol == "<module>"


def test_nothing_is_found_in_an_empty_tree(tmp_path: Path) -> None:
    assert locate(tmp_path, [Place("a.py", "loss")]) is None
