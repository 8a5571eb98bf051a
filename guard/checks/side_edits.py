"""A side's own edits to the file of a finding, in sets from the smallest to all: what a restoration tries."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from guard.checks.textual import judged, told_of
from guard.documents.definitions import MODULE, parse
from guard.documents.kinds import is_python
from guard.errors import NotAnalysedError
from guard.judge.text_files import FileJudge, TextFile
from guard.merging.restoring import LineEdit, line_by_line, line_edits, split_lines
from guard.model import Finding, Side
from guard.provenance.text_attribution import LostText
from guard.sync.trees import FourTrees

_MOST_ALONE = 4

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SideEdits:
    """The texts that a change is taken from and brought into.

    Attributes:
        owner: the side whose change it is.
        base_path, side_path, other_path, merged_path: the file in each tree; None where a tree does not have it.
        lost: the units of a finding on a file that is not Python.
    """

    owner: Side
    base_path: str | None
    side_path: str | None
    other_path: str | None
    merged_path: str
    base: bytes
    side: bytes
    merged: bytes
    lost: LostText | None = None

    @classmethod
    def of(cls, trees: FourTrees, finding: Finding) -> SideEdits | None:
        """The edits of the side that lost something; None where that is no text in merged."""
        owner = finding.lost_side
        if owner is None or finding.path not in trees.merged or trees.merged[finding.path].kind != "file":
            return None
        lost = lost_text(trees, finding)
        if lost is not None:
            places = lost.file.places
            base, side, other = places.base, places.of(owner.value), places.of(owner.other.value)
        else:
            told = next((item.path for item in finding.related if item.tree == owner.value), finding.path)
            tree = trees.ours if owner is Side.OURS else trees.theirs
            side = told if told in tree else finding.path
            base, other = (side if side in trees.base else finding.path), finding.path
            if base not in trees.base:
                base = trees.renames.source(base) or base
        before = (trees.blob("base", base) if base else None) or b""
        made = (trees.blob(owner.value, side) if side else None) or b""
        merged = trees.blob("merged", finding.path) or b""
        return cls(owner, base, side, other, finding.path, before, made, merged, lost)

    def candidates(self, finding: Finding) -> Iterator[Sequence[LineEdit]]:
        """Sets of the side's edits that may bring the change back, smallest first."""
        edits = line_edits(split_lines(self.base), split_lines(self.side))
        seen: set[tuple[LineEdit, ...]] = set()
        for chosen in self._of_text(edits) if self.lost is not None else self._of_python(finding, edits):
            key = tuple(chosen)
            if key and key not in seen:
                seen.add(key)
                yield key

    def against_other(self, trees: FourTrees) -> SideEdits | None:
        """The same change as what sets the side's form apart from the other side's; None where that has no such file.

        For a file that the base does not have: both sides added it, or one moved it there.
        """
        other = trees.blob(self.owner.other.value, self.other_path) if self.other_path else None
        return None if other is None else replace(self, base=other, base_path=self.other_path)

    def own(self, finding: Finding) -> str:
        """The side's own edit, as a unified diff without file names."""
        base, side = split_lines(self.base), split_lines(self.side)
        edits = line_edits(base, side)
        near = next(iter(self._of_text(edits)), edits) if self.lost is not None else self._near(finding, edits)
        rows: list[str] = []
        for edit in near[:8]:
            above, below = base[max(0, edit.start - 3) : edit.start], base[edit.end : edit.end + 3]
            before = [*above, *base[edit.start : edit.end], *below]
            after = [*above, *side[edit.first : edit.last], *below]
            rows += list(difflib.unified_diff(before, after, lineterm=""))[2:]
        return "\n".join(rows)

    def _of_python(self, finding: Finding, edits: list[LineEdit]) -> Iterator[list[LineEdit]]:
        near = self._near(finding, edits)
        told = {
            line.strip()
            for text in (getattr(finding.evidence, self.owner.value), finding.evidence.base)
            for line in (text or "").splitlines()
            if line.strip()
        }
        base, side = split_lines(self.base), split_lines(self.side)

        def speaks(edit: LineEdit) -> bool:
            lines = [*base[edit.start : edit.end], *side[edit.first : edit.last]]
            return any(line.strip() in told for line in lines if line.strip())

        telling = [edit for edit in near if speaks(edit)]
        yield [edit for edit in line_by_line(near) if speaks(edit)]
        yield from ([edit] for edit in telling[:_MOST_ALONE])
        yield telling
        yield from ([edit] for edit in near[:_MOST_ALONE])
        yield near
        if finding.evidence.merged is None:  # merged lacks what the edit replaced as well
            yield [LineEdit(edit.end, edit.end, edit.first, edit.last) for edit in telling or near]
        yield edits

    def _near(self, finding: Finding, edits: list[LineEdit]) -> list[LineEdit]:
        """The side's edits in the definition that a finding is about, cut down to it."""
        if finding.symbol == MODULE:
            inner = [_definitions(data) for data in (self.base, self.side)]
            return [
                edit
                for edit in edits
                if not (_inside(inner[0], edit.start, edit.end) and _inside(inner[1], edit.first, edit.last))
            ]
        old, new = (_span(data, finding.symbol) or (0, 0) for data in (self.base, self.side))
        if old == new == (0, 0):
            return edits
        # Several definitions that were added one after the other are one edit; only this one is wanted.
        before, made = set(range(*old)), set(range(*new))
        near = [edit for edit in edits if _wanted(edit, before, made)]
        return [self._narrowed(edit, before, made) for edit in near]

    def _of_text(self, edits: list[LineEdit]) -> Iterator[list[LineEdit]]:
        units = self.lost.units if self.lost is not None else ()
        new = {n - 1 for unit in units if unit.new for n in range(unit.new.line, unit.new.end_line + 1)}
        old = {n - 1 for unit in units if unit.old for n in range(unit.old.line, unit.old.end_line + 1)}
        touched = [edit for edit in edits if _wanted(edit, old, new)]
        yield [self._narrowed(edit, old, new) for edit in line_by_line(touched) if _wanted(edit, old, new)]
        yield [self._narrowed(edit, old, new) for edit in touched]
        yield touched
        yield from ([edit] for edit in touched)
        if all(unit.merged is None for unit in units):
            yield [LineEdit(edit.end, edit.end, edit.first, edit.last) for edit in touched]

    def _narrowed(self, edit: LineEdit, old: set[int], new: set[int]) -> LineEdit:
        """An edit cut down to the lines from the first to the last that are wanted, and blank lines around them."""
        start, end = _cut(edit.start, edit.end, old, split_lines(self.base))
        first, last = _cut(edit.first, edit.last, new, split_lines(self.side))
        return LineEdit(start, end, first, last)


