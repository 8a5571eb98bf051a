"""How soon someone must act on a lost change, and how sure the judge is: one table, the first row that fits counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from guard.documents.unread import UNREAD
from guard.judge.changes import JudgedChange, LostEdit
from guard.judge.directives import DIRECTIVE
from guard.judge.doubts import in_doubt, is_contested, lost_its_place
from guard.judge.numeric import is_numeric, is_test
from guard.model import Confidence, Severity, Verdict

MOST_IN_DOUBT = 8  # pieces for each precise one: where the other side wrote all around anew, one edit proves little


@dataclass(frozen=True, slots=True)
class Facts:
    """What severity depends on.

    Attributes:
        verdict: of the whole group.
        numeric: a lost part can alter a computed number.
        fix: a commit behind it says that it mends something.
        certain: a lost edit of which nothing speaks against the loss bears on a number, or a fix is behind it.
        precise: a numeric edit at a spot where the other side did nothing, not outvoted by others in doubt.
        certain_number: like `certain`, and numeric.
        directive, as_text, imports, test, elsewhere: what kind of text it is, and if a form stands elsewhere.
        carried: only syncs made the lost part what it is; `rightly`: it was undone, or the other side went on with it.
        back: everything about it is a deletion that is back.
    """

    verdict: Verdict
    numeric: bool
    fix: bool
    certain: bool
    precise: bool
    certain_number: bool
    directive: bool
    as_text: bool
    imports: bool
    test: bool
    elsewhere: bool
    carried: bool
    rightly: bool
    back: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table; without a confidence, the evidence's own counts."""

    fits: Callable[[Facts], bool]
    severity: Severity
    confidence: Confidence | None = None


TABLE: tuple[Row, ...] = (
    Row(lambda f: f.directive, Severity.NOTE),
    Row(lambda f: f.carried and f.rightly, Severity.NOTE, Confidence.LOW),
    Row(lambda f: f.carried, Severity.WARNING, Confidence.LOW),
    Row(lambda f: f.as_text, Severity.NOTE, Confidence.LOW),
    Row(lambda f: f.imports, Severity.WARNING),
    Row(lambda f: f.elsewhere, Severity.WARNING, Confidence.LOW),
    Row(lambda f: f.test, Severity.WARNING),
    Row(lambda f: f.verdict is Verdict.TWICE and f.numeric, Severity.ERROR),
    Row(lambda f: f.verdict is Verdict.TWICE, Severity.WARNING),
    Row(lambda f: f.verdict is Verdict.DEAD and (f.numeric or f.fix), Severity.ERROR, Confidence.MEDIUM),
    Row(lambda f: f.verdict is Verdict.DEAD, Severity.WARNING, Confidence.MEDIUM),
    Row(lambda f: f.back and f.certain_number and f.fix, Severity.ERROR),
    Row(lambda f: f.back, Severity.WARNING),
    Row(lambda f: f.certain or f.precise, Severity.ERROR),
    Row(lambda _: True, Severity.WARNING),
)


def severity_of(
    group: Sequence[JudgedChange], pieces: Sequence[LostEdit], verdict: Verdict, *, numeric: bool
) -> tuple[Severity, Confidence]:
    """The severity of changes that are told as one finding, and how sure it is."""
    facts = facts_of(group, pieces, verdict, numeric=numeric)
    row = next(row for row in TABLE if row.fits(facts))
    return row.severity, row.confidence or _confidence(pieces)


def facts_of(group: Sequence[JudgedChange], pieces: Sequence[LostEdit], verdict: Verdict, *, numeric: bool) -> Facts:
    """What the table asks for."""
    first = group[0]
    fix = any(origin.is_fix for change in group for origin in change.origins)
    outvoted = sum(piece.precise for piece in pieces) * MOST_IN_DOUBT <= len(pieces)
    numbers = [piece for piece in pieces if is_numeric(piece.words)]
    return Facts(
        verdict=verdict,
        numeric=numeric,
        fix=fix,
        certain=any(_sure(p) and (fix or (p in numbers and not p.imported)) for p in pieces),
        precise=any(p.precise and not p.imported for p in numbers) and not outvoted,
        certain_number=any(map(_sure, numbers)),
        directive=first.kind == DIRECTIVE,
        as_text=all(UNREAD in "".join((*piece.missing, *piece.back)) for piece in pieces),
        imports=all(piece.imported for piece in pieces),
        test=is_test(first.place.path),
        elsewhere=bool(first.elsewhere),
        carried=all(change.carried for change in group),
        rightly=all((piece.back and not piece.missing) or in_doubt(piece) for piece in pieces),
        back=all(piece.verdict is Verdict.REVIVED for piece in pieces),
    )


def _confidence(pieces: Sequence[LostEdit]) -> Confidence:
    if any(not is_contested(piece) for piece in pieces):
        return Confidence.HIGH
    return Confidence.MEDIUM if any(not lost_its_place(piece) for piece in pieces) else Confidence.LOW


def _sure(piece: LostEdit) -> bool:
    """Whether nothing speaks against the loss of a piece."""
    return not in_doubt(piece) and not lost_its_place(piece)
