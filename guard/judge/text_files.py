"""What became of each file that is not Python: lost, revived, judged by its units, or not readable as text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from guard.documents.kinds import is_python, kind_of
from guard.documents.units import MAXIMUM_BYTES, MAXIMUM_UNITS, Document, document, is_binary
from guard.git import Entry
from guard.judge.text_alignment import Name, name_of
from guard.judge.text_changes import Moved, SideVerdicts, judge_documents, units_apart
from guard.model import Side, Verdict
from guard.sync.renames import Renames
from guard.sync.trees import TREES, FourTrees

EMPTY = Document("lines", (), ())
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Places:
    """Where each tree has one file; None where it does not have it. Renames are followed."""

    base: str | None
    ours: str | None
    theirs: str | None
    merged: str | None

    def of(self, tree: str) -> str | None:
        """The path in a tree."""
        path: str | None = getattr(self, tree)
        return path

    @property
    def shown(self) -> str:
        """The path to speak of: where merged has it, or where it would be."""
        path = self.merged or self.ours or self.theirs or self.base
        if path is None:
            raise ValueError("a file is in one of the trees")
        return path


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that as a whole is not as a side made it.

    Attributes:
        side: whose work it is; None where both sides have it and merged has not.
        verdict: lost, reverted, revived, or superseded.
        what: `file`, `mode`, or the kind of an entry whose content is no text.
        twin: where merged has the file that the side renamed this one to, and this one beside it.
        successor: a file of merged that differs from this one in its version only.
    """

    places: Places
    side: Side | None
    verdict: Verdict
    what: str = "file"
    twin: str = ""
    successor: str = ""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file judged by its units."""

    places: Places
    documents: Mapping[str, Document]
    verdicts: Mapping[Side, SideVerdicts]


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not judged, and why."""

    path: str
    reason: str


EditOutcome = WholeFile | TextFile | Unread


