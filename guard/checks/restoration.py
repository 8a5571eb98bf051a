"""The smallest change to merged that brings back what a finding tells of, tried on the judge before it is offered."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from guard.checks import run_check
from guard.checks.contract import CheckContext
from guard.checks.textual import PYTHON, judged, told_of
from guard.config import Config
from guard.errors import NotAnalysedError
from guard.git import Entry
from guard.git.patch import store_blob
from guard.history.restoring import LineEdit, line_by_line, line_edits, reapply, split_lines
from guard.history.text.attribution import LostText
from guard.history.text.files import FileJudge, TextFile
from guard.history.text.units import is_binary
from guard.history.trees import FourTrees
from guard.model import Finding, Side, Verdict
from guard.source.definitions import MODULE, parse

_MOST_TRIES = 24
Changes = dict[str, Entry | None]


@dataclass(frozen=True, slots=True)
class Restoration:
    """What to change in merged, or why nothing can be offered.

    Attributes:
        changes: new entries by path; None where the file goes. Blobs lie in the scratch directory.
        refused: why there are none.
        own: the side's own edit as a hunk, for a person who has to do it by hand.
    """

    changes: Mapping[str, Entry | None]
    refused: str | None = None
    own: str = ""


def restore(trees: FourTrees, finding: Finding, config: Config, *, among_others: bool = False) -> Restoration:
    """Bring back what one finding of the family GRD2 tells of.

    Arguments:
        trees: the sync that the finding is of, merged as it is to be patched.
        among_others: merged was patched for other findings already, which may have brought this one back as well.
    """
    if not finding.code.startswith("GRD2") or finding.code == "GRD209":
        return Restoration({}, f"{finding.code} ({finding.name}) tells of no lost change: there is nothing to restore")
    whole = _whole(trees, finding)
    if whole is not None:
        return Restoration(whole)
    source = _Source.of(trees, finding)
    if source is None:
        return Restoration({}, f"{finding.path} is not in merged, or its change is of no file that can be read as text")
    before = _losses(trees, finding, config, source)
    if among_others and finding.fingerprint not in before:
        return Restoration({})
    second: Changes | None = None
    clean = False
    for edits in source.candidates(finding):
        patched = reapply(source.base, source.side, source.merged, edits)
        if patched is None or patched == source.merged:
            continue
        clean = True
        if finding.path.endswith(PYTHON) and not _parses(patched):
            continue
        old = trees.merged[source.merged_path]
        changes: Changes = {source.merged_path: Entry(old.mode, store_blob(trees.repository, patched))}
        after = _losses(with_changes(trees, changes), finding, config, source)
        if finding.fingerprint in after:
            continue
        new = [item for mark, item in after.items() if mark not in before]
        if not new:
            return Restoration(changes)
        if second is None and all(item.lost_side is finding.lost_side for item in new):
            second = changes
    if second is not None:
        return Restoration(second)
    reason = "does not apply cleanly to merged" if not clean else "applies, but does not bring the change into effect"
    if finding.verdict is Verdict.DEAD:
        reason = "is there already, and something else makes it inert: see the related places"
    return Restoration({}, f"the change of {source.owner.value} to {finding.path} {reason}", source.own(finding))


def with_changes(trees: FourTrees, changes: Mapping[str, Entry | None]) -> FourTrees:
    """The same sync with some files of merged changed."""
    merged = {path: entry for path, entry in {**trees.merged, **changes}.items() if entry is not None}
    return _fresh(trees, merged=merged)


def _fresh(trees: FourTrees, **forms: Mapping[str, Entry]) -> FourTrees:
    # Not dataclasses.replace: what the old trees worked out about paths must not come along.
    names = ("base", "ours", "theirs", "merged", "automatic")
    made = {name: dict(forms.get(name, getattr(trees, name))) for name in names}
    conflicts, blobs = trees.conflicts, trees._blobs
    return FourTrees(trees.repository, trees.sync, trees.base_tree, **made, conflicts=conflicts, _blobs=blobs)


def _whole(trees: FourTrees, finding: Finding) -> Changes | None:
    """The changes for a finding about a whole entry: a lost or revived file, a mode, content that is no text."""
    path, side = finding.path, finding.lost_side or Side.OURS
    tree = trees.ours if side is Side.OURS else trees.theirs
    if finding.code == "GRD206":
        if finding.verdict is Verdict.REVIVED:
            return {path: None}
        entry = tree.get(path) or trees.ours.get(path) or trees.theirs.get(path)
        return None if entry is None else {path: entry}
    now, made = trees.merged.get(path), tree.get(path)
    if finding.code != "GRD208" or finding.symbol != MODULE or now is None or made is None:
        return None
    if now.kind != "file" or made.kind != "file" or is_binary(trees.read(now.sha)) or is_binary(trees.read(made.sha)):
        return {path: made}
    only_mode = now.mode != made.mode and (path.endswith(PYTHON) or _lost_text(trees, finding) is None)
    return {path: Entry(made.mode, now.sha)} if only_mode else None


def _losses(trees: FourTrees, finding: Finding, config: Config, source: _Source) -> dict[str, Finding]:
    """The losses that the judge tells of in the files that a finding speaks of, by fingerprint."""
    paths = {finding.path, source.base_path, source.side_path, source.merged_path, source.other_path}
    few = _fresh(
        trees,
        **{
            name: {path: entry for path, entry in getattr(trees, name).items() if path in paths}
            for name in ("base", "ours", "theirs", "merged", "automatic")
        },
    )
    check = "lost" if finding.path.endswith(PYTHON) else "textual"
    run = run_check(check, CheckContext(few, config))
    return {
        found.fingerprint: found
        for found in run.result.findings
        if found.verdict is not None and found.verdict.is_loss and found.code != "GRD209"
    }


@dataclass(frozen=True, slots=True)
class _Source:
    """The texts that a change is taken from and brought into."""

    trees: FourTrees
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
    def of(cls, trees: FourTrees, finding: Finding) -> _Source | None:
        owner = finding.lost_side
        if owner is None or finding.path not in trees.merged or trees.merged[finding.path].kind != "file":
            return None
        lost = None if finding.path.endswith(PYTHON) else _lost_text(trees, finding)
        if lost is not None:
            places = lost.file.places
            base, side, other = places.base, places.of(owner.value), places.of(owner.other.value)
        else:
            told = next((item.path for item in finding.related if item.tree == owner.value), finding.path)
            tree = trees.ours if owner is Side.OURS else trees.theirs
            side = told if told in tree else finding.path
            base, other = (side if side in trees.base else finding.path), finding.path
        texts = [trees.blob(name, path) or b"" if path else b"" for name, path in (("base", base), (owner.value, side))]
        merged = trees.blob("merged", finding.path) or b""
        return cls(trees, owner, base, side, other, finding.path, *texts, merged, lost)

    def candidates(self, finding: Finding) -> Iterator[Sequence[LineEdit]]:
        """Sets of the side's edits that may bring the change back, smallest first."""
        edits = line_edits(split_lines(self.base), split_lines(self.side))
        seen: set[tuple[LineEdit, ...]] = set()
        for chosen in self._candidates(finding, edits):
            key = tuple(chosen)
            if key and key not in seen and len(seen) < _MOST_TRIES:
                seen.add(key)
                yield key

    def own(self, finding: Finding) -> str:
        """The side's own edit, as a unified diff without file names."""
        base, side = split_lines(self.base), split_lines(self.side)
        edits = self._near(finding, line_edits(base, side))
        rows: list[str] = []
        for edit in edits[:8]:
            context = slice(max(0, edit.start - 3), edit.start), slice(edit.end, edit.end + 3)
            before = [*base[context[0]], *base[edit.start : edit.end], *base[context[1]]]
            after = [*base[context[0]], *side[edit.first : edit.last], *base[context[1]]]
            rows += list(difflib.unified_diff(before, after, lineterm=""))[2:]
        return "\n".join(rows)

    def _candidates(self, finding: Finding, edits: list[LineEdit]) -> Iterator[list[LineEdit]]:
        if self.lost is not None:
            yield from self._of_text(self.lost, edits)
            return
        near = self._near(finding, edits)
        single = list(line_by_line(near))
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

        yield [edit for edit in single if speaks(edit)]
        for edit in near:
            if speaks(edit):
                yield [edit]
        yield [edit for edit in near if speaks(edit)]
        yield near
        for edit in near:
            yield [edit]
        yield edits

    def _near(self, finding: Finding, edits: list[LineEdit]) -> list[LineEdit]:
        """The side's edits inside the definition (or, for text, at the units) that a finding is about."""
        if self.lost is not None:
            return next(iter(self._of_text(self.lost, edits)), edits)
        spans = [_span(data, finding.symbol) for data in (self.base, self.side)]
        if finding.symbol == MODULE or not any(spans):
            return edits
        return [
            edit for edit in edits if _meets(spans[0], edit.start, edit.end) or _meets(spans[1], edit.first, edit.last)
        ]

    def _of_text(self, lost: LostText, edits: list[LineEdit]) -> Iterator[list[LineEdit]]:
        new = {n - 1 for unit in lost.units if unit.new for n in range(unit.new.line, unit.new.end_line + 1)}
        old = {n - 1 for unit in lost.units if unit.old for n in range(unit.old.line, unit.old.end_line + 1)}
        touched = [
            edit
            for edit in edits
            if new.intersection(range(edit.first, edit.last)) or old.intersection(range(edit.start, edit.end))
        ]
        yield [
            edit
            for edit in line_by_line(touched)
            if new.intersection(range(edit.first, edit.last)) or old.intersection(range(edit.start, edit.end))
        ]
        narrowed = [_narrowed(edit, old, new) for edit in touched]
        yield narrowed
        yield touched
        for edit in touched:
            yield [edit]


def _narrowed(edit: LineEdit, old: set[int], new: set[int]) -> LineEdit:
    """An edit cut down to the lines from the first to the last that are wanted."""
    low = sorted(old.intersection(range(edit.start, edit.end)))
    high = sorted(new.intersection(range(edit.first, edit.last)))
    start, end = (low[0], low[-1] + 1) if low else (edit.start, edit.start)
    first, last = (high[0], high[-1] + 1) if high else (edit.first, edit.first)
    return LineEdit(start, end, first, last)


def _lost_text(trees: FourTrees, finding: Finding) -> LostText | None:
    """The lost units that a finding on a file that is not Python was made of."""
    received = [path for path in trees.resolved if not path.endswith(PYTHON)]
    fates = judged(trees, [finding.path], FileJudge.of(trees), received)
    files = [fate for fate in fates if isinstance(fate, TextFile)]
    return next((part for part, found in told_of(trees, files) if found.fingerprint == finding.fingerprint), None)


def _span(data: bytes, symbol: str) -> tuple[int, int] | None:
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


def _meets(span: tuple[int, int] | None, start: int, end: int) -> bool:
    return span is not None and start <= span[1] and end >= span[0] and (start < span[1] or start == end)


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
