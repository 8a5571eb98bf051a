"""Text from a repository made safe inside GitHub's Markdown: it shows as it is, and mentions and links nothing."""

from __future__ import annotations

import re

from guard.report.plain import one_line

# An underscore inside a word has no meaning in GitHub's dialect, and stays readable in the source.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~@&$#]|(?<!\w)_|_(?!\w)")
_AT_START = re.compile(r"^(\d+(?=[.)])|[-+=])")
_NUMBER = re.compile(r"&#35;(\d+)\b")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp):|\b(www)\.")
_SPAN = re.compile(r"`([^`]+)`")


def plain(text: str) -> str:
    """One line in which no character has a meaning of its own.

    Character references stand for what could mark, link, mention (@) or make HTML; a pull request number stays a
    link, since it is the one that the reader wants.
    """
    escaped = _unlinked(_NUMBER.sub(r"#\1", _escape(one_line(text))))
    return _AT_START.sub(lambda match: f"{match[0][:-1]}&#{ord(match[0][-1])};", escaped)


def prose(text: str) -> str:
    """The same for a sentence of guard, whose backticks mean code."""
    parts = _SPAN.split(one_line(text))
    return "".join(code(part) if index % 2 else _spaced(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """The text in one line as code; HTML, since a pipe or backtick would end a span in a table."""
    return f"<code>{_unlinked(_escape(one_line(text)))}</code>"


def fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def row(*cells: str) -> str:
    """A row of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def _spaced(part: str) -> str:
    """The part between two code spans, with the spaces at its ends."""
    body = part.strip()
    return part.replace(body, plain(body), 1) if body else part


def _unlinked(line: str) -> str:
    """A bare address becomes a link even without brackets, unless its colon or dot is a reference."""
    return _ADDRESS.sub(lambda match: f"{match[0][:-1]}&#{ord(match[0][-1])};", line)


def _escape(line: str) -> str:
    return _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", line)
