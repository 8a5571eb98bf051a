"""Path patterns of configuration and rules, with the meaning they have in `.gitignore` (without negation)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable


def path_matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns matches a path.

    Arguments:
        path: relative, with forward slashes.
        patterns: a pattern without a slash matches a name at any depth; `*` and `?` stay inside one name; `**` crosses
            folders; a pattern that matches a folder matches all below it.
    """
    return any(_expression(pattern).fullmatch(path) for pattern in patterns)


@functools.lru_cache(maxsize=1024)
def _expression(pattern: str) -> re.Pattern[str]:
    body = pattern.removeprefix("./").strip("/")
    anchored = "/" in body or pattern.startswith(("/", "./"))
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]+\])", body)
    return re.compile(("" if anchored else "(?:.*/)?") + "".join(map(_piece, parts)) + "(?:/.*)?", re.DOTALL)


def _piece(part: str) -> str:
    fixed = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in fixed:
        return fixed[part]
    if part.startswith("[") and part.endswith("]"):
        negated = part[1] in "!^"
        characters = re.escape(part[2:-1] if negated else part[1:-1]).replace(r"\-", "-")
        return f"[{'^' if negated else ''}{characters}]"
    return re.escape(part)