def lost_text(trees: FourTrees, finding: Finding) -> LostText | None:
    """The lost units that a finding was made of; None where it was not made of text."""
    if finding.code != "GRD208":
        return None
    received = [path for path in trees.resolved if not is_python(path, stubs=True)]
    fates = judged(trees, [finding.path], FileJudge.of(trees, python=True), received)
    files = [fate for fate in fates if isinstance(fate, TextFile)]
    return next((part for part, found in told_of(trees, files) if found.fingerprint == finding.fingerprint), None)


def _wanted(edit: LineEdit, old: set[int], new: set[int]) -> bool:
    return bool(new.intersection(range(edit.first, edit.last)) or old.intersection(range(edit.start, edit.end)))


def _cut(start: int, end: int, wanted: set[int], lines: list[str]) -> Span:
    found = wanted.intersection(range(start, end))
    if not found:
        return start, start
    first, last = min(found), max(found) + 1
    above, below = first, last
    while above > start and not lines[above - 1].strip():
        above -= 1
    while below < end and not lines[below].strip():
        below += 1
    if (above, below) == (start, end):
        return above, below
    # In the middle of an edit the blank lines of one end are enough.
    return (above, last) if above < first else (first, below)


def _span(data: bytes, symbol: str) -> Span | None:
    """The lines (0-based, half open) of a definition, decorators and the comment lines above it included."""
    try:
        found = parse(data).definitions.get((symbol, 0))
    except NotAnalysedError:
        return None
    if found is None:
        return None
    lines = split_lines(data)
    start = found.line - 1
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start, found.end_line


def _definitions(data: bytes) -> list[Span]:
    """The lines (0-based, half open) of the classes and functions at the top level."""
    try:
        found = parse(data).definitions.values()
    except NotAnalysedError:
        return []
    return [(item.line - 1, item.end_line) for item in found if item.name != MODULE and "." not in item.name]


def _inside(spans: list[Span], start: int, end: int) -> bool:
    return any(first <= start and end <= last for first, last in spans)
