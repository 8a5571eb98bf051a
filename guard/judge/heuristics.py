"""All heuristics of the judge, in one list: what `guard explain` looks names up in and an ablation switches off."""

from __future__ import annotations

from guard.judge.doubts import DOUBTS
from guard.judge.matches import MATCHES
from guard.judge.registry import Heuristic
from guard.judge.verdicts import READINGS

HEURISTICS: tuple[Heuristic, ...] = (*(match.heuristic for match in MATCHES), *READINGS, *DOUBTS)


def sentence_of(name: str) -> str:
    """What a heuristic holds, in a sentence; empty for a name that none has."""
    return next((heuristic.sentence for heuristic in HEURISTICS if heuristic.name == name), "")
