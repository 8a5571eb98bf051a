"""Regular expressions of rules. A repository brings its own rules, so they run in time in proportion to the text.

Python's own engine goes back over every way in which an expression can match, which a short one can make longer than
any run. RE2 never goes back; it knows neither look-around nor back references, and a rule that uses them does not load.
"""

from __future__ import annotations

import functools
import re

import re2

_LONGEST = 4000  # characters; a counted repetition in an expression is written out that often


class ExpressionError(ValueError):
    """What is no expression that RE2 can run; the message says why."""


class Expression:
    """A compiled expression, asked only whether it matches somewhere."""

    __slots__ = ("_compiled", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._compiled = _compile(source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __reduce__(self) -> tuple[type[Expression], tuple[str]]:
        return Expression, (self.source,)

    def found(self, data: bytes, start: int = 0, end: int | None = None) -> bool:
        """Whether the expression matches in a part of the bytes."""
        return self._compiled.search(data, start, len(data) if end is None else end) is not None


@functools.lru_cache(maxsize=1024)
def _compile(source: str) -> re.Pattern[bytes]:
    if len(source) > _LONGEST:
        raise ExpressionError(f"longer than {_LONGEST} characters")
    try:
        re.compile(source.encode("utf-8", "surrogatepass"))
    except (re.error, ValueError, RecursionError, OverflowError) as problem:
        raise ExpressionError(f"no regular expression: {problem}") from None
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    try:
        compiled: re.Pattern[bytes] = re2.compile(source.encode("utf-8", "surrogatepass"), options)
    except re2.error as problem:
        reason = problem.args[0].decode("utf-8", "replace") if problem.args else "refused"
        raise ExpressionError(f"not in RE2, which knows no look-around and no back reference: {reason}") from None
    return compiled
