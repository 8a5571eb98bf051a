"""Path patterns of configuration and rules, with the meaning they have in `.gitignore`, negation included."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from pathspec import GitIgnoreSpec


def path_matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a list of patterns matches a path.

    Arguments:
        path: relative, with forward slashes.
        patterns: as the lines of a `.gitignore`: a pattern without a slash matches a name at any depth; `*` and `?`
            stay inside one name; `**` crosses folders; a pattern that matches a folder matches all below it; `!` takes
            out again what an earlier pattern matched; a single file of a matched folder, too, which git cannot.
    """
    spec = _spec(tuple(patterns))
    return spec is not None and spec.match_file(path)


@functools.lru_cache(maxsize=1024)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(_anchored(pattern) for pattern in patterns) if patterns else None


def _anchored(pattern: str) -> str:
    """`./a` as people write it for "here, not below", which `.gitignore` spells `/a`."""
    negated = pattern.startswith("!")
    body = pattern.removeprefix("!")
    return ("!" if negated else "") + (f"/{body.removeprefix('./')}" if body.startswith("./") else body)
