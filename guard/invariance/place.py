"""Where in the tree a case points: file and line of the definition that computes what differs."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from guard.invariance.case import Place


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition found in a tree: path below the tree, symbol, first and last line, text."""

    path: str
    symbol: str
    line: int
    end_line: int
    text: str


def locate(tree: Path, places: Iterable[Place]) -> Definition | None:
    """The first of the places that the tree has; a file without the symbol counts only if no other place is found."""
    fallback: Definition | None = None
    for place in places:
        file = tree / place.path
        if not file.is_file():
            continue
        source = file.read_text(encoding="utf-8", errors="replace")
        try:
            node = _find(ast.parse(source), place.symbol.split("."))
        except SyntaxError:
            node = None
        if node is not None:
            text = ast.get_source_segment(source, node) or ""
            return Definition(place.path, place.symbol, node.lineno, node.end_lineno or node.lineno, text)
        fallback = fallback or Definition(place.path, "<module>", 1, 1, "")
    return fallback


def _find(scope: ast.AST, names: list[str]) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | None:
    """The definition with this dotted name; the last one where the file defines it twice, as Python takes it."""
    found = None
    for node in ast.walk(scope) if len(names) == 1 else ast.iter_child_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == names[0]:
            found = node if len(names) == 1 else _find(node, names[1:])
    return found
