"""What a check gets and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from guard.config import Config
from guard.model import ChangeCount, Finding, Outcome, Survival
from guard.store.facts import FactStore, NullStore
from guard.sync.trees import FourTrees


def _no_progress(_text: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The input of every check of a sync.

    Attributes:
        trees: the four trees and the automatic merge.
        jobs: how many processes a check may use.
        store: remembered facts by content (disk cache, or nothing).
        progress: told what is being done, for a person who waits.
        debug: let unexpected errors through.
    """

    trees: FourTrees
    config: Config = field(default_factory=Config)
    jobs: int = 1
    store: FactStore = field(default_factory=NullStore)
    progress: Callable[[str], None] = _no_progress
    debug: bool = False


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The output of a check.

    Attributes:
        findings: in any order; the report sorts.
        outcomes: files or parts that were skipped or failed inside the check.
        ours, theirs: how many changes each side made and what became of them (the lost check fills these).
        survival: per file and side.
    """

    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    ours: ChangeCount = field(default_factory=ChangeCount)
    theirs: ChangeCount = field(default_factory=ChangeCount)
    survival: tuple[Survival, ...] = ()
