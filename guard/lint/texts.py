"""Search a file for a regular expression, looking only at the lines in which it can match at all.

Most expressions of rules hold plain text that any match must hold, and stay inside one line. Finding the text first
is many times faster than trying the expression at every place of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from guard.lint.expressions import Expression

_TOKEN = re.compile(
    r"""
      \\ (?P<escape> .)
    | (?P<set> \[ \^? \]? (?: \\. | [^\]\\] )* \])
    | (?P<open> \( (?: \?: )?)
    | (?P<close> \))
    | (?P<optional> (?: [*?] | \{ [\d,]* \} ) [?+]?)
    | (?P<repeated> \+ [?+]?)
    | (?P<bar> \|)
    | (?P<wild> [.^$])
    | (?P<plain> .)
    """,
    re.VERBOSE | re.DOTALL,
)
# Escapes that match no line end, and nothing that depends on where the searched text ends.
_INSIDE_LINES = frozenset("wdbBSt")


@dataclass(frozen=True, slots=True)
class TextTest:
    """An expression, and texts of which every match holds one on a line of its own; none where that cannot be told."""

    expression: Expression
    texts: tuple[bytes, ...]

    @classmethod
    def of(cls, expression: str) -> TextTest:
        """The test for an expression that compiles."""
        found = needed_texts(expression) if _stays_in_line(expression) else []
        best = max(found, key=_rarity, default=())
        return cls(Expression(expression), tuple(text.encode() for text in best))

    def found(self, data: bytes) -> bool:
        """Whether the expression matches somewhere in a text with newlines as line ends."""
        found = self.expression.found
        if not self.texts:
            return found(data)
        return any(found(data, start, end) for text in self.texts for start, end in _lines(data, text))


def _rarity(texts: tuple[str, ...]) -> tuple[int, int]:
    """How rare texts are by their looks: the longer the rarer, and letters rarer than signs and blanks."""
    return min(map(len, texts)), min(sum(map(str.isalnum, text)) for text in texts)


def _lines(data: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each line that holds a text."""
    at = data.find(text)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data.rfind(b"\n", 0, at) + 1, end
        at = data.find(text, end)


def _stays_in_line(expression: str) -> bool:
    """Whether a match never crosses a line end, nor looks past one."""
    body = expression.removeprefix("(?m)")
    before = ""
    for token in _TOKEN.finditer(body):
        kind, text = token.lastgroup or "", token.group()
        if text in {"\n", "\\\n"} or (kind == "set" and re.match(text, "\n")):
            return False
        if kind == "escape" and text[1].isalnum() and text[1] not in _INSIDE_LINES:
            return False
        # Flags for all of it, and looks ahead and behind.
        if kind == "optional" and before == "open":
            return False
        # Without the flag these mean the ends of the whole text.
        if text in {"^", "$"} and body == expression:
            return False
        before = kind
    return True


@dataclass(slots=True)
class _Reading:
    """Where the reading of an expression is: the plain text so far, and the arms of the group that is open."""

    found: list[tuple[str, ...]] = field(default_factory=list)
    text: str = ""
    arms: list[str] | None = None
    depth: int = 0
    grouped: bool = False

    def end_text(self) -> None:
        if self.text:
            self.found.append((self.text,))
        self.text = ""
        self.grouped = False


def needed_texts(expression: str) -> list[tuple[str, ...]]:
    """Plain texts of which every match holds one, for each part of an expression that is plain or a choice of plain.

    Nothing is said of an expression that is a choice as a whole.
    """
    reading = _Reading()
    for token in _TOKEN.finditer(expression.removeprefix("(?m)")):
        kind = token.lastgroup or ""
        character = token.group("plain") or token.group("escape") or ""
        is_plain = kind == "plain" or (kind == "escape" and not character.isalnum())
        if reading.depth == 0 and kind == "bar":
            return []
        (_inside if reading.depth else _outside)(reading, kind, character if is_plain else "")
    reading.end_text()
    return reading.found


def _outside(reading: _Reading, kind: str, character: str) -> None:
    """One token outside of groups."""
    if character:
        reading.text += character
        reading.grouped = False
    elif kind == "optional":
        if reading.grouped:
            reading.found.pop()
        reading.text = reading.text[:-1]
        reading.end_text()
    else:
        reading.end_text()
        if kind == "open":
            reading.depth, reading.arms = 1, [""]


def _inside(reading: _Reading, kind: str, character: str) -> None:
    """One token inside a group: its arms count only where all of it is plain."""
    if kind in {"open", "close"}:
        reading.depth += 1 if kind == "open" else -1
    if kind == "close" and reading.depth == 0:
        if reading.arms and all(reading.arms):
            reading.found.append(tuple(reading.arms))
            reading.grouped = True
    elif reading.arms is not None and kind == "bar":
        reading.arms.append("")
    elif reading.arms is not None and character:
        reading.arms[-1] += character
    else:
        reading.arms = None
