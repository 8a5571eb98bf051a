"""What a fix did to files that are not Python: text by its units, anything else as one change of its content."""

from __future__ import annotations

from dataclasses import dataclass, field

from guard.documents.definitions import MODULE
from guard.documents.units import MAXIMUM_BYTES, MAXIMUM_UNITS, Document, Unit, document, is_binary
from guard.judge import tokens
from guard.judge.numeric import is_numeric
from guard.judge.text_alignment import edited_units

Key = tuple[int, int]
WHOLE_CONTENT: Key = (-1, -1)  # the one key of an edit that is judged by the object names alone
_EMPTY = Document("lines", (), ())


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What a fix did to one file that is not Python.

    Attributes:
        path, old_path: the file after and before.
        symbol: where its heaviest edit stands: dotted keys, heading, enclosing function.
        blobs: object names before and after; None where there is no file.
        before, after: its documents, read alike; None where it is no text (binary, submodule).
        weights: how much each edited unit counts, by its index (in before, in after; -1 where there is none).
    """

    path: str
    old_path: str
    symbol: str
    blobs: tuple[str | None, str | None]
    before: Document | None
    after: Document | None
    weights: dict[Key, float] = field(hash=False, compare=False)

    @property
    def weight(self) -> float:
        """How much the edit counts among the edits of its fix."""
        return sum(self.weights.values())

    @property
    def numeric(self) -> bool:
        """Whether it bears on a number that code computes."""
        units = (unit for key in self.weights for unit in self.units(key))
        code = self.after is not None and self.after.kind == "code"
        return code and is_numeric([word for unit in units for word in unit.text.split()])

    def units(self, key: Key) -> tuple[Unit, ...]:
        """The units of one edit: as they were, and as they are."""
        found = []
        for source, index in zip((self.before, self.after), key, strict=True):
            if source is not None and index >= 0:
                found.append(source.units[index])
        return tuple(found)


def text_edit(path: str, old_path: str, blobs: tuple[str | None, str | None],
              data: tuple[bytes | None, bytes | None]) -> TextEdit:  # fmt: skip
    """The edit of one file.

    Arguments:
        blobs: object names before and after; None where there is no file.
        data: the bytes of those; None where there are none to read (no file, or a submodule).
    """
    held = [content for content in data if content is not None]
    opaque = not held or any(is_binary(content) or len(content) > MAXIMUM_BYTES for content in held)
    if not opaque:
        names = (old_path, path)
        for kind in (None, "lines"):
            before, after = (
                document(name, content, kind) if content is not None else _EMPTY
                for name, content in zip(names, data, strict=True)
            )
            if before.kind == after.kind or None in data:
                break
        opaque = max(len(before.units), len(after.units)) > MAXIMUM_UNITS
    if opaque:
        return TextEdit(path, old_path, MODULE, blobs, None, None, {WHOLE_CONTENT: 8.0})
    kind = after.kind if data[1] is not None else before.kind
    before, after = (Document(kind, item.units, item.lines) for item in (before, after))
    weights = {key: _weight(before, after, key) for key in edited_units(before, after)}
    edit = TextEdit(path, old_path, MODULE, blobs, before, after, weights)
    heaviest = max(weights, key=lambda key: weights[key], default=None)
    symbol = edit.units(heaviest)[-1].scope if heaviest is not None else ""
    return TextEdit(path, old_path, symbol or MODULE, blobs, before, after, weights)


def _weight(before: Document, after: Document, key: Key) -> float:
    """What a changed, added or removed unit says, in words, at most eight; what was only removed says less."""
    old, new = key
    one = before.units[old].text.split() if old >= 0 else []
    other = after.units[new].text.split() if new >= 0 else []
    if old >= 0 and new >= 0:
        changed = sum(
            max(change.end - change.start, change.new_end - change.new_start)
            for change in tokens.edits(tuple(one), tuple(other))
        )
        return float(min(8, max(1, changed)))
    return float(min(8, max(1, len(other)))) if new >= 0 else min(2.0, max(0.5, len(one) / 4))
