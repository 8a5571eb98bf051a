"""What a case is: a set-up, its cuts, what each must equal, and how close. Standard library only (worker side)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

# Clean cases measure a relative difference of 3e-8 to 7e-7 in float32, the whole model under TP up to 4e-6;
# the smallest real defect seen so far is 1e-3. This sits an order or more away from either.
TOLERANCE = 1e-4
TOLERANCE_REASON = "float32 main_grad: clean cuts measure 3e-8..4e-6, the smallest known defect 1e-3"


class Tier(str, Enum):  # noqa: UP042 - the interpreter with torch may be a 3.10
    """What may be asked of a loss (how far a cut may reach before the objective itself changes)."""

    EXACT = "exact"
    FIXED = "fixed-microbatch"
    SCALE = "scale-only"
    CONTRACT = "contract"
    DEFINITION = "definition"


@dataclass(frozen=True)
class Cut:
    """How the global batch is cut: sizes of the groups, sequences in one micro-batch, model chunks a pipeline stage."""

    dp: int = 1
    cp: int = 1
    tp: int = 1
    ep: int = 1
    mbs: int = 1
    etp: int | None = None
    pp: int = 1
    vpp: int | None = None

    @property
    def ranks(self) -> int:
        """How many processes the cut needs."""
        return self.dp * self.cp * self.tp * self.pp

    def label(self) -> str:
        """Short name such as `dp2 cp2 mbs1`."""
        sizes = [f"{name}{size}" for name, size in (("dp", self.dp), ("cp", self.cp), ("tp", self.tp)) if size > 1]
        sizes += [f"ep{self.ep}"] if self.ep > 1 else []
        sizes += [f"etp{self.etp}"] if self.etp is not None and self.etp != self.tp else []
        sizes += [f"pp{self.pp}"] if self.pp > 1 else []
        sizes += [f"vpp{self.vpp}"] if self.vpp is not None else []
        return " ".join([*sizes, f"mbs{self.mbs}"])


@dataclass(frozen=True)
class Run:
    """One measurement: a program with its options, on the ranks of one cut."""

    program: str
    options: Mapping[str, Any]
    cut: Cut

    @property
    def key(self) -> str:
        """The same text for the same measurement."""
        return json.dumps([self.program, self.options, vars(self.cut)], sort_keys=True)


@dataclass(frozen=True)
class Place:
    """A definition of the tree that a case points to: path under the tree and dotted symbol, alternatives in order."""

    path: str
    symbol: str


@dataclass(frozen=True)
class Case:
    """One invariance with its cuts.

    Attributes:
        name: identifier, words joined by underscores; what `-k` selects by.
        family: the file of cases it comes from.
        claim: what must hold, one line.
        program: name of the rank program that measures it.
        options: what the program is told (JSON values only).
        cuts: the cuts to measure.
        tier: how far the claim reaches.
        reference: the cut every other is compared with; None takes one rank with the same micro-batches.
        oracle: options that the reference has instead, and `program` if another one gives it (a dense computation).
        quantity: prefix of the tensors that are compared.
        places: where to look when it differs; the first that the tree has is reported.
        essential: whether the short suite runs it (then with `essential_cuts` if given).
        wide_cuts: cuts over more than four ranks, which the full suite adds where there are as many.
        scales: numbers that a ratio may equal, by name, besides the sizes of the cut.
    """

    name: str
    family: str
    claim: str
    program: str
    options: Mapping[str, Any]
    cuts: tuple[Cut, ...]
    tier: Tier = Tier.EXACT
    reference: Cut | None = None
    oracle: Mapping[str, Any] | None = None
    quantity: str = ""
    tolerance: float = TOLERANCE
    tolerance_reason: str = TOLERANCE_REASON
    places: tuple[Place, ...] = ()
    code: str = "GRD600"
    essential: bool = False
    essential_cuts: tuple[Cut, ...] = ()
    wide_cuts: tuple[Cut, ...] = ()
    scales: Mapping[str, float] = field(default_factory=dict)

    def cuts_of(self, suite: str, ranks: int = 0) -> tuple[Cut, ...]:
        """The cuts that a suite measures; none if the case is not part of it. `ranks` is how many there are."""
        if suite == "full":
            return (*self.cuts, *(cut for cut in self.wide_cuts if cut.ranks <= ranks))
        return (self.essential_cuts or self.cuts) if self.essential else ()

    def run(self, cut: Cut) -> Run:
        """The measurement at one cut."""
        return Run(self.program, self.options, cut)

    def reference_run(self, cut: Cut) -> Run:
        """The measurement that `cut` must equal."""
        reference = self.reference or Cut(mbs=cut.mbs)
        options = {**self.options, **(self.oracle or {})}
        return Run(options.pop("program", self.program), options, reference)
