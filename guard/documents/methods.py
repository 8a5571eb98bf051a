"""A class as its own statements and its methods, so that versions of it share the methods that they have in common.

Classes are long, and a version of one differs from the others in a method or two. What a method says does not depend
on the rest of its class, but for names that decorators, defaults and annotations take from the class's body; a class
in which they do is surveyed as a whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from guard.documents.bindings import Methods, asked_for
from guard.documents.outline import ClassOutline, Segment

Parts = tuple[tuple[int, Segment], ...]

_NAME = re.compile(r"class[ \t]+(\w+)")
_OPENS = re.compile(r":[ \t]*(?:#.*)?$")
_DEFINES = re.compile(r"(?:async[ \t]+)?def[ \t]+(\w+)")


class Cut(NamedTuple):
    """The text of a class in pieces: `rest` has a `pass` for each of its methods, which are (0-based line, text)."""

    owner: str
    rest: str
    methods: tuple[tuple[int, str], ...]


def cut(text: str) -> Cut | None:
    """Cut a top-level class at its methods; None where it has none, or lines that do not tell where one ends."""
    lines = text.split("\n")
    head = _head(lines)
    if head is None:
        return None
    owner, first, indent = head
    spans = _spans(lines, first, indent)
    if not spans:
        return None
    rest = lines[:]
    for start, end in spans:
        rest[start:end] = [f"{indent}pass"] + [""] * (end - start - 1)
    methods = tuple((start, "\n".join(lines[start:end]).rstrip(" \t\f\n") + "\n") for start, end in spans)
    return Cut(owner, "\n".join(rest).rstrip(" \t\f\n") + "\n", methods)


def stands(rest: ast.Module, pieces: Cut) -> bool:
    """Whether a class was cut at methods of its own, not at lines of a string or of a function inside a method.

    Arguments:
        rest: the class without its methods, parsed.
        pieces: where it was cut.
    """
    bodies = [node.body for node in rest.body if isinstance(node, ast.ClassDef)]
    left = {statement.lineno for body in bodies for statement in body if isinstance(statement, ast.Pass)}
    return all(line + 1 in left for line, _ in pieces.methods)


def _head(lines: list[str]) -> tuple[str, int, str] | None:
    """Name of the class, the line after its head, and the indent of its body."""
    number = next((number for number, line in enumerate(lines) if line.startswith("class")), None)
    found = _NAME.match(lines[number]) if number is not None else None
    if number is None or found is None:
        return None
    while number < len(lines) and not _OPENS.search(lines[number]):
        number += 1
    body = next((line for line in lines[number + 1 :] if line.strip()), "")
    indent = body[: len(body) - len(body.lstrip())]
    return (found.group(1), number + 1, indent) if indent else None


def _spans(lines: list[str], first: int, indent: str) -> list[tuple[int, int]]:
    """First line and end of each method; definitions of one name that follow each other are one."""
    spans: list[tuple[int, int]] = []
    size = len(indent)
    start, name, before = -1, "", ""  # of the method that is being read; the name of the one that ended just before it
    decorated = False

    def close(end: int) -> None:
        nonlocal start, before
        if start >= 0 and name:
            if name == before and spans and spans[-1][1] == start:
                start = spans.pop()[0]
            spans.append((start, end))
            before = name
        start = -1

    for number in range(first, len(lines)):
        line = lines[number]
        if not line.startswith(indent) or line[size : size + 1] in {"", " ", "\t", "#", ")", "]", "}"}:
            continue
        defines = _DEFINES.match(line, size)
        decorates = line[size] == "@"
        if not decorated:
            close(number)
            if defines or decorates:
                start, name = number, ""
        if defines:
            name = defines.group(1)
        decorated = decorates or (decorated and not defines and not line.startswith("class", size))
    close(len(lines))
    return spans


def parse_methods(text: str) -> tuple[list[ast.stmt], str]:
    """The definitions of methods, parsed, and the source that was: one line longer.

    Raises:
        SyntaxError: it was not cut where a method ends.
    """
    source = f"class _:\n{text}"
    body = ast.parse(source).body
    if len(body) != 1 or not isinstance(body[0], ast.ClassDef):
        raise SyntaxError("no end of a method")
    return body[0].body, source


def join(rest: Segment, owner: str, methods: Sequence[tuple[int, Methods]]) -> Parts | None:
    """The parts of a class; None where a piece asks for what another one binds in the class's body, and where the
    order of methods and other statements matters: these bind a method's name as well, or type what it stores.

    Arguments:
        rest: the class without its methods.
        methods: pieces with the lines that they start at.
    """
    kind = next((kind for kind in rest.classes if kind.qualname == owner), None)
    if kind is None:
        return None
    bound = [frozenset(kind.members), *(frozenset(piece.members) for _, piece in methods)]
    asked = [asked_for(rest, owner), *(piece.asked for _, piece in methods)]
    every = frozenset().union(*bound)
    if any((names & every) - own for names, own in zip(asked, bound, strict=True)):
        return None
    if any(not kind.members.keys().isdisjoint(piece.members) or _typed_otherwise(kind, piece) for _, piece in methods):
        return None
    whole = replace(rest, classes=tuple(_joined(one, methods) if one is kind else one for one in rest.classes))
    # Every piece was parsed under a head of one line.
    return ((0, whole), *((line - 1, piece.segment) for line, piece in methods))


def _typed_otherwise(kind: ClassOutline, piece: Methods) -> bool:
    return any(kind.types.get(name, said) != said for name, said in piece.types.items())


def _joined(kind: ClassOutline, methods: Sequence[tuple[int, Methods]]) -> ClassOutline:
    members, stored, types = dict(kind.members), dict(kind.stored), dict(kind.types)
    for line, piece in methods:
        for name, at in piece.members.items():
            members[name] = min(line - 1 + at, members.get(name, line - 1 + at))
        for name, at in piece.stored.items():
            stored.setdefault(name, line - 1 + at)
        for name, said in piece.types.items():
            types[name] = said if types.get(name, said) == said else ""
    dynamic = (
        kind.dynamic
        or any(piece.dynamic for _, piece in methods)
        or not members.keys().isdisjoint({"__getattr__", "__getattribute__"})
    )
    return replace(kind, members=members, stored=stored, types=types, dynamic=dynamic)
