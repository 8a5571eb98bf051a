"""One file as a list of units: a setting, a sentence, a statement or a line, whichever the kind of file is made of.

Two files with equal units say the same. Layout is no part of a unit, so that reformatting is no change.
"""

from __future__ import annotations

from dataclasses import dataclass

from guard.documents.kinds import kind_of

MAXIMUM_BYTES = 4_000_000
MAXIMUM_UNITS = 60_000


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing of a file that a change can add or take away.

    Attributes:
        scope: where it stands: dotted keys, the heading, the enclosing function; empty at the top.
        text: what it says, with white space normalised.
        label: its own name, if it has one (the last key).
        line, end_line: first and last line, 1-based.
    """

    scope: str
    text: str
    label: str
    line: int
    end_line: int

    @property
    def key(self) -> tuple[str, str]:
        """What makes two units of two trees the same one."""
        return self.scope, self.text


@dataclass(frozen=True, slots=True)
class Document:
    """The units of one file.

    Attributes:
        kind: `data` (JSON, YAML, TOML), `prose`, `code` or `lines`.
        lines: its text by line, without line ends.
    """

    kind: str
    units: tuple[Unit, ...]
    lines: tuple[str, ...]


def is_binary(data: bytes) -> bool:
    """Whether git would call it binary: a NUL byte near the start."""
    return b"\0" in data[:8000]


def document(path: str, data: bytes, kind: str | None = None) -> Document:
    """Read one file.

    Arguments:
        path: tells how to read it.
        data: its bytes; what is no UTF-8 is kept byte by byte.
        kind: read it in this way instead (`lines` always works), so that all trees are read alike.
    """
    from guard.documents.data import data_units
    from guard.documents.layout import code_units, line_units, prose_units

    text = data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    lines = tuple(text.split("\n"))
    wanted = kind or kind_of(path)
    if wanted in {"json", "yaml", "toml"}:
        units = data_units(wanted, text)
        if units is not None:
            return Document("data", units, lines)
        wanted = "lines"
    reader = {"prose": prose_units, "code": code_units}.get(wanted, line_units)
    return Document(wanted if wanted in {"prose", "code"} else "lines", tuple(reader(text)), lines)
