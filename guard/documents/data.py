"""Units of JSON, YAML and TOML by structure: one a leaf. Order of keys and items, quotes and layout do not count.

Nothing is constructed: YAML is read as events, an alias stays an alias, so that neither tags nor anchors can do harm.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from guard.documents.directives import directive
from guard.documents.units import MAXIMUM_UNITS, Unit

_MAXIMUM_DEPTH = 100
_MAXIMUM_YAML = 1_000_000  # characters: the YAML scanner takes seconds for more
_NOT_TEXT = re.compile(r"[-+]?(0[xXob][\da-fA-F_]+|[\d.][\d_.eE:+-]*)|true|false|yes|no|on|off|null|~|", re.IGNORECASE)
# Keys by which an item of a list is known, best first; without one, its first key.
_NAMES = ("name", "id", "test_case", "key", "title", "label", "path", "repo", "uses")
_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')


@dataclass(slots=True)
class _Node:
    """A value with its lines: `items` of a mapping (key, value) or of a list (None, value); `text` of a leaf.

    `block` marks text whose rows stand on lines of their own, below the first.
    """

    line: int
    end_line: int
    kind: str = "leaf"
    text: str = ""
    block: bool = False
    items: list[tuple[str | None, _Node]] = field(default_factory=list)


class _NotReadableError(Exception):
    """The text is no such data, or too deep or long to be looked at by structure."""


def data_units(kind: str, text: str) -> tuple[Unit, ...] | None:
    """The leaves of a data file; None where it does not parse (then it is read by lines).

    Arguments:
        kind: `json`, `yaml` or `toml`.
    """
    reader = {"json": _json, "yaml": _yaml, "toml": _toml}[kind]
    try:
        units: list[Unit] = []
        for number, node in enumerate(reader(text)):
            units.extend(_leaves(node, f"document {number + 1}" if number else "", ""))
            if len(units) > MAXIMUM_UNITS:
                return None
    except (_NotReadableError, ValueError, RecursionError, yaml.YAMLError):
        return None
    if kind != "json":
        for number, line in enumerate(text.split("\n"), 1):
            if "#" in line and (acted := directive(line)):
                units.append(Unit("", acted, "", number, number))
    return tuple(units)


def _leaves(node: _Node, scope: str, label: str) -> Iterator[Unit]:
    if node.kind == "leaf":
        rows = node.text.split("\n") if "\n" in node.text.strip("\n") else [node.text.strip("\n")]
        for number, row in enumerate(rows):
            if len(rows) > 1 and not any(character.isalnum() for character in row):
                continue
            # The rows of a block scalar stand below its key, one a line.
            line = node.line + number + 1 if node.block else node.line
            yield Unit(scope, " ".join(row.split()), label, line, line if node.block else max(line, node.end_line))
    elif not node.items:
        yield Unit(scope, "{}" if node.kind == "mapping" else "[]", label, node.line, node.end_line)
    else:
        for key, value in node.items:
            step = key if key is not None else _identity(value)
            yield from _leaves(value, f"{scope}.{step}" if scope and step else scope or step, key or label)


def _identity(item: _Node) -> str:
    """How an item of a list is told from its neighbours whatever their order: `[name=value]`, or nothing."""
    if item.kind != "mapping" or not item.items:
        return "[]" if item.kind == "sequence" else ""
    known = dict(item.items)
    key = next((name for name in _NAMES if name in known), item.items[0][0])
    value = known[key]
    while value.kind == "sequence" and len(value.items) == 1:
        value = value.items[0][1]
    return f"[{key}={value.text}]" if value.kind == "leaf" and len(value.text) <= 120 else "[]"


def _json(text: str) -> Iterator[_Node]:
    json.loads(text)  # the judge of validity; the scan below only adds the lines
    root = _Node(1, 1, "sequence")
    stack, key, line, position = [root], None, 1, 0
    tokens = list(_JSON_TOKEN.finditer(text))
    for number, match in enumerate(tokens):
        line += text.count("\n", position, match.start())
        position, token = match.start(), match[0]
        if token in "{[":
            node = _Node(line, line, "mapping" if token == "{" else "sequence")
            stack[-1].items.append((key, node))
            stack.append(node)
            key = None
            if len(stack) > _MAXIMUM_DEPTH:
                raise _NotReadableError
        elif token in "}]":
            stack.pop().end_line = line
        elif token[0] == '"' and number + 1 < len(tokens) and tokens[number + 1][0] == ":":
            key = json.loads(token)
        elif token not in ":,":
            stack[-1].items.append((key, _Node(line, line, text=_leaf_text(json.loads(token)))))
            key = None
    yield from (node for _, node in root.items)


def _yaml(text: str) -> Iterator[_Node]:
    if len(text) > _MAXIMUM_YAML:
        raise _NotReadableError
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[tuple[_Node, list[str]]] = []
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.DocumentStartEvent):
            stack = [(_Node(1, 1, "sequence"), [])]
        elif isinstance(event, yaml.DocumentEndEvent):
            yield from (node for _, node in stack[0][0].items)
        elif isinstance(event, yaml.CollectionEndEvent):
            node, _ = stack.pop()
            node.end_line = event.start_mark.line + 1 if event.start_mark else node.line
        elif isinstance(event, yaml.NodeEvent):
            node = _yaml_node(event)
            parent, keys = stack[-1]
            if parent.kind == "mapping" and not keys:
                # A key that is itself a collection is told by its place only.
                keys.append(node.text if node.kind == "leaf" else f"? {node.line}")
                if node.kind != "leaf":
                    stack.append((node, []))
                continue
            parent.items.append((keys.pop() if parent.kind == "mapping" else None, node))
            if node.kind != "leaf":
                stack.append((node, []))
            if len(stack) > _MAXIMUM_DEPTH:
                raise _NotReadableError


def _yaml_node(event: yaml.NodeEvent) -> _Node:
    if event.start_mark is None or event.end_mark is None:
        raise _NotReadableError
    first, last = event.start_mark.line + 1, event.end_mark.line + 1
    if isinstance(event, yaml.MappingStartEvent):
        return _Node(first, last, "mapping")
    if isinstance(event, yaml.SequenceStartEvent):
        return _Node(first, last, "sequence")
    if not isinstance(event, yaml.ScalarEvent):
        return _Node(first, last, text=f"*{event.anchor}")
    value = str(event.value)
    quoted = event.style in {"'", '"'} and bool(_NOT_TEXT.fullmatch(value))
    block = event.style in {"|", ">"}
    return _Node(first, last, text=f'"{value}"' if quoted else value, block=block)


def _toml(text: str) -> Iterator[_Node]:
    places = _TomlPlaces(text)
    yield _toml_node(tomllib.loads(text), (), places, 0)


def _toml_node(value: Any, path: tuple[str, ...], places: _TomlPlaces, depth: int) -> _Node:
    if depth > _MAXIMUM_DEPTH:
        raise _NotReadableError
    line = places.line(path)
    if isinstance(value, Mapping):
        items = [(key, _toml_node(item, (*path, key), places, depth + 1)) for key, item in value.items()]
        return _Node(line, line, "mapping", items=list(items))
    if isinstance(value, Sequence) and not isinstance(value, str):
        node = _Node(line, line, "sequence")
        for item in value:
            inner = _toml_node(item, path, places, depth + 1)
            if inner.kind == "leaf":
                inner.line = inner.end_line = places.item(line, inner.text)
            node.items.append((None, inner))
        return node
    return _Node(line, line, text=_leaf_text(value))


def _leaf_text(value: Any) -> str:
    """A parsed value as text; quotes stay only where the bare text would be another value."""
    if isinstance(value, str):
        return f'"{value}"' if _NOT_TEXT.fullmatch(value) else value
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else repr(value)


class _TomlPlaces:
    """Lines of keys in a TOML text; the parser does not tell them."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._known: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(self._lines, 1):
            head = re.match(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$", line)
            entry = re.match(r"\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=", line)
            if head:
                table = _dotted(head[1])
                self._known.setdefault(table, number)
            elif entry:
                self._known.setdefault((*table, *_dotted(entry[1])), number)

    def line(self, path: tuple[str, ...]) -> int:
        """The line of a key, or of the nearest one above it."""
        while path and path not in self._known:
            path = path[:-1]
        return self._known.get(path, 1)

    def item(self, start: int, text: str) -> int:
        """The line at or below `start`, inside the same array, that holds an item."""
        for number in range(start, min(len(self._lines), start + 400) + 1):
            if text in self._lines[number - 1]:
                return number
        return start


def _dotted(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.\s]+", text) if part.strip())
