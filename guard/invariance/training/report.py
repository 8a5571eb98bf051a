"""What `check` found: one row a cut, and a text that names the fault."""

from __future__ import annotations

from dataclasses import dataclass

from guard.invariance.case import Cut


@dataclass(frozen=True)
class StepRow:
    """One cut against the reference.

    Attributes:
        status: `ok`, `differs` or `failed`.
        ratio: |g_cut| / |g_ref| over all tensors, None where nothing was compared.
        rel: largest, over tensors, of max|g_cut - g_ref| / max|g_ref|.
        reason: why it is not ok.
        scale: the number by which the whole gradient is the reference, if it is that.
        named: what the scale equals, such as `1/DP`, over all cuts.
        made_of: what the wrong gradient is instead, where that is known.
    """

    cut: Cut
    accumulation: int
    status: str
    ratio: float | None = None
    rel: float | None = None
    reason: str | None = None
    scale: float | None = None
    named: str | None = None
    made_of: str | None = None

    def __str__(self) -> str:
        line = f"{self.status:8}{self.cut.label()}, accumulation {self.accumulation}"
        if self.ratio is not None and self.rel is not None:
            named = f" (= {self.named})" if self.named else ""
            line += f"  ratio {self.ratio:.4f}{named}  rel {self.rel:.1e}"
        line += f"\n        {self.reason}" if self.reason else ""
        return line + (f"\n        the gradient is {self.made_of}" if self.made_of else "")


@dataclass(frozen=True)
class StepReport:
    """All cuts of one check."""

    rows: tuple[StepRow, ...]
    reference: str
    tolerance: float

    @property
    def ok(self) -> bool:
        """Whether every cut was measured and none differs."""
        return bool(self.rows) and all(row.status == "ok" for row in self.rows)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        word = "do not depend" if self.ok else "depend (or could not be measured)"
        head = f"gradients {word} on how the batch is cut; reference: {self.reference}; tolerance {self.tolerance:g}"
        return "\n".join([head, *map(str, self.rows)])
