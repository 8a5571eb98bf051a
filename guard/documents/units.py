"""One file as a list of units: a setting, a sentence, a statement or a line, whichever the kind of file is made of.

Two files with equal units say the same. Layout is no part of a unit, so that reformatting is no change.
"""

from __future__ import annotations

from dataclasses import dataclass

from guard.documents.kinds import kind_of

MAXIMUM_BYTES = 4_000_000
MAXIMUM_UNITS = 60_000

Key = tuple[str, str, str]  # scope, text and block of a unit


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing of a file that a change can add or take away.

    Attributes:
        scope: where it stands: dotted keys, the heading, the enclosing function; empty at the top.
        text: what it says, with white space normalised.
        label: its own name, if it has one (the last key).
        line, end_line: first and last line, 1-based.
        block: the conditions and loops of the scope that it stands in, where nesting counts.
    """

    scope: str
    text: str
    label: str
    line: int
    end_line: int
    block: str = ""

    @property
    def key(self) -> Key:
        """What makes two units of two trees the same one."""
        return self.scope, self.text, self.block


@dataclass(frozen=True, slots=True)
class Document:
    """The units of one file.

    Attributes:
        kind: `data` (JSON, YAML, TOML), `prose`, `code` (C-like), `script` or `lines`.
        lines: its text by line, without line ends.
    """

    kind: str
    units: tuple[Unit, ...]
    lines: tuple[str, ...]

    @property
    def ordered(self) -> bool:
        """Whether the order of its units counts."""
        return self.kind in {"code", "script"}


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
    from guard.documents.c_like import code_units
    from guard.documents.data import data_units
    from guard.documents.lines import indented_units, line_units, script_units
    from guard.documents.prose import prose_units

    text = data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    lines = tuple(text.split("\n"))
    wanted = kind or kind_of(path)
    if wanted in {"json", "yaml", "toml"}:
        units = data_units(wanted, text)
        if units is not None:
            return Document("data", units, lines)
    readers = {"prose": prose_units, "code": code_units, "script": script_units, "python": indented_units}
    readers["stub"] = indented_units
    wanted = wanted if wanted in readers else "lines"
    as_kind = "script" if readers.get(wanted) is indented_units else wanted
    return Document(as_kind, tuple(readers.get(wanted, line_units)(text)), lines)
