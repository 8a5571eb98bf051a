"""The heuristics of the judge by name: each a sentence, and a switch by which a test shows that it is needed."""

from __future__ import annotations

from dataclasses import dataclass

_OFF: set[str] = set()


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Something that the judge holds although the trees alone do not prove it.

    Attributes:
        name: what `guard explain` calls it.
        sentence: what it holds, for a reader of a finding.
    """

    name: str
    sentence: str


def is_on(heuristic: Heuristic) -> bool:
    """Whether a heuristic counts; all do but in an ablation."""
    return heuristic.name not in _OFF


def switch_off(*names: str) -> None:
    """Leave heuristics out from here on: for measuring what each is worth."""
    _OFF.update(names)


def switch_on(*names: str) -> None:
    """Let heuristics count again."""
    _OFF.difference_update(names)
