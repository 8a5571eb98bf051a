"""Units of files without a grammar here: their lines, by section, function or build stage.

In a script (shell, Dockerfile, Makefile, CMake) order and nesting count; in other files they do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guard.documents.directives import directive
from guard.documents.units import Unit

_COMMENT_LINE = re.compile(r"\s*(#(?!!)|//|;;)")
_SECTION = re.compile(r"\s*\[([^\]]+)\]\s*$")
_SHELL_FUNCTION = re.compile(r"\s*(?:function\s+)?([\w:-]+)\s*\(\s*\)\s*\{?\s*$")
_STAGE = re.compile(r"FROM\s+\S+(?:\s+AS\s+(\S+))?\s*$", re.IGNORECASE)
_TARGET = re.compile(r"([\w./%-]+)\s*:(?![=:])")
_OPENS = re.compile(r"(?:^|[;&|]\s*)(?:if|for|while|until|case|foreach)\b(?!\s*=)|^(?:function|macro)\s*\(")
_CLOSES = re.compile(r"(?:^|[;&|]\s*)(?:fi|done|esac|end(?:if|foreach|while|function|macro))\b")

_BRANCHES = frozenset({"else", "endif", "endforeach", "endwhile", "endfunction", "endmacro"})  # of CMake


def line_units(text: str) -> Iterator[Unit]:
    """Lines with white space normalised, without blank lines, lines of comment alone and continuation marks."""
    scope = ""
    for number, line in enumerate(text.split("\n"), 1):
        body = _body(line)
        if body is None:
            scope = "" if line.startswith("}") else scope
            continue
        head = _SECTION.match(line) or _SHELL_FUNCTION.match(line)
        if head:
            scope = head[1].strip()
        yield Unit("" if head else scope, body, "", number, number)


def script_units(text: str) -> Iterator[Unit]:
    """The same of a script: `block` counts the conditions and loops that a line stands in."""
    scope, depth = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        body = _body(line)
        if body is None:
            scope = "" if line.startswith("}") else scope
            continue
        head = _SHELL_FUNCTION.match(line) or _STAGE.match(line) or _TARGET.match(line)
        if head and head[1] not in _BRANCHES:
            scope, depth = (head[1] or "").strip(), 0
        opened, closed = len(_OPENS.findall(body)), len(_CLOSES.findall(body))
        depth = max(0, depth - max(0, closed - opened))
        yield Unit("" if head and not depth else scope, body, "", number, number, str(depth or ""))
        depth += max(0, opened - closed)


def indented_units(text: str) -> Iterator[Unit]:
    """The same of a file whose indentation counts: `block` is the line's."""
    for number, line in enumerate(text.split("\n"), 1):
        body = _body(line)
        if body is not None:
            indent = line.expandtabs(8)
            yield Unit("", body, "", number, number, str(len(indent) - len(indent.lstrip()) or ""))


def _body(line: str) -> str | None:
    """What a line says, white space normalised; None where it says nothing."""
    if _COMMENT_LINE.match(line):
        return directive(line) or None
    body = " ".join(line.split()).removesuffix("\\").rstrip()
    return body if any(character.isalnum() for character in body) else None
