"""What became of one statement of an edit, and of a run of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from guard.documents.statements import Statement
from guard.judge import tokens
from guard.model import Verdict


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """What became of one statement of a side's edit.

    Attributes:
        old, new, merged: indices in the base's, the side's and merged's lists; -1 where there is none.
        missing, back: runs of tokens, as text, where only a part of the statement is concerned.
        touched: the tokens that are missing or back, where only a part is concerned.
        new_rows, old_rows: lines, in the side's and the base's file, of those tokens; empty for the whole statement.
        row: line in merged of the place inside the statement; 0 for the statement's own.
        precise: some tokens of a statement, at a spot in it where the other side did nothing.
        because: the name of the heuristic that made the outcome what it is, if one did.
        where: how the place in merged differs from the side's, where the statement itself is there.
    """

    verdict: Verdict
    old: int = -1
    new: int = -1
    merged: int = -1
    missing: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    row: int = 0
    new_rows: tuple[int, ...] = ()
    old_rows: tuple[int, ...] = ()
    precise: bool = False
    where: str = ""
    because: str = ""


@dataclass(slots=True)
class Hunk:
    """One run of statements that a side changed, with the fate of each.

    Attributes:
        contested: the other side changed one of them, or something next to them.
        neighbour_changed: the other side changed or took out one of the base's statements there; it did not only add.
        surroundings_gone: the other side took out what stood on both sides.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    fates: list[EditOutcome] = field(default_factory=list)
    contested: bool = False
    neighbour_changed: bool = False
    surroundings_gone: bool = False

    @property
    def lost(self) -> list[EditOutcome]:
        """The fates that are losses."""
        return [fate for fate in self.fates if fate.verdict.is_loss]

    @property
    def superseded(self) -> list[EditOutcome]:
        """The fates in whose place the other side's work stands."""
        return [fate for fate in self.fates if fate.verdict is Verdict.SUPERSEDED]

    def first_line(self, merged: Sequence[Statement], otherwise: int) -> int:
        """The line of merged where the first of the statements stands that it has."""
        return next((merged[fate.merged].line for fate in self.fates if fate.merged >= 0), otherwise)

    def verdict(self, *, moved: bool) -> Verdict:
        """One verdict of the run: the worst that its statements say together."""
        kinds = {fate.verdict for fate in self.lost}
        if kinds:
            kept = any(not fate.verdict.is_told for fate in self.fates)
            if kinds == {Verdict.REVIVED}:
                return Verdict.REVIVED
            if Verdict.PARTLY in kinds or (kept and Verdict.REVERTED not in kinds):
                return Verdict.PARTLY
            return Verdict.REVERTED if kinds & {Verdict.REVERTED, Verdict.REVIVED} else Verdict.LOST
        kinds = {fate.verdict for fate in self.fates}
        for verdict in (Verdict.SUPERSEDED, Verdict.EQUIVALENT, Verdict.MOVED):
            if verdict in kinds:
                return verdict
        return Verdict.MOVED if moved else Verdict.KEPT


def told(statement: Statement) -> str:
    """A statement in one line, for messages."""
    text = tokens.shown(statement.tokens)
    return text if len(text) <= 100 else text[:97] + "…"