@dataclass
class FileJudge:
    """Judges the files of one sync.

    Attributes:
        merged: the tree that is judged, by path; the sync's checked tree by default.
        python: judge Python files too, by their lines; else only whether they are there, their mode and kind.
    """

    trees: FourTrees
    renames: Renames
    merged: Mapping[str, Entry] = field(default_factory=dict)
    python: bool = False
    _by_shape: dict[str, list[str]] = field(default_factory=dict)
    _moved_units: dict[tuple[Side, str], Counter[Name]] = field(default_factory=dict)

    @classmethod
    def of(cls, trees: FourTrees, merged: Mapping[str, Entry] | None = None, *, python: bool = False) -> FileJudge:
        """The judge of a sync, or of another tree in the place of merged."""
        return cls(trees, trees.renames, merged or trees.merged, python)

    def places(self, path: str) -> Places:
        """Where the four trees have the file that one of them has at `path`."""
        base = path if path in self.trees.base else self.renames.source(path)
        if base is not None and base not in self.trees.base:
            base = None
        ours, theirs = (self._of_side(side, base, path) for side in Side)
        candidates = (path, ours, theirs, base)
        merged = next((name for name in candidates if name is not None and name in self.merged), None)
        if merged == base and merged is not None and path != base and path not in self.merged:
            merged = base
        return Places(base, ours, theirs, merged or self._moved(base, ours, theirs))

    def fates(self, path: str, elsewhere: Mapping[Name, int] | None = None) -> Iterator[EditOutcome]:
        """What became of one file.

        Arguments:
            elsewhere: units that other files of merged hold and no side has there (see `units_apart`).
        """
        places = self.places(path)
        base, ours, theirs, merged = (self._entry(tree, places.of(tree)) for tree in TREES)
        if merged is None:
            yield from self._gone(places, base, ours, theirs, elsewhere)
            return
        twin = self._twin(places)
        if twin is not None:
            yield twin
            return
        if base is not None and (ours is None or theirs is None):
            yield from self._returned(places, base, ours, theirs)
            return
        present = [entry for entry in (base, ours, theirs, merged) if entry is not None]
        yield from _mode(places, base, ours, theirs, merged)
        kind = next((entry.kind for entry in present if entry.kind != "file"), None)
        if kind is None and any(is_binary(self.trees.read(entry.sha)) for entry in present):
            kind = "binary file"
        if kind is not None:
            yield from _opaque(places, kind, base, ours, theirs, merged)
        elif self._reads(places):
            judged = self._text(places, elsewhere)
            if isinstance(judged, Unread):  # at least which of the four contents it is can be told
                yield from _opaque(places, judged.reason, base, ours, theirs, merged)
            else:
                yield judged

    def units_elsewhere(self, paths: Iterator[str]) -> Counter[Name]:
        """Units that merged holds in these files beyond what either side has there: where a text may have moved to."""
        found: Counter[Name] = Counter()
        for path in paths:
            entry = self.merged.get(path)
            if entry is None or entry.kind != "file" or len(self.trees.read(entry.sha)) > MAXIMUM_BYTES:
                continue
            sides = [tree[path] for tree in (self.trees.ours, self.trees.theirs) if path in tree]
            if is_binary(self.trees.read(entry.sha)) or any(side.kind != "file" for side in sides):
                continue
            parents = [document(path, self.trees.read(side.sha)) for side in sides]
            found.update(units_apart(document(path, self.trees.read(entry.sha)), parents))
        return found

    def _reads(self, places: Places) -> bool:
        return self.python or not is_python(places.shown, stubs=True)

    def _of_side(self, side: Side, base: str | None, path: str) -> str | None:
        tree = self.trees.ours if side is Side.OURS else self.trees.theirs
        if base is None:
            return path if path in tree else None
        renamed = self.renames.of(side).get(base) if base not in tree else None
        return base if base in tree else renamed

    def _entry(self, tree: str, path: str | None) -> Entry | None:
        if path is None:
            return None
        entries: Mapping[str, Entry] = self.merged if tree == "merged" else getattr(self.trees, tree)
        return entries.get(path)

    def _moved(self, base: str | None, ours: str | None, theirs: str | None) -> str | None:
        """Where the resolution itself moved a file to: the same content, or most of it under the same name."""
        names = {path for path in (base, ours, theirs) if path is not None}
        shas = {
            entry.sha
            for tree, path in (("base", base), ("ours", ours), ("theirs", theirs))
            if (entry := self._entry(tree, path))
        }
        fresh = [p for p in self.merged if p not in self.trees.ours and p not in self.trees.theirs]
        for path in fresh:
            if self.merged[path].sha in shas:
                return path
        tails = {PurePosixPath(name).name for name in names}
        return next((path for path in fresh if PurePosixPath(path).name in tails), None)

    def _gone(
        self,
        places: Places,
        base: Entry | None,
        ours: Entry | None,
        theirs: Entry | None,
        elsewhere: Mapping[Name, int] | None,
    ) -> Iterator[EditOutcome]:
        successor = self._successor(places.shown)
        if base is None:
            side = Side.OURS if ours is not None else Side.THEIRS
            yield WholeFile(places, side, Verdict.LOST, successor=successor)
        elif ours is not None and theirs is not None:
            changed = [side for side, entry in ((Side.OURS, ours), (Side.THEIRS, theirs)) if entry != base]
            yield WholeFile(places, changed[0] if changed else None, Verdict.LOST, successor=successor)
        elif ours is not None or theirs is not None:
            side, entry = (Side.OURS, ours) if ours is not None else (Side.THEIRS, theirs)
            if entry is not None and entry.sha != base.sha:
                yield from self._deleted_by_other(places, side, entry, elsewhere)

    def _deleted_by_other(
        self, places: Places, side: Side, entry: Entry, elsewhere: Mapping[Name, int] | None
    ) -> Iterator[EditOutcome]:
        """A file that one side changed and the other deleted, and merged lacks: its text may stand in other files."""
        if entry.kind == "file" and self._reads(places) and not is_binary(self.trees.read(entry.sha)):
            judged = self._text(places, elsewhere)
            if isinstance(judged, TextFile) and self._went_on(judged, side.other):
                lost = judged.verdicts[side].lost
                if any(unit.verdict.is_loss for unit in lost):
                    yield judged
                    return
                if not lost:
                    return
        yield WholeFile(places, side, Verdict.SUPERSEDED)

    def _went_on(self, file: TextFile, side: Side) -> bool:
        """Whether most of a file that a side deleted stands in new files of that side."""
        moved = self._moves(file.places)(side)
        names = [name_of(unit) for unit in file.documents["base"].units]
        return sum(name in moved for name in names) * 2 > len(names)

    def _returned(self, places: Places, base: Entry, ours: Entry | None, theirs: Entry | None) -> Iterator[EditOutcome]:
        side = Side.OURS if ours is None else Side.THEIRS
        kept = theirs if ours is None else ours
        contested = kept is not None and kept.sha != base.sha
        yield WholeFile(places, side, Verdict.SUPERSEDED if contested else Verdict.REVIVED)

    def _twin(self, places: Places) -> WholeFile | None:
        """The old file that merged has beside the one that a side renamed it to."""
        if places.base is None or places.merged != places.base:
            return None
        for side in Side:
            name = places.of(side.value)
            if name not in (None, places.base) and name in self.merged:
                return WholeFile(places, side, Verdict.REVIVED, twin=name)
        return None

    def _successor(self, path: str) -> str:
        """The file of merged that is a later version of this one by its path (`fonts/3.11.1/` for `fonts/3.10.1/`)."""
        if not _VERSION.search(path):
            return ""
        if not self._by_shape:
            for name in self.merged:
                if _VERSION.search(name):
                    self._by_shape.setdefault(_VERSION.sub("0", name), []).append(name)
        later = [name for name in self._by_shape.get(_VERSION.sub("0", path), ()) if _version(name) > _version(path)]
        return max(later, key=_version, default="")

    def _moves(self, places: Places) -> Moved:
        """What either side put into new files of the kind of this one: a part that it took out may have gone there."""
        kind = kind_of(places.shown)
        return lambda side: self._moved_by(side, kind)

    def _moved_by(self, side: Side, kind: str) -> Mapping[Name, int]:
        if (side, kind) not in self._moved_units:
            found: Counter[Name] = Counter()
            tree = self.trees.ours if side is Side.OURS else self.trees.theirs
            for path in self.trees.changed_by(side.value):
                entry = tree.get(path)
                if path in self.trees.base or entry is None or entry.kind != "file" or kind_of(path) != kind:
                    continue
                data = self.trees.read(entry.sha)
                if len(data) <= MAXIMUM_BYTES and not is_binary(data):
                    found.update(name_of(unit) for unit in document(path, data).units)
            self._moved_units[side, kind] = found
        return self._moved_units[side, kind]

    def _text(self, places: Places, elsewhere: Mapping[Name, int] | None) -> EditOutcome:
        documents, data = {}, {}
        for tree in TREES:
            entry = self._entry(tree, places.of(tree))
            data[tree] = self.trees.read(entry.sha) if entry is not None else None
        largest = max((len(blob) for blob in data.values() if blob is not None), default=0)
        if largest > MAXIMUM_BYTES:
            return Unread(places.shown, f"file too large to compare by its text ({largest:,} bytes)")
        for kind in (None, "lines"):
            documents = {
                tree: EMPTY if blob is None else document(places.of(tree) or places.shown, blob, kind)
                for tree, blob in data.items()
            }
            if len({item.kind for item in documents.values() if item is not EMPTY}) <= 1:
                break
        if any(len(item.units) > MAXIMUM_UNITS for item in documents.values()):
            return Unread(places.shown, "file too long to compare by its text")
        read = next((item.kind for item in documents.values() if item is not EMPTY), "lines")
        documents = {tree: Document(read, item.units, item.lines) for tree, item in documents.items()}
        verdicts = judge_documents(
            documents["base"],
            documents["ours"],
            documents["theirs"],
            documents["merged"],
            elsewhere,
            self._moves(places),
        )
        return TextFile(places, documents, verdicts)


