"""Terminal colours: sixteen-colour escape sequences, so that they follow the reader's own theme."""

from __future__ import annotations

from guard.model import Severity

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
    "red bold": "1;31",
    "mark red": "1;7;31",
    "mark green": "1;7;32",
}
STYLES = frozenset(f"\x1b[{code}m" for code in ("0", *_CODES.values()))
OF_SEVERITY = {Severity.ERROR: "red bold", Severity.WARNING: "yellow", Severity.NOTE: "blue"}


class Paint:
    """Wraps text in a style if colours are on, and returns it as it is otherwise."""

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, text: str, style: str) -> str:
        """The text in the style, a key of the table above."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and text else text

    def differing(self, text: str, gone: bool) -> str:
        """A run of tokens that the other tree does not have; «guillemets» where there is no colour."""
        if self.on:
            return self(text, "mark red" if gone else "mark green")
        body = text.strip()
        return text.replace(body, f"«{body}»", 1) if body else text
