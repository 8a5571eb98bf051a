"""Findings grouped by what a person acts on: the fix that was lost, else the file with the same kind of trouble."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from guard.model import Finding, Origin, Side, Verdict
from guard.report.plain import one_line, plural

LOST_TEST = "GRD207"
MARKERS = "GRD308"
SMALL_EDIT = 8
"""Tokens that a small edit adds and takes away: `* bsz` is two, another argument or process group about four."""
_IN_PLACE = frozenset({Verdict.REVERTED, Verdict.PARTLY, Verdict.DEAD})
_TOKEN = re.compile(r"\w+|[^\w\s]")
_COMMENT = re.compile(r"#.*")

_SAID = {
    Verdict.LOST: "is lost",
    Verdict.REVERTED: "is reverted",
    Verdict.PARTLY: "is partly lost",
    Verdict.DEAD: "is there but dead",
    Verdict.REVIVED: "deleted code that is back",
    Verdict.TWICE: "is done twice",
    Verdict.SUPERSEDED: "is superseded",
    Verdict.REMOVED: "was taken out later",
}
# What the headline says when one fix met several fates: the loudest first.
_LOUDEST = (
    Verdict.REVERTED,
    Verdict.LOST,
    Verdict.DEAD,
    Verdict.PARTLY,
    Verdict.REVIVED,
    Verdict.TWICE,
    Verdict.SUPERSEDED,
    Verdict.REMOVED,
)


@dataclass(frozen=True, slots=True)
class Group:
    """The findings of one fix, or of one kind in one file; the worst first."""

    origin: Origin | None
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The finding that stands for the group."""
        return self.findings[0]

    @property
    def label(self) -> str:
        """`#5798`, a short SHA, or the name of the code."""
        return origin_label(self.origin) if self.origin else self.worst.name

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it speaks of, those with the worst finding first."""
        return tuple(dict.fromkeys(finding.path for finding in self.findings))


def origin_label(origin: Origin) -> str:
    """How people call a change: its pull request number, else its short SHA."""
    return f"#{origin.pr}" if origin.pr is not None else origin.commit[:10]


def subject_of(origin: Origin) -> str:
    """The first line of the commit message, without the pull request number that the label already says."""
    return one_line(origin.subject.removesuffix(f"(#{origin.pr})"))


def silent_edit(finding: Finding) -> int:
    """The tokens of a small numeric edit of a tested fix that is gone from a place that otherwise still stands.

    Such a loss leaves no other trace: nothing fails to import, no feature is missing, only a number is wrong. So it
    comes before larger losses, whatever their score.

    Returns:
        How many tokens the edit added and took away, at most `SMALL_EDIT`; 0 if the finding is no such loss.
    """
    if not finding.numeric or finding.verdict not in _IN_PLACE or finding.lost_side is None or not finding.origins:
        return 0
    origin = finding.origins[0]
    if not origin.is_fix or not origin.tests or finding.evidence.merged is None:
        return 0
    lost = finding.evidence.ours if finding.lost_side is Side.OURS else finding.evidence.theirs
    base = finding.evidence.base
    if lost is None or base is None:
        return 0
    before, after = _tokens(base), _tokens(lost)
    changed = (before - after).total() + (after - before).total()
    return changed if changed <= SMALL_EDIT else 0


def _tokens(text: str) -> Counter[str]:
    """The tokens of a piece of Python as far as their number matters here: without comments and white space."""
    return Counter(_TOKEN.findall(_COMMENT.sub("", text)))


def rank(finding: Finding) -> tuple[int, int, float, int, int, str, int, str]:
    """Sort key, worst first: severity, silent loss, score, numeric, with an origin; the place breaks ties."""
    return (
        finding.severity.rank,
        0 if silent_edit(finding) else 1,
        -finding.score,
        0 if finding.numeric else 1,
        0 if finding.origins else 1,
        finding.path,
        finding.line,
        finding.fingerprint,
    )


def group(findings: Iterable[Finding]) -> list[Group]:
    """Group by the first origin's pull request or commit, else by code and path.

    Returns:
        The worst group first: by the severity of its worst finding, then silent losses, then by score. A fix that was
        nothing but one small edit comes before one that lost more as well, since that one shows elsewhere too; and
        the smaller edit before the larger.
    """
    members: dict[object, list[Finding]] = {}
    for finding in sorted(findings, key=rank):
        key: object = (finding.code, finding.path)
        if finding.code == MARKERS:
            key = MARKERS
        elif finding.origins:
            origin = finding.origins[0]
            key = origin.pr if origin.pr is not None else origin.commit
        members.setdefault(key, []).append(finding)
    groups = [
        Group(found[0].origins[0] if found[0].origins and key != MARKERS else None, tuple(found))
        for key, found in members.items()
    ]
    return sorted(groups, key=_group_rank)


def _group_rank(found: Group) -> tuple[int, int, int]:
    """Sort key of a group; equal ones keep the order of their worst findings. Files with markers explain the rest."""
    if found.worst.code == MARKERS:
        return found.worst.severity.rank, -1, 0
    edits = [silent_edit(finding) for finding in found.findings]
    if not any(edits):
        return found.worst.severity.rank, 2, 0
    if not all(edits):
        return found.worst.severity.rank, 1, 0
    return found.worst.severity.rank, 0, sum(edits)


def headline(found: Group, room: int | None = None) -> str:
    """One sentence: `is reverted in router.py; its test is still there`; without its tail if `room` is too small."""
    if found.origin is None:
        if found.worst.code == MARKERS and len(found.paths) > 1:
            return f"{len(found.paths)} files have markers of a conflict left in them"
        return one_line(found.worst.message)
    verdicts = Counter(finding.verdict for finding in found.findings if finding.severity is found.worst.severity)
    said = next((_SAID[verdict] for verdict in _LOUDEST if verdicts[verdict]), None)
    if said is None:
        return f"meets {plural(len(found.findings), 'break')} in {places(found)}"
    tail = _tests(found)
    whole = f"{said} in {places(found)}" + (f"; {tail}" if tail else "")
    return whole if room is None or len(whole) <= room else f"{said} in {places(found)}"


def places(found: Group) -> str:
    """The files of a group in words: `a.py and b.py`, `a.py and 3 other files`."""
    names = [posixpath.basename(path) for path in found.paths]
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]} and {plural(len(names) - 1, 'other file')}"


def _tests(found: Group) -> str:
    """What the report knows of the tests that came with the fix; empty where the commit touched none."""
    if any(finding.code == LOST_TEST for finding in found.findings):
        return "its test is lost too" if len(found.findings) > 1 else ""
    if found.origin is None or not found.origin.tests:
        return ""
    return "its test is still there" if len(found.origin.tests) == 1 else "its tests are still there"