def _version(path: str) -> list[tuple[int, ...]]:
    return [tuple(map(int, found.split("."))) for found in _VERSION.findall(path)]


def _mode(
    places: Places, base: Entry | None, ours: Entry | None, theirs: Entry | None, merged: Entry
) -> Iterator[WholeFile]:
    """A side's change of the executable bit that merged does not have."""
    if base is None or base.kind != "file" or merged.kind != "file":
        return
    for side, entry in ((Side.OURS, ours), (Side.THEIRS, theirs)):
        if entry is not None and entry.kind == "file" and entry.mode != base.mode and merged.mode == base.mode:
            yield WholeFile(places, side, Verdict.REVERTED, "mode")


def _opaque(
    places: Places, kind: str, base: Entry | None, ours: Entry | None, theirs: Entry | None, merged: Entry
) -> Iterator[EditOutcome]:
    """A symbolic link, a submodule or a binary file: all of it is one change."""
    shas = [entry.sha if entry is not None else None for entry in (base, ours, theirs)]
    changed = [side for side, sha in ((Side.OURS, shas[1]), (Side.THEIRS, shas[2])) if sha != shas[0]]
    if base is None and len([sha for sha in shas[1:] if sha is not None]) == 1:
        changed = [side for side, sha in ((Side.OURS, shas[1]), (Side.THEIRS, shas[2])) if sha is not None]
    if len(changed) == 2 and shas[1] != shas[2]:
        yield Unread(places.shown, f"{kind} that both sides changed")
    elif changed:
        wanted = shas[1] if changed[0] is Side.OURS else shas[2]
        if merged.sha == shas[0]:
            yield WholeFile(places, changed[0], Verdict.REVERTED, kind)
        elif merged.sha != wanted:
            yield Unread(places.shown, f"{kind} that merged has from neither side")
