"""YAML as a person writes it: keys in their order, programs as blocks."""

from __future__ import annotations

from typing import Any

import yaml

WIDTH = 120


class _Dumper(yaml.SafeDumper):
    """Indents lists under their key and never writes an anchor."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def render(document: dict[str, Any]) -> str:
    """A document as YAML text; lines of programs lose their trailing blanks, so that they can stand as blocks."""
    return yaml.dump(_clean(document), Dumper=_Dumper, sort_keys=False, width=WIDTH, allow_unicode=True)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        if "\n" not in value:
            return value
        return "\n".join(line.rstrip().replace("\t", "    ") for line in value.split("\n")).strip("\n") + "\n"
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
