"""Text from a repository made safe to show: no control characters, no lone surrogates, bounded length."""

from __future__ import annotations

import re
import unicodedata

# Everything a terminal or a log parser could take for a command: C0 without tab and newline, DEL, C1, and the
# bidirectional overrides that make text read differently from what it is (CVE-2021-42574).
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# What a CI system takes for a command in a line of a log, wherever it came from: GitHub's first form and Azure's
# anywhere (`##[command]`, `##vso[...]`, the runner's ActionCommand.TryParse), GitHub's second at the start of a line.
_LOG_COMMAND = re.compile(r"#(?=#[\w.-]*\[)|(?m:^[^\S\n]*:(?=:[A-Za-z]))")
_ASCII = re.compile(r"[\x20-\x7e]*")


def _shown(match: re.Match[str]) -> str:
    point = ord(match[0])
    if 0xDC80 <= point <= 0xDCFF:  # a byte that is no UTF-8, as `surrogateescape` keeps it
        return f"\\x{point - 0xDC00:02x}"
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"


def clean(text: str) -> str:
    """The same text with control characters, bidirectional overrides and lone surrogates written as escapes.

    Every format and every line for a person goes through this: what a terminal or the log of a CI job would take for a
    command comes out as text. A workflow command is parted by a space.
    """
    return _LOG_COMMAND.sub(r"\g<0> ", _UNSAFE.sub(_shown, text.replace("\r\n", "\n")))


def encodable(text: str) -> str:
    """The same text with only lone surrogates written as escapes: for formats that escape the rest themselves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", _shown, text)
    return text


def one_line(text: str) -> str:
    """The same text in one line: cleaned, and with every run of white space as one space."""
    return " ".join(clean(text).split())


def display_width(text: str) -> int:
    """Columns that the text takes on a terminal: two for wide East Asian characters, none for combining ones."""
    if _ASCII.fullmatch(text):
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text cut to `width` columns, with an ellipsis where something was left out."""
    if display_width(text) <= width:
        return text
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > max(width - 1, 0):
            return text[:index].rstrip() + "…"
    return text


def cut_path(path: str, width: int) -> str:
    """The path cut to `width` columns at its front: the file name says most."""
    if display_width(path) <= width:
        return path
    used = 0
    for index in range(len(path) - 1, -1, -1):
        used += _columns(path[index])
        if used > width - 1:
            # At a folder's edge if the file name stays whole.
            edge = path.find("/", index + 1)
            return "…" + path[edge if edge >= 0 else index + 1 :]
    return path


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
