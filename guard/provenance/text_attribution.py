"""Ask history about lost text: which commit made it, and which one of the other side decided against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from guard.documents.units import Unit
from guard.git import Repository
from guard.judge.text_changes import LostUnit
from guard.judge.text_files import TextFile, WholeFile
from guard.model import Origin, Side, Verdict
from guard.provenance.blame import Strokes, blamed, origins, strokes, telling
from guard.sync.topology import Sync

DECIDED = 0.6  # least share of a text that the other side had and took out for that to be its decision


@dataclass(frozen=True, slots=True)
class LostText:
    """What one commit of one side did to one file and is not in merged.

    Attributes:
        units: in the order of the side's file; all losses, or none of them (superseded, removed on purpose).
        origins: commits behind it.
        by: the commit that superseded or removed it.
    """

    file: TextFile
    side: Side
    units: tuple[LostUnit, ...]
    origins: tuple[Origin, ...] = ()
    by: Origin | None = None


def attribute_text(repository: Repository, sync: Sync, files: Sequence[TextFile]) -> list[LostText]:
    """Give the lost units of judged files their commits, and put together what one commit did to one file."""
    known = _strokes(repository, sync, files)
    parts: list[tuple[LostText, str, str]] = []
    for file in files:
        for side, verdicts in file.verdicts.items():
            parts.extend(_of_side(file, side, verdicts.lost, known))
    facts = origins(repository, (sha for _, commit, by in parts for sha in (commit, by) if sha))
    return [
        replace(part, origins=(facts[commit],) if commit in facts else (), by=facts.get(by))
        for part, commit, by in parts
    ]


def file_history(repository: Repository, sync: Sync, whole: WholeFile) -> tuple[tuple[Origin, ...], Origin | None]:
    """The last commit of the side that touched a file, and the one of the other side that deleted it, if one did."""
    if whole.side is None:
        return (), None
    own, other = (sync.ours, sync.theirs) if whole.side is Side.OURS else (sync.theirs, sync.ours)
    paths = [path for path in (whole.places.of(whole.side.value), whole.places.base) if path is not None]
    mine = _newest(repository, own, sync.bases, paths, ())
    gone = _newest(repository, other, sync.bases, paths, ("--diff-filter=D",)) if whole.what == "file" else ""
    facts = origins(repository, filter(None, (mine, gone)))
    return ((facts[mine],) if mine in facts else ()), facts.get(gone)


def source_lines(file: TextFile, tree: str, unit: Unit | None) -> tuple[str, ...]:
    """The lines of a unit in one tree's file, stripped."""
    if unit is None:
        return ()
    lines = file.documents[tree].lines[unit.line - 1 : unit.end_line]
    return tuple(line.strip() for line in lines if line.strip())


def _newest(repository: Repository, tip: str, bases: Iterable[str], paths: list[str], more: Sequence[str]) -> str:
    limits = [f"^{base}" for base in bases]
    found = repository.git("log", "-1", "--format=%H", *more, tip, *limits, "--", *paths)
    return found.decode("ascii", "replace").strip()


def _strokes(repository: Repository, sync: Sync, files: Sequence[TextFile]) -> dict[Side, Strokes]:
    lines: set[str] = set()
    paths: set[str] = set()
    for file in files:
        found = [(side, unit) for side, verdicts in file.verdicts.items() for unit in verdicts.lost]
        for side, lost in found:
            lines.update(source_lines(file, side.value, lost.new), source_lines(file, "base", lost.old))
            lines.update(source_lines(file, side.other.value, lost.other))
        if found:
            places = file.places
            paths.update(path for path in (places.base, places.ours, places.theirs, places.merged) if path)
    tips = {Side.OURS: sync.ours, Side.THEIRS: sync.theirs}
    if not paths:
        return {side: Strokes() for side in Side}
    return {side: strokes(repository, tips[side], sync.bases, lines, sorted(paths)) for side in Side}


def _of_side(
    file: TextFile, side: Side, lost: Sequence[LostUnit], known: dict[Side, Strokes]
) -> Iterable[tuple[LostText, str, str]]:
    """The lost units of one side's changes by commit: (part, commit, commit that decided against it)."""
    path = file.places.of(side.value) or file.places.shown
    groups: dict[tuple[str, str, bool], list[LostUnit]] = defaultdict(list)
    candidates = [_candidates(file, unit, known[side], path) for unit in lost]
    weights: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for found, shas in zip(lost, candidates, strict=True):
        for sha in shas:  # a line that many commits wrote tells little
            weights[found.hunk][sha] += len(found.unit.text) / len(shas)
    for found, shas in zip(lost, candidates, strict=True):
        run = weights[found.hunk]
        # A line too short to tell its author belongs to the rest of its run.
        commit = max(shas or run, key=lambda sha: run[sha], default="")
        by = _decided(file, found, known[side.other], file.places.of(side.other.value) or path)
        explained = Verdict.SUPERSEDED if found.verdict is Verdict.REVIVED else Verdict.REMOVED
        unit = replace(found, verdict=explained) if by and found.verdict.is_loss else found
        groups[commit, by, unit.verdict.is_loss].append(unit)
    for (commit, by, _), units in groups.items():
        yield LostText(file, side, tuple(units)), commit, by


def _candidates(file: TextFile, unit: LostUnit, own: Strokes, path: str) -> list[str]:
    """The commits of the side that put the unit's lines in (took them out, for a deletion), newest first."""
    known, lines = own.added, source_lines(file, unit.side.value, unit.new)
    if not lines:
        known, lines = own.removed, source_lines(file, "base", unit.old)
    found = [stroke for line in lines for stroke in known.get(line, ())]
    here = [stroke.commit for stroke in found if stroke.path == path]
    return list(dict.fromkeys(here or [stroke.commit for stroke in found]))


def _decided(file: TextFile, unit: LostUnit, other: Strokes, path: str) -> str:
    """The commit of the other side that took out what the side put in, or went on with what the side took out."""
    if unit.verdict is Verdict.SUPERSEDED:
        votes = blamed(other.removed, source_lines(file, "base", unit.old), path)
        votes = votes or blamed(other.added, source_lines(file, unit.side.other.value, unit.other), path)
    else:
        back = unit.verdict is Verdict.REVIVED
        lines = source_lines(file, "base", unit.old) if back else source_lines(file, unit.side.value, unit.new)
        did, undid = (other.removed, other.added) if back else (other.added, other.removed)
        lines = tuple(line for line in lines if telling(line))
        agreed = [
            line
            for line in lines
            if any(stroke.path == path for stroke in did.get(line, ()))
            and _order(did, line, path) > _order(undid, line, path) >= 0
        ]
        votes = blamed(undid, agreed, path) if lines and len(agreed) >= DECIDED * len(lines) else {}
    return max(votes, key=lambda sha: votes[sha]) if votes else ""


def _order(known: dict, line: str, path: str) -> int:  # type: ignore[type-arg]
    """How many commits back the newest stroke on a line lies; -1 for none."""
    return next((stroke.order for stroke in known.get(line, ()) if stroke.path == path), -1)
