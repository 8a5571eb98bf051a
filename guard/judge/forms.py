"""One file as each of the four trees has it."""

from __future__ import annotations

from dataclasses import dataclass

from guard.documents.definitions import EMPTY, SourceFile
from guard.model import Side


@dataclass(frozen=True, slots=True)
class FileForms:
    """One Python file in four trees; `EMPTY` where a tree does not have it."""

    path: str
    base: SourceFile = EMPTY
    ours: SourceFile = EMPTY
    theirs: SourceFile = EMPTY
    merged: SourceFile = EMPTY

    def of(self, side: Side) -> SourceFile:
        """The file as a side has it."""
        return self.ours if side is Side.OURS else self.theirs
