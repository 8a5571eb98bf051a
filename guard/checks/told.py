"""One finding for changes that are one to a reader: code, severity, message, rank, fingerprint."""

from __future__ import annotations

from collections.abc import Sequence

from guard.codes import name_of
from guard.history.changes import JudgedChange, Piece
from guard.history.numeric import is_test
from guard.model import Confidence, Finding, Related, Severity, Verdict, fingerprint

_CODE = {
    Verdict.REVERTED: "GRD201", Verdict.LOST: "GRD202", Verdict.PARTLY: "GRD203", Verdict.DEAD: "GRD204",
    Verdict.REVIVED: "GRD205",
}  # fmt: skip


def finding_of(group: Sequence[JudgedChange]) -> Finding:
    """Tell changes of one side to one definition, with one commit behind them, as one finding."""
    first = max(group, key=lambda change: (change.numeric, len(change.pieces)))
    verdict = _verdict(group)
    pieces = [piece for change in group for piece in change.pieces]
    lead = next((piece for piece in first.pieces), pieces[0])
    code = "GRD206" if first.kind == "file" else _CODE[verdict]
    numeric = any(change.numeric for change in group)
    severity, confidence = _severity(group, pieces, verdict, numeric)
    text = " ".join(part for piece in pieces for part in (*piece.missing, "|", *piece.back))
    place = first.place
    return Finding(
        code=code,
        name=name_of(code),
        severity=severity,
        path=place.path,
        line=lead.line,
        message=_message(first, pieces, verdict, len(group)),
        fingerprint=fingerprint(code, place.path, place.symbol, f"{first.side.value} {text}"),
        confidence=confidence,
        end_line=lead.end_line,
        symbol=place.symbol,
        subject=lead.subject or first.subject,
        lost_side=first.side,
        verdict=verdict,
        numeric=numeric,
        origins=first.origins,
        evidence=lead.evidence,
        related=_related(group),
        fixable=True,
        score=_score(group, pieces, numeric, severity),
    )


def _verdict(group: Sequence[JudgedChange]) -> Verdict:
    kinds = {change.verdict for change in group}
    for verdict in (Verdict.REVERTED, Verdict.PARTLY, Verdict.LOST, Verdict.DEAD):
        if verdict in kinds:
            return verdict
    return Verdict.REVIVED


def _severity(
    group: Sequence[JudgedChange], pieces: Sequence[Piece], verdict: Verdict, numeric: bool
) -> tuple[Severity, Confidence]:
    first = group[0]
    fix = any(origin.is_fix for change in group for origin in change.origins)
    strong = any(not piece.rewritten for piece in pieces)
    confidence = Confidence.HIGH if any(not p.contested for p in pieces) else Confidence.MEDIUM
    if is_test(first.place.path):
        return Severity.WARNING, confidence
    if verdict is not Verdict.REVIVED and strong and (numeric or fix):
        return Severity.ERROR, confidence
    return Severity.WARNING, confidence if strong else Confidence.LOW


def _score(group: Sequence[JudgedChange], pieces: Sequence[Piece], numeric: bool, severity: Severity) -> float:
    first = group[0]
    fix = any(origin.is_fix for origin in first.origins)
    tests = any(origin.tests for origin in first.origins)
    certain = sum(1 for piece in pieces if not piece.contested) / max(1, len(pieces))
    score = (3.0 if numeric else 1.0) * (2.0 if fix else 1.0) * (1.3 if tests else 1.0) * (1.0 + certain)
    score *= 1.0 + min(len(pieces), 20) / 20
    return round(score * (0.3 if is_test(first.place.path) else 1.0), 3)


def _message(first: JudgedChange, pieces: Sequence[Piece], verdict: Verdict, _count: int) -> str:
    missing = [text for piece in pieces for text in piece.missing]
    back = [text for piece in pieces for text in piece.back]
    whose = f"{first.side.value}' " if first.side.value.endswith("s") else f"{first.side.value}'s "
    parts = []
    if missing:
        parts.append(f"{whose}{_listed(missing)} is not in merged")
    if back:
        parts.append(
            f"{_listed(back)}, which {first.side.value} had removed, is {'back' if missing else 'back in merged'}"
        )
    origin = f" ({_commit(first)})" if first.origins else ""
    return "; ".join(parts) + origin


def _listed(texts: Sequence[str]) -> str:
    told = ", ".join(f"`{text}`" for text in texts[:3])
    return told if len(texts) <= 3 else f"{told} and {len(texts) - 3} more"


def _commit(change: JudgedChange) -> str:
    first = change.origins[0]
    return f"#{first.pr}" if first.pr else first.commit[:10]


def _related(group: Sequence[JudgedChange]) -> tuple[Related, ...]:
    first = group[0]
    if first.source.path == first.place.path and first.source.symbol == first.place.symbol:
        return ()
    return (Related(first.source.path, first.source.line, f"where {first.side.value} has it", first.side.value),)
