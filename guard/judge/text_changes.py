"""What became of both sides' changes to one file that is not Python, unit by unit and with counts.

A unit that a side added is there when merged holds as many of it, in its scope, as base and both sides add up to, or
holds a new one elsewhere. A unit that a side took out is back when merged holds more than they add up to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from guard.documents.units import Document, Key, Unit
from guard.judge.text_alignment import ALIKE, Name, matcher, name_of, pairs_of, ratio, runs
from guard.judge.text_order import moved_back
from guard.model import Side, Verdict

INTEGRATED = 0.75  # at least this similar: someone fitted the unit in by hand
TOUCHED = 0.2  # at least this part of a deleted run changed by the other side: it went on with that text

Moved = Callable[[Side], Mapping[Name, int]]


@dataclass(frozen=True, slots=True)
class LostUnit:
    """One unit of a side's change that is not as the side made it.

    Attributes:
        verdict: lost, reverted, revived, partly (merged has a value that neither side has), or superseded.
        new: the unit as the side has it; None for a deletion.
        old: the unit as the base has it; None for an addition.
        other, merged: what stands in its place there, if anything.
        line: line of merged where it stands, or would stand.
        hunk: number of the run of edits that it belongs to.
        key: index of the unit in the base's document and in the side's; -1 where it has none.
    """

    verdict: Verdict
    side: Side
    new: Unit | None
    old: Unit | None
    other: Unit | None
    merged: Unit | None
    line: int
    hunk: int
    key: tuple[int, int] = (-1, -1)

    @property
    def displaced(self) -> bool:
        """Whether it is there, and only its place is not the side's."""
        return self.new is not None and self.old is not None and self.new.text == self.old.text

    @property
    def unit(self) -> Unit:
        """The unit that it is about."""
        unit = self.new or self.old
        if unit is None:
            raise ValueError("a lost unit has a form in the side or in the base")
        return unit


@dataclass(frozen=True, slots=True)
class SideVerdicts:
    """What became of one side's changes to a file: runs of edits in all, runs in effect, and the units that are not.

    Attributes:
        fitted: units that merged has in a form of its own, made from the side's; they are in effect.
    """

    total: int
    kept: int
    lost: tuple[LostUnit, ...]
    fitted: tuple[LostUnit, ...] = ()


