"""YAML into the dataclasses of the rule language, every mistake with its line and breadcrumb; their JSON schema."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import yaml

from guard.config import read_regular
from guard.errors import ConfigError
from guard.lint.patterns import Pattern, compile_pattern

T = TypeVar("T")
_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(kind: type[T], path: Path) -> T:
    """Read one YAML file as a dataclass of the rule language.

    Raises:
        ConfigError: `file:line: breadcrumb: what is wrong`, for unreadable or malformed YAML, unknown or missing keys,
            wrong types, patterns that do not compile.
    """
    try:
        text = read_regular(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}:1: cannot be read: {problem}") from None
    return load_text(kind, text, str(path))


def load_text(kind: type[T], text: str, origin: str) -> T:
    """The same for text; `origin` stands for the file in messages."""
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except RecursionError:
        raise ConfigError(f"{origin}:1: nested too deeply") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        raise ConfigError(f"{origin}:{line}: no YAML: {getattr(problem, 'problem', problem)}") from None
    if node is None:
        raise ConfigError(f"{origin}:1: empty file")
    value = _Reader(origin).read(kind, node, "")
    return typing.cast(T, value)


def yaml_key(name: str) -> str:
    """The YAML spelling of a field."""
    return name.rstrip("_").replace("_", "-") if name.endswith("_") else name.replace("_", "-")


@functools.cache
def hints(kind: Any) -> dict[str, Any]:
    """Types of a dataclass's fields."""
    return typing.get_type_hints(kind)


class _Reader:
    def __init__(self, origin: str) -> None:
        self.origin = origin

    def fail(self, node: Any, crumb: str, what: str) -> ConfigError:
        return ConfigError(f"{self.origin}:{node.start_mark.line + 1}: {crumb or '(top)'}: {what}")

    def read(self, kind: Any, node: Any, crumb: str) -> Any:
        origin = typing.get_origin(kind)
        if origin in (typing.Union, types.UnionType):
            inner = [part for part in typing.get_args(kind) if part is not type(None)]
            return self.read(inner[0], node, crumb)
        if origin is tuple:
            item = typing.get_args(kind)[0]
            if isinstance(node, yaml.SequenceNode):
                return tuple(self.read(item, part, f"{crumb}[{i}]") for i, part in enumerate(node.value))
            return (self.read(item, node, crumb),)
        if dataclasses.is_dataclass(kind) and kind is not Pattern:
            return self.mapping(typing.cast(type[Any], kind), node, crumb)
        if not isinstance(node, yaml.ScalarNode):
            raise self.fail(node, crumb, f"a single value is meant, not a {node.id}")
        return self.scalar(kind, node, crumb)

    def mapping(self, kind: type[Any], node: Any, crumb: str) -> Any:
        if not isinstance(node, yaml.MappingNode):
            raise self.fail(node, crumb, f"a mapping is meant ({', '.join(_keys(kind))})")
        fields = {yaml_key(f.name): f for f in dataclasses.fields(kind)}
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            field = fields.get(key)
            if field is None:
                raise self.fail(key_node, crumb, f"unknown key {key!r}; known: {', '.join(fields)}")
            if field.name in values:
                raise self.fail(key_node, crumb, f"key {key!r} stands twice")
            below = f"{crumb}.{key}" if crumb else str(key)
            values[field.name] = self.read(hints(typing.cast(Any, kind))[field.name], value_node, below)
        lacking = [
            yaml_key(f.name) for f in fields.values() if f.default is dataclasses.MISSING and f.name not in values
        ]
        if lacking:
            raise self.fail(node, crumb, f"missing key {', '.join(map(repr, lacking))}")
        if kind.__name__ == "Condition" and len(values) != 1:
            raise self.fail(node, crumb, f"a condition has exactly one key, this one has {len(values)}")
        return kind(**values)

    def scalar(self, kind: Any, node: Any, crumb: str) -> Any:
        text = node.value
        if kind is Pattern:
            try:
                return compile_pattern(text)
            except ValueError as problem:
                raise self.fail(node, crumb, str(problem)) from None
        if kind is bool:
            if node.tag.endswith(":bool"):
                return text.lower() in {"true", "yes", "on"}
            raise self.fail(node, crumb, f"true or false is meant, not {text!r}")
        if kind is int:
            if node.tag.endswith(":int") and re.fullmatch(r"\d+", text):
                return int(text)
            raise self.fail(node, crumb, f"a number is meant, not {text!r}")
        choices = _choices(kind)
        if choices is not None:
            if text not in choices:
                raise self.fail(node, crumb, f"{text!r} is none of {', '.join(choices)}")
            return kind(text) if isinstance(kind, type) else text
        if node.tag.endswith(":null"):
            raise self.fail(node, crumb, "text is meant, not null")
        return text


def _choices(kind: Any) -> list[str] | None:
    if typing.get_origin(kind) is typing.Literal:
        return [str(choice) for choice in typing.get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return None


def _keys(kind: type[Any]) -> list[str]:
    return [yaml_key(f.name) for f in dataclasses.fields(kind)]


def json_schema(kind: type[Any]) -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a dataclass of the rule language, from the same fields the loader reads."""
    definitions: dict[str, Any] = {}
    top = _schema_of(kind, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": (kind.__doc__ or kind.__name__).splitlines()[0],
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _schema_of(next(p for p in typing.get_args(kind) if p is not type(None)), definitions)
    if origin is tuple:
        item = _schema_of(typing.get_args(kind)[0], definitions)
        return {"anyOf": [item, {"type": "array", "items": item}]}
    choices = _choices(kind)
    if choices is not None:
        return {"enum": choices}
    if kind in {bool, int}:
        return {"type": "boolean" if kind is bool else "integer"}
    if kind is str or kind is Pattern:
        return {"type": "string"}
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}
        properties = {}
        for field in dataclasses.fields(kind):
            shape = _schema_of(hints(kind)[field.name], definitions)
            properties[yaml_key(field.name)] = {**shape, "description": field.metadata["doc"]}
        body: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
        required = [yaml_key(f.name) for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
        if required:
            body["required"] = required
        if name == "Condition":
            body.update(minProperties=1, maxProperties=1)
        body["description"] = (kind.__doc__ or "").splitlines()[0]
        definitions[name] = body
    return {"$ref": f"#/$defs/{name}"}
