"""Bytes of a Python file into text, as Python itself would read them, and back again unchanged."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from guard.errors import NotAnalysedError

# PEP 263: the declaration must stand in a comment on one of the first two lines, and the first must not be code.
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
# A byte that no source holds, and words that say what this is.
_NOT_READ = b"\0guard did not read this file: "
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SourceText:
    """Decoded source.

    Attributes:
        text: the program with every line end as a single newline and without a byte order mark.
        encoding: the codec that decoded it.
        newline: the line end the file uses most, empty where it has none.
        bom: whether the file starts with a UTF-8 byte order mark.
        uniform: whether all line ends of the file are alike.
    """

    text: str
    encoding: str
    newline: str
    bom: bool
    uniform: bool

    def encode(self, text: str) -> bytes:
        """Write `text` (with newlines) the way the file was written."""
        body = text.replace("\n", self.newline) if self.newline not in {"", "\n"} else text
        return (codecs.BOM_UTF8 if self.bom else b"") + body.encode(self.encoding)


def declared_encoding(data: bytes) -> str:
    """Name of the codec by byte order mark and coding line (PEP 263), `utf-8` where nothing is said.

    Raises:
        NotAnalysedError: the coding line names a codec that does not exist or contradicts the byte order mark.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    head = data[3:] if bom else data
    for line in _LINE_END.split(head[:4096], maxsplit=2)[:2]:
        found = _CODING.match(line)
        if found:
            name = found.group(1).decode("ascii")
            try:
                codec = codecs.lookup(name).name
            except LookupError:
                raise NotAnalysedError(f"unknown encoding {name!r} in the coding line") from None
            if bom and codec != "utf-8":
                raise NotAnalysedError(f"byte order mark says utf-8, coding line says {name!r}")
            return codec
        if not _BLANK_OR_COMMENT.match(line):
            break
    return "utf-8"


def stand_in(reason: str) -> bytes:
    """Bytes in place of a file that is there and is not looked at: nothing parses them, and `decode` gives the reason.

    Arguments:
        reason: names the content, so that the stand-ins of different files differ.
    """
    return _NOT_READ + reason.encode("utf-8", "backslashreplace")


def decode(data: bytes) -> SourceText:
    """Decode a Python source file: byte order mark, coding line, any line ends, form feeds.

    Args:
        data: the file's bytes.

    Raises:
        NotAnalysedError: NUL bytes, an unknown codec, or bytes that the codec does not decode.
    """
    if data.startswith(_NOT_READ):
        raise NotAnalysedError(data.removeprefix(_NOT_READ).decode("utf-8", "replace"))
    encoding = declared_encoding(data)
    if b"\0" in data:
        raise NotAnalysedError("NUL byte in the source")
    bom = data.startswith(codecs.BOM_UTF8)
    try:
        raw = (data[3:] if bom else data).decode(encoding)
    except (UnicodeDecodeError, LookupError, ValueError) as problem:
        raise NotAnalysedError(f"not {encoding}: {problem}") from None
    if not isinstance(raw, str):
        raise NotAnalysedError(f"{encoding} is not a text encoding")
    if "\r" not in raw:
        return SourceText(raw, encoding, "\n" if "\n" in raw else "", bom, True)
    counts = {"\r\n": raw.count("\r\n")}
    counts["\r"] = raw.count("\r") - counts["\r\n"]
    counts["\n"] = raw.count("\n") - counts["\r\n"]
    newline = max(counts, key=lambda end: counts[end])
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    return SourceText(text, encoding, newline, bom, sum(1 for count in counts.values() if count) <= 1)