@dataclass(slots=True)
class _Form:
    """One tree's document with its counts."""

    document: Document
    counts: Counter[Key] = field(default_factory=Counter)
    names: Counter[Name] = field(default_factory=Counter)
    by_scope: dict[str, list[Unit]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for unit in self.document.units:
            self.counts[unit.key] += 1
            self.names[name_of(unit)] += 1
            self.by_scope[unit.scope].append(unit)


def judge_documents(
    base: Document,
    ours: Document,
    theirs: Document,
    merged: Document,
    elsewhere: Mapping[Name, int] | None = None,
    moved: Moved = lambda _side: {},
) -> dict[Side, SideVerdicts]:
    """Judge one file. All four are read in the same way (`document(path, data, kind)`).

    Arguments:
        elsewhere: how many units of a (label, text) other files of merged hold that neither side has there.
        moved: how many of them a side put into files that the base does not have.
    """
    forms = {name: _Form(doc) for name, doc in (("base", base), ("ours", ours), ("theirs", theirs), ("merged", merged))}
    surplus = _surplus(forms)
    surplus.update(elsewhere or {})
    return {side: _SideJudge(forms, side, Counter(surplus), moved).verdicts() for side in Side}


def units_apart(document: Document, parents: Sequence[Document]) -> Counter[Name]:
    """How many units of each (label, text) a document of merged holds beyond what either parent has at its place."""
    counts = Counter(name_of(unit) for unit in document.units)
    for parent in parents:
        for name, count in Counter(name_of(unit) for unit in parent.units).items():
            counts[name] = min(counts[name], max(0, counts[name] - count)) if name in counts else 0
    return +counts


class _SideJudge:
    def __init__(self, forms: Mapping[str, _Form], side: Side, surplus: Counter[Name], moved: Moved) -> None:
        self.base, self.merged = forms["base"], forms["merged"]
        self.made, self.other = forms[side.value], forms[side.other.value]
        self.side, self.surplus, self.moved = side, surplus, moved
        self.forms = forms
        self.data = self.base.document.kind == "data"
        self._standing = self._in_merged()
        self._merged_lines: dict[Key, int] = {}
        for item in self.merged.document.units:
            self._merged_lines.setdefault(item.key, item.end_line)
        self._hunks: list[tuple[int, int, int, int]] = []
        self._other_hunks: list[tuple[int, int, int, int]] = []
        self._other_removed: set[int] = set()
        self._taken_out: dict[Name, list[int]] = defaultdict(list)  # base units of this side's hunks: some only moved

    def verdicts(self) -> SideVerdicts:
        hunks = self._hunks = list(runs(self.base.document, self.made.document, self.data))
        others = list(runs(self.base.document, self.other.document, self.data))
        self._other_hunks = others
        self._other_removed = {i for start, end, _, _ in others for i in range(start, end)}
        for i in (i for start, end, _, _ in hunks for i in range(start, end)):
            self._taken_out[name_of(self.base.document.units[i])].append(i)
        deficit, excess = self._deficit(), self._excess()
        missing = self._choose(hunks, deficit)
        lost: list[LostUnit] = []
        fitted: list[LostUnit] = []
        kept = 0
        for number, hunk in enumerate(hunks):
            found = list(self._judge(number, hunk, missing, excess))
            kept += not any(item.verdict.is_loss for item in found)
            lost.extend(item for item in found if item.verdict is not Verdict.EQUIVALENT)
            fitted.extend(item for item in found if item.verdict is Verdict.EQUIVALENT)
        displaced = list(self._displaced({item.unit.key for item in lost}))
        kept -= len({item.hunk for item in displaced} - {item.hunk for item in lost if item.verdict.is_loss})
        lost.extend(displaced)
        return SideVerdicts(len(hunks), kept, tuple(lost), tuple(fitted))

    def _displaced(self, told: set[Key]) -> Iterator[LostUnit]:
        """Units that the side moved inside their block and that merged has in their old order."""
        base, made = self.base.document.units, self.made.document.units
        if not self.base.document.ordered:
            return
        documents = {name: form.document for name, form in self.forms.items()}
        counts = {name: form.counts for name, form in self.forms.items()}
        indices = [{unit.key: index for index, unit in enumerate(units)} for units in (base, made)]
        for key, _ in moved_back(documents, counts, self.side.value, self.side.other.value):
            if key not in told:
                i, j = indices[0][key], indices[1][key]
                hunk = next((n for n, (a, b, c, d) in enumerate(self._hunks) if a <= i < b or c <= j < d), 0)
                yield self._lost(Verdict.REVERTED, hunk, j, i)

    def _deficit(self) -> Counter[Key]:
        """How many of each unit that the side added merged lacks."""
        short: Counter[Key] = Counter()
        for key, count in self.made.counts.items():
            before, beside = self.base.counts[key], self.other.counts[key]
            if count > before:
                expected = count + min(0, beside - before)
                short[key] = min(count - before, max(0, expected - self.merged.counts[key]))
        return +short

    def _excess(self) -> Counter[Key]:
        """How many of each unit that the side took out merged has all the same."""
        back: Counter[Key] = Counter()
        for key, before in self.base.counts.items():
            count, beside = self.made.counts[key], self.other.counts[key]
            if count < before:
                expected = count + max(0, beside - before)
                back[key] = min(before - count, max(0, self.merged.counts[key] - expected))
        return +back

    def _choose(self, hunks: list[tuple[int, int, int, int]], deficit: Counter[Key]) -> set[int]:
        """Which of several equal units that the side added are missing: first those that merged lacks in that place."""
        added = [j for _, _, first, last in hunks for j in range(first, last)]
        chosen = set()
        for j in sorted(added, key=lambda index: (index in self._standing, index)):
            unit = self.made.document.units[j]
            if deficit[unit.key] > 0:
                deficit[unit.key] -= 1
                if self.surplus[name_of(unit)] > 0 and (not self.data or len(unit.text) > 3):
                    self.surplus[name_of(unit)] -= 1  # it stands in another place
                else:
                    chosen.add(j)
        return chosen

    def _judge(
        self, number: int, hunk: tuple[int, int, int, int], missing: set[int], excess: Counter[Key]
    ) -> Iterator[LostUnit]:
        start, end, first, last = hunk
        removed = list(range(start, end))
        pairs = pairs_of(
            [self.base.document.units[i] for i in removed],
            [self.made.document.units[j] for j in range(first, last)],
            self.data,
        )
        back = set()
        for i in removed:
            key = self.base.document.units[i].key
            if excess[key] > 0:
                excess[key] -= 1
                back.add(i)
        used = set()
        for offset, j in enumerate(range(first, last)):
            old = removed[pairs[offset]] if offset in pairs else None
            if j in missing:
                verdict = self._of_missing(j, old, start, back)
                used.add(old)
                yield self._lost(verdict, number, j, old)
        touched = self._touched(start, end)
        for i in sorted(back - used):
            yield self._lost(Verdict.SUPERSEDED if touched else Verdict.REVIVED, number, None, i)

    def _of_missing(self, j: int, old: int | None, gap: int, back: set[int]) -> Verdict:
        unit = self.made.document.units[j]
        if old is not None:
            if old in back:
                return Verdict.REVERTED
            contested = self._other_took(old)
            if self._integrated(unit):
                return Verdict.PARTLY if self.data and not contested else Verdict.EQUIVALENT
            return Verdict.SUPERSEDED if contested else Verdict.LOST
        if self.data:
            value, beside = (self._only_value(form, unit) for form in (self.merged, self.other))
            if value is not None:  # the key is there with another value
                return Verdict.SUPERSEDED if value == beside else Verdict.PARTLY
            return Verdict.SUPERSEDED if self._container_taken(unit) else Verdict.LOST
        if self._integrated(unit):
            return Verdict.EQUIVALENT
        moved = [i for i in self._taken_out.get(name_of(unit), ()) if self._other_took(i)]
        return Verdict.SUPERSEDED if moved or self._inside_deletion(gap) else Verdict.LOST

    def _other_took(self, index: int) -> bool:
        """Whether the other side took out or changed this very unit of the base (and did not just move it)."""
        unit = self.base.document.units[index]
        if self.data:
            return self.other.counts[unit.key] < self.base.counts[unit.key]
        name = name_of(unit)
        took = index in self._other_removed and self.other.names[name] < self.base.names[name]
        return took and not self.moved(self.side.other).get(name)

    def _integrated(self, unit: Unit) -> bool:
        """Whether merged has a unit of its own that someone made from this one."""
        fresh = [
            item
            for item in (self.merged.by_scope[unit.scope] if self.data else self.merged.document.units)
            if self.merged.counts[item.key]
            > max(self.base.counts[item.key], self.made.counts[item.key], self.other.counts[item.key])
        ]
        if self.data and len(self.merged.by_scope[unit.scope]) == 1 == len(self.made.by_scope[unit.scope]):
            return bool(fresh)
        return any(ratio(item.text, unit.text) >= INTEGRATED for item in fresh[:400])

    def _only_value(self, form: _Form, unit: Unit) -> str | None:
        """The value that a tree has for the key of a unit; None for a list, and where it does not have the key."""
        here = form.by_scope.get(unit.scope, [])
        return here[0].text if len(here) == 1 == len(self.made.by_scope[unit.scope]) else None

    def _container_taken(self, unit: Unit) -> bool:
        """Whether the other side removed the list or mapping that the side added this to."""
        scope = unit.scope
        while scope:
            if self.base.by_scope.get(scope) or _holds(self.base, scope):
                return not (self.other.by_scope.get(scope) or _holds(self.other, scope))
            scope = _parent(scope)
        return False

    def _inside_deletion(self, gap: int) -> bool:
        return any(
            start < gap < end and 2 * (last - first) < end - start for start, end, first, last in self._other_hunks
        )

    def _touched(self, start: int, end: int) -> bool:
        """Whether the other side went on with a run that this side deleted."""
        if end == start:
            return False
        changed = len(self._other_removed.intersection(range(start, end)))
        inserted = sum(1 for first, last, _, _ in self._other_hunks if first == last and start < first < end)
        return (changed + inserted) / (end - start) >= TOUCHED

    def _lost(self, verdict: Verdict, number: int, j: int | None, i: int | None) -> LostUnit:
        new = self.made.document.units[j] if j is not None else None
        old = self.base.document.units[i] if i is not None else None
        unit = new or old
        if unit is None:
            raise ValueError("neither side nor base has the unit")
        if verdict is Verdict.EQUIVALENT:  # nobody is shown what is in effect
            merged = other = None
        else:
            merged = self._same_place(self.merged, unit, old)
            other = self._same_place(self.other, unit, old)
        line = merged.line if merged else self._would_stand(j, i)
        key = (-1 if i is None else i, -1 if j is None else j)
        return LostUnit(verdict, self.side, new, old, other, merged, line, number, key)

    def _same_place(self, form: _Form, unit: Unit, old: Unit | None) -> Unit | None:
        """What a tree has in the place of a unit: the base's text, or another value of the same key."""
        here = form.by_scope.get(unit.scope, [])
        if old is not None:
            same = [item for item in form.document.units if item.text == old.text and item.scope == old.scope]
            if same:
                return same[0]
        if self.data and len(here) == 1:
            return here[0]
        alike = max(here[:400], key=lambda item: ratio(item.text, unit.text), default=None)
        return alike if alike is not None and ratio(alike.text, unit.text) >= ALIKE else None

    def _would_stand(self, j: int | None, i: int | None) -> int:
        """The line of merged below which a unit would stand: below its nearest predecessor that is there."""
        source = self.made if j is not None else self.base
        units = source.document.units
        index = j if j is not None else i or 0
        for before in range(index - 1, -1, -1):
            line = self._merged_lines.get(units[before].key)
            if line is not None:
                return line
        return 1

    def _in_merged(self) -> set[int]:
        """Indices of the side's units that merged has in the same order."""
        aligned = matcher(self.made.document, self.merged.document, self.data)
        return {j for block in aligned.get_matching_blocks() for j in range(block.a, block.a + block.size)}


def _surplus(forms: Mapping[str, _Form]) -> Counter[Name]:
    """Units of merged, by (label, text), that stand in a scope where nobody put them."""
    found: Counter[Name] = Counter()
    merged = forms["merged"]
    seen: set[Key] = set()
    for unit in merged.document.units:
        if unit.key not in seen:
            seen.add(unit.key)
            expected = max(forms[name].counts[unit.key] for name in ("base", "ours", "theirs"))
            found[name_of(unit)] += max(0, merged.counts[unit.key] - expected)
    return +found


def _holds(form: _Form, scope: str) -> bool:
    return any(name.startswith(scope + ".") for name in form.by_scope)


def _parent(scope: str) -> str:
    """The dotted keys without the last one; dots inside brackets belong to a name."""
    depth = 0
    for index in range(len(scope) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(scope[index], 0)
        if scope[index] == "." and depth == 0:
            return scope[:index]
    return ""
