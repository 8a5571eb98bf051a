"""What merged has and the parent whose text it came from has not: the rule that makes a diagnostic a finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from guard.model import Confidence, Related, Severity, Side

PARENTS = ("ours", "theirs")


class State(Enum):
    """What one tree says of a place: it reads the thing and that works, it reads it in vain, it does not read it."""

    OK = "ok"
    BAD = "bad"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Break:
    """A diagnostic of merged that is a finding; `guard.checks.breaks.findings` completes it.

    Attributes:
        reader: words by which the reading line is known in history.
        definition: words by which the line that is missing or changed is known in history.
        definition_paths: where that line stood, by tree: (path, line).
        came_from: the parent that the reading text came from, where only one has it.
    """

    code: str
    path: str
    symbol: str
    subject: str
    line: int
    message: str
    severity: Severity = Severity.ERROR
    confidence: Confidence = Confidence.HIGH
    end_line: int | None = None
    related: tuple[Related, ...] = ()
    lost_side: Side | None = None
    came_from: Side | None = None
    reader: str = ""
    definition: str = ""
    definition_places: dict[str, tuple[str, int]] = field(default_factory=dict)
    detail: str = ""


def is_new(state: Callable[[str], State]) -> bool:
    """Whether a diagnostic of merged is the merge's own.

    Where both parents have it, it is theirs. Where one has it, the three-way rule decides as it does for text: the
    other parent's state counts if the base's equals the one that has it (a repair was undone), the one that has it
    counts if the base's equals the other's (that parent broke it by itself). A parent that does not read the thing
    says nothing.

    Arguments:
        state: the state of a tree: "base", "ours" or "theirs".
    """
    ours, theirs = state("ours"), state("theirs")
    if State.BAD not in {ours, theirs}:
        return True
    other = theirs if ours is State.BAD else ours
    if other in {State.BAD, State.ABSENT}:
        return False
    return state("base") is not State.OK


def meets_in(state: Callable[[str], State], edited: Side | None) -> bool:
    """Whether a diagnostic that one parent brought about by itself meets a file that the other parent edited.

    The line is then the other parent's as well, and it works there.

    Arguments:
        state: the state of a tree: "base", "ours" or "theirs".
        edited: the side whose edited version of the file merged has, if it is one side's alone.
    """
    return edited is not None and state(edited.value) is State.OK and state(edited.other.value) is State.BAD


def origin_side(state: Callable[[str], State]) -> Side | None:
    """The parent that alone reads the thing and can; None where both or neither do."""
    works = [side for side in Side if state(side.value) is State.OK]
    return works[0] if len(works) == 1 else None
