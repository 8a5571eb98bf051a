"""Path patterns of configuration and rules, with the meaning they have in `.gitignore`, negation included.

A pattern may come from a repository that nobody trusts: RE2 answers in time in proportion to the path, where Python's
own engine takes hours for a dozen stars.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

_SURROGATE = re.compile("[\ud800-\udfff]")


def path_matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a list of patterns matches a path.

    Arguments:
        path: relative, with forward slashes.
        patterns: as the lines of a `.gitignore`: a pattern without a slash matches a name at any depth; `*` and `?`
            stay inside one name; `**` crosses folders; a pattern that matches a folder matches all below it; `!` takes
            out again what an earlier pattern matched; a single file of a matched folder, too, which git cannot.
    """
    spec = _spec(tuple(patterns))
    # A byte that is no UTF-8 is some character; no pattern can name it.
    return spec is not None and spec.match_file(_SURROGATE.sub("\ufffd", path))


@functools.lru_cache(maxsize=1024)
def _spec(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(map(_anchored, patterns), backend="re2") if patterns else None


def _anchored(pattern: str) -> str:
    """`./a` as people write it for "here, not below", which `.gitignore` spells `/a`."""
    negated = pattern.startswith("!")
    body = pattern.removeprefix("!")
    return ("!" if negated else "") + (f"/{body.removeprefix('./')}" if body.startswith("./") else body)
