"""GRD205 for a file: lines that a side took out and that are back, where every finding there is about what is missing.

A change that replaced one text by another and is lost has two signs: the new text is missing, and the old one is back.
It is one finding, and that speaks of what is missing. Where a sync brings the old text of several files back, that is
a fact of its own: whoever looked for lost lines alone would see none in a merge that undoes deletions. Then notes say
the other sign, once for a file and a side. In one file or two the findings themselves say enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from guard.codes import name_of
from guard.documents.definitions import MODULE
from guard.judge.changes import JudgedChange
from guard.model import Confidence, Finding, Related, Severity, Side, Verdict, fingerprint
from guard.provenance.text_attribution import LostText

SEVERAL = 3  # files of one side with something back, from which on it is no matter of single changes
_MOST_NAMED = 5  # findings that the note points to
_LONGEST = 80  # characters of the line that it quotes


def returned(told: Iterable[tuple[Sequence[JudgedChange], Finding]]) -> list[Finding]:
    """Notes for Python files, from judged changes and the findings that tell of them."""
    files: dict[tuple[str, Side], _Returned] = {}
    for group, finding in told:
        lines = [line for change in group for piece in change.pieces for line in piece.back_lines]
        files.setdefault((finding.path, group[0].side), _Returned()).add(finding, lines)
    return _notes(files)


def returned_text(told: Iterable[tuple[LostText, Finding]]) -> list[Finding]:
    """Notes for other files, from lost units and the findings that tell of them."""
    files: dict[tuple[str, Side], _Returned] = {}
    for part, finding in told:
        back = [unit.old for unit in part.units if unit.old and unit.verdict in (Verdict.REVERTED, Verdict.REVIVED)]
        lines = [line.strip() for unit in back for line in unit.text.splitlines()]
        files.setdefault((finding.path, part.side), _Returned()).add(finding, lines)
    return _notes(files)


def sums_up(finding: Finding) -> bool:
    """Whether a finding says of a whole file what others say one by one, so that nothing of its own can be restored."""
    if finding.code == "GRD209":
        return True
    return finding.code == "GRD205" and finding.severity is Severity.NOTE and not finding.fixable


@dataclass(slots=True)
class _Returned:
    """What is back in one file: the lines, and the findings that tell of them with what is missing."""

    lines: dict[str, None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    told: bool = False

    def add(self, finding: Finding, lines: Sequence[str]) -> None:
        if finding.severity is Severity.NOTE or finding.verdict is None or not finding.verdict.is_loss:
            return
        self.told = self.told or finding.verdict is Verdict.REVIVED
        if any(lines):
            self.lines.update(dict.fromkeys(filter(None, lines)))
            self.findings.append(finding)


def _notes(files: Mapping[tuple[str, Side], _Returned]) -> list[Finding]:
    sides = Counter(side for (_, side), found in files.items() if found.lines)
    return [
        _note(path, side, found)
        for (path, side), found in files.items()
        if found.lines and not found.told and sides[side] >= SEVERAL
    ]


def _note(path: str, side: Side, found: _Returned) -> Finding:
    lines, first = list(found.lines), found.findings[0]
    shown = lines[0] if len(lines[0]) <= _LONGEST else lines[0][: _LONGEST - 1] + "…"
    more = f" and {len(lines) - 1} more, which {side.value} had" if len(lines) > 1 else f", which {side.value} had"
    are = "are" if len(lines) > 1 else "is"
    message = f"`{shown}`{more} taken out of this file, {are} back in the place of what is missing"
    return Finding(
        code="GRD205",
        name=name_of("GRD205"),
        severity=Severity.NOTE,
        path=path,
        line=first.line,
        message=message,
        fingerprint=fingerprint("GRD205", path, MODULE, f"{side.value} file {' '.join(lines)}"),
        confidence=Confidence.HIGH,
        symbol=MODULE,
        lost_side=side,
        verdict=Verdict.REVIVED,
        evidence=first.evidence,
        related=tuple(
            Related(path, other.line, f"{other.code} {other.fingerprint} tells of it")
            for other in found.findings[:_MOST_NAMED]
        ),
        score=0.4,
    )
