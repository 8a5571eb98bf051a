"""The facts of the judge: a side's change to one definition, and what became of it in merged."""

from __future__ import annotations

from dataclasses import dataclass

from guard.model import Evidence, Origin, Side, Verdict


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of one definition of one file. `line` is where the text stands, or would stand."""

    path: str
    symbol: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class LostEdit:
    """One statement of a change that is not as the side made it.

    Attributes:
        verdict: lost, reverted, partly, revived or dead.
        missing: what the side put in and merged lacks: the statement, or runs of its tokens.
        back: what the side took out and merged has, likewise.
        words: the tokens that are missing or back.
        missing_lines, back_lines: source lines of those, stripped: what history is asked about.
        line, end_line: where it stands in merged, or would stand.
        evidence: the statement in each of the four trees.
        other_lines: source lines, stripped, that the other side has in its place, or took out of its place.
        doubts: names of what speaks against the loss (see `guard.judge.doubts`).
        because: the name of the heuristic that made the outcome what it is, if one did.
        precise: only some tokens of a statement are concerned, at a spot where the other side did nothing.
        imported: it is an import at the top level.
        where: how its place in merged differs from the side's, where the statement itself stands there.
    """

    verdict: Verdict
    missing: tuple[str, ...]
    back: tuple[str, ...]
    words: tuple[str, ...]
    missing_lines: tuple[str, ...]
    back_lines: tuple[str, ...]
    line: int
    end_line: int
    evidence: Evidence
    other_lines: tuple[str, ...] = ()
    doubts: frozenset[str] = frozenset()
    because: str = ""
    precise: bool = False
    imported: bool = False
    subject: str | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """One edit that one side made to one definition since the base, and its verdict.

    Attributes:
        place: where it stands in merged, or would stand.
        source: where the side has it (where the base has it, for deletions).
        kind: `statements` of a definition, a whole `definition`, or a whole `file`.
        size: how many statements it touches.
        pieces: the statements of it that are not as the side made them; empty where it is in effect.
        numeric: the lost part can alter a computed number.
        subject: the identifier that the change is about, if one.
        origins: commits behind the lost part, newest first; empty until history was asked.
        carried: only syncs of the other side made it what it is: what an earlier one dropped, and no work of this side.
        by: the commit that superseded or removed it, where one did.
        elsewhere: a file that merged holds much of a lost definition, or of the file around it, in another form of; or
            empty.
        reason: why the verdict is what it is, where that needs saying.
    """

    place: Place
    source: Place
    side: Side
    verdict: Verdict
    kind: str = "statements"
    size: int = 1
    pieces: tuple[LostEdit, ...] = ()
    numeric: bool = False
    subject: str | None = None
    origins: tuple[Origin, ...] = ()
    carried: bool = False
    by: Origin | None = None
    elsewhere: str = ""
    reason: str = ""
