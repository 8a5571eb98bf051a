"""One finding for changes that are one to a reader: code, severity, rank, fingerprint."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from guard.checks.severity import severity_of
from guard.checks.wording import message_of
from guard.codes import name_of
from guard.documents.unread import UNREAD
from guard.judge.changes import JudgedChange, LostEdit
from guard.judge.directives import DIRECTIVE
from guard.judge.doubts import is_contested
from guard.judge.numeric import is_numeric, is_test
from guard.judge.tokens import content
from guard.model import Finding, Related, Severity, Survival, Verdict, fingerprint

_CODE = {
    Verdict.REVERTED: "GRD201", Verdict.LOST: "GRD202", Verdict.PARTLY: "GRD203", Verdict.DEAD: "GRD204",
    Verdict.REVIVED: "GRD205", Verdict.TWICE: "GRD309", Verdict.SUPERSEDED: "GRD202",
}  # fmt: skip
MANY_GONE = 30  # lost changes of one file and side, none of them kept, that weigh as much as a number
_WORST_FIRST = (
    Verdict.TWICE, Verdict.REVERTED, Verdict.PARTLY, Verdict.LOST, Verdict.DEAD, Verdict.REVIVED, Verdict.SUPERSEDED,
)  # fmt: skip


def finding_of(
    group: Sequence[JudgedChange], tests_there: Sequence[str] = (), survival: Survival | None = None
) -> Finding:
    """Tell changes of one side to one definition, with one commit behind them, as one finding.

    Arguments:
        tests_there: tests of the commit that still stand in merged.
        survival: how many of the side's changes to the same file are in effect.
    """
    first = max(group, key=lambda change: (change.numeric, len(change.pieces)))
    pieces = [piece for change in group for piece in change.pieces]
    verdict = _verdict(group, pieces)
    lead = max(first.pieces, key=lambda p: (p.verdict is verdict, bool(p.missing), not p.imported, is_numeric(p.words)))
    code = _code(first, verdict)
    numeric = any(change.numeric for change in group)
    severity, confidence = severity_of(group, pieces, verdict, numeric=numeric)
    text = " ".join(part for piece in pieces for part in (*piece.missing, "|", *piece.back))
    place, subject = first.place, lead.subject or first.subject
    return Finding(
        code=code,
        name=name_of(code),
        severity=severity,
        path=place.path,
        line=lead.line,
        message=message_of(group, verdict, tests_there),
        fingerprint=fingerprint(code, place.path, place.symbol, f"{first.side.value} {text or first.reason}"),
        confidence=confidence,
        end_line=lead.end_line,
        symbol=place.symbol,
        subject=subject if subject != UNREAD else None,
        lost_side=first.side,
        verdict=verdict,
        numeric=numeric,
        origins=first.origins,
        evidence=lead.evidence,
        related=_related(first, tests_there),
        fixable=verdict not in (Verdict.DEAD, Verdict.TWICE) and first.kind != DIRECTIVE,
        because=tuple(sorted({name for p in pieces for name in (p.because, *p.doubts) if name})),
        score=_score(first, pieces, numeric, severity, survival),
    )


def taken_out_later(group: Sequence[JudgedChange], lost: Container[str] = ()) -> Finding:
    """Tell changes that the sync had and one later commit (`by`) took out: a note, for it was somebody's decision.

    Arguments:
        lost: SHAs of commits of which the sync lost something. A test of one of them that was taken out is the evidence
            of that loss, and a warning.
    """
    finding, by = finding_of(group), group[0].by
    named = "" if by is None else f"#{by.pr}" if by.pr is not None else by.commit[:10]
    message = f"{finding.message}: the sync had it so, and {named} ({by.subject if by else ''}) changed it on purpose"
    if is_test(finding.path) and any(origin.commit in lost for change in group for origin in change.origins):
        message += "; it tests what the sync lost"
        return replace(finding, severity=Severity.WARNING, verdict=Verdict.REMOVED, message=message)
    score = min(finding.score, 0.5)
    return replace(finding, severity=Severity.NOTE, verdict=Verdict.REMOVED, message=message, score=score)


def superseded(group: Sequence[JudgedChange]) -> Finding:
    """Tell changes in whose place the other side's work stands: a note, for both cannot be had."""
    by = group[0].by
    finding = finding_of(group)
    other = group[0].side.other.value
    named = "" if by is None else f" (#{by.pr})" if by.pr is not None else f" ({by.commit[:10]})"
    message = f"{finding.message}; {other} rewrote what it stood on{named}"
    score = min(finding.score, 0.4)
    return replace(finding, severity=Severity.NOTE, verdict=Verdict.SUPERSEDED, message=message, score=score)


def _verdict(group: Sequence[JudgedChange], pieces: Sequence[LostEdit]) -> Verdict:
    """Revived where more was taken out, and is back, than was put in or rewritten, and is not; else the worst."""
    out = sum(_weight(piece) for piece in pieces if piece.verdict is Verdict.REVIVED)
    if out > sum(_weight(piece) for piece in pieces if piece.verdict is not Verdict.REVIVED):
        return Verdict.REVIVED
    return next(kind for kind in _WORST_FIRST if any(change.verdict is kind for change in group))


def _weight(piece: LostEdit) -> int:
    """The names, values and operators of a piece: a long statement says more than a short one."""
    return max(1, len(content(piece.words)))


def _code(first: JudgedChange, verdict: Verdict) -> str:
    if first.kind == "file":
        return "GRD206"
    if first.kind == "definition" and verdict is Verdict.LOST and is_test(first.place.path):
        return "GRD207"
    return _CODE[verdict]


def _score(
    first: JudgedChange, pieces: Sequence[LostEdit], numeric: bool, severity: Severity, survival: Survival | None
) -> float:
    """Numeric × fix × has a test × strength of the evidence × what else of the file went, and a little for size."""
    fix = any(origin.is_fix for origin in first.origins)
    tests = any(origin.tests for origin in first.origins)
    certain = sum(1 for piece in pieces if not is_contested(piece)) / max(1, len(pieces))
    score = (3.0 if numeric else 1.0) * (2.0 if fix else 1.0) * (1.3 if tests else 1.0) * (1.0 + certain)
    score *= 1.0 + min(len(pieces), 20) / 20
    if survival is not None and survival.total:
        # One lost fix may be a slip; where thirty changes of a file went and hardly any is left, the file was taken.
        gone = survival.total - survival.kept
        score *= 1.0 + 2.0 * gone / survival.total * min(gone, MANY_GONE) / MANY_GONE
    return round(score * (1.0 if severity is Severity.ERROR else 0.3 if is_test(first.place.path) else 0.7), 3)


def _related(first: JudgedChange, tests_there: Sequence[str]) -> tuple[Related, ...]:
    found = [Related(path, 1, "a test of the same commit, still in merged") for path in tests_there[:3]]
    if (first.source.path, first.source.symbol) != (first.place.path, first.place.symbol):
        where = Related(first.source.path, first.source.line, f"where {first.side.value} has it", first.side.value)
        found.insert(0, where)
    return tuple(found)
