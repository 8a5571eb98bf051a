"""Which later commit put right what a sync lost: the road from the sync to the tip, searched by halves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from guard.documents.definitions import EMPTY, MODULE, Definition
from guard.documents.kinds import is_python
from guard.git import Repository
from guard.judge.changes import JudgedChange
from guard.judge.definition_index import DefinitionIndex
from guard.judge.judge import FileForms, judge_side
from guard.model import Finding, Verdict
from guard.sync.readings import Readings, top_name
from guard.sync.topology import Sync

# A line shorter than this stands in every file.
_TELLING = 6
UNDEFINED = "GRD301"


class Watch(Protocol):
    """Something that a sync lost or broke, to be looked for in later versions."""

    def is_open(self, commit: str) -> bool:
        """Whether it still is as the sync left it."""


@dataclass(slots=True)
class CodeWatch:
    """A judged change of a Python file: asks the judge again, with a later version in the place of merged."""

    change: JudgedChange
    sync: Sync
    base: str
    readings: Readings
    _known: dict[str, JudgedChange | None] = field(default_factory=dict)

    def is_open(self, commit: str) -> bool:
        """Whether the change is still lost and its place still there."""
        return self.standing(commit) is not None

    def standing(self, commit: str) -> JudgedChange | None:
        """The change as it is judged against a later version; None where it is in effect, or its place is gone."""
        key = self.readings.digest(f"{commit}:{self.change.place.path}")
        if key not in self._known:
            self._known[key] = self._judge(commit)
        return self._known[key]

    def _judge(self, commit: str) -> JudgedChange | None:
        change, path = self.change, self.change.source.path
        merged = f"{commit}:{change.place.path}"
        there = self.readings.data(merged) is not None
        if change.kind == "file":
            return change if there is (change.verdict is Verdict.REVIVED) else None
        if not there:
            return None
        names = {top_name(change.source.symbol), top_name(change.place.symbol)}
        trees = {"base": self.base, "ours": self.sync.ours, "theirs": self.sync.theirs}
        forms = {tree: self.readings.part(f"{sha}:{path}", names) for tree, sha in trees.items()}
        now = self.readings.part(merged, names)
        if now is EMPTY:
            return change if change.kind == "definition" and change.verdict is Verdict.LOST else None
        for judged in judge_side(FileForms(path, merged=now, **forms), change.side, DefinitionIndex()):
            if judged.verdict.is_loss and judged.source == change.source and judged.kind == change.kind:
                known = {text for piece in change.pieces for text in (*piece.missing, *piece.back)}
                told = {text for piece in judged.pieces for text in (*piece.missing, *piece.back)}
                if known & told:
                    return judged
        return None


@dataclass(slots=True)
class LineWatch:
    """A finding told by its lines: those that a side has and merged lacks, and those that merged has too many of."""

    paths: tuple[str, ...]
    missing: frozenset[str]
    unwanted: dict[str, int]
    readings: Readings
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, finding: Finding, readings: Readings, merge: str) -> LineWatch:
        """What to look for, from the evidence of a finding.

        Arguments:
            merge: SHA of the sync, whose tree tells how often a line stands there.
        """
        evidence = finding.evidence
        side = evidence.theirs if finding.lost_side and finding.lost_side.value == "theirs" else evidence.ours
        merged, wanted = _lines(evidence.merged), _lines(side)
        paths = tuple(dict.fromkeys((finding.path, *(r.path for r in finding.related))))
        there = _counts(readings.data(f"{merge}:{finding.path}"))
        words: tuple[str, ...] = ()
        if finding.code.startswith("GRD3"):
            words = (finding.subject,) if finding.code == UNDEFINED and finding.subject else ()
            unwanted = merged
        elif finding.verdict is Verdict.REVIVED:
            unwanted = merged or _lines(evidence.base)
        else:
            return cls(paths, wanted - merged, {}, readings)
        return cls(paths, frozenset(), {line: there[line] for line in unwanted if there[line]}, readings, words)

    def is_open(self, commit: str) -> bool:
        """Whether most of the missing lines are still missing, or an unwanted one stands as often as before."""
        here = _counts(self.readings.data(f"{commit}:{self.paths[0]}"))
        if self.missing:
            return sum(1 for line in self.missing if here[line]) * 2 <= len(self.missing)
        if not any(here[line] >= count for line, count in self.unwanted.items()):
            return False
        return not any(self._defined(commit, path, word) for word in self.words for path in self.paths)

    def _defined(self, commit: str, path: str, word: str) -> bool:
        """Whether a file defines, imports or sets the word that was read in vain."""
        text = (self.readings.data(f"{commit}:{path}") or b"").decode("utf-8", "replace")
        name = re.escape(word.rpartition(".")[2])
        bound = rf"^\s*(async\s+)?(def|class)\s+{name}\b|^\s*(self\.)?{name}\s*(:[^=\n]+)?=[^=]"
        imported = rf"^\s*(from\s+\S+\s+)?import\s+.*\b{name}\b|^\s+{name},?\s*$"
        return bool(re.search(bound, text, re.MULTILINE) or re.search(imported, text, re.MULTILINE))


@dataclass(slots=True)
class StatementWatch:
    """A statement that does not fit: open while it stands in its definition and what it calls is as it was.

    Attributes:
        key: the definition that holds the statement.
        text: the statement's tokens.
        count: how often it stands there.
        callees: path, definition and parameters of what it calls.
    """

    path: str
    key: tuple[str, int]
    text: str
    count: int
    callees: tuple[tuple[str, tuple[str, int], tuple[str, ...]], ...]
    readings: Readings

    @classmethod
    def of(cls, finding: Finding, readings: Readings, merge: str) -> StatementWatch | None:
        """What to look for, from the place of a finding; None where no statement stands there."""
        name = f"{merge}:{finding.path}"
        if not is_python(finding.path):
            return None
        holder = _around(readings, name, finding.line)
        statement = next(
            (s for s in holder.statements if s.line <= finding.line <= s.end_line) if holder else iter(()), None
        )
        if holder is None or statement is None:
            return None
        callees = []
        for place in finding.related:
            called = _around(readings, f"{merge}:{place.path}", place.line) if is_python(place.path) else None
            if place.tree == "merged" and called is not None and called.line <= place.line <= called.line + 2:
                callees.append((place.path, called.key, _parameters(called)))
        count = sum(other.text == statement.text for other in holder.statements)
        return cls(finding.path, holder.key, statement.text, count, tuple(callees), readings)

    def is_open(self, commit: str) -> bool:
        """Whether the statement stands there as often, and calls what it called."""
        now = self.readings.definition(f"{commit}:{self.path}", self.key)
        if now is None or sum(statement.text == self.text for statement in now.statements) < self.count:
            return False
        for path, key, parameters in self.callees:
            called = self.readings.definition(f"{commit}:{path}", key)
            if called is None or _parameters(called) != parameters:
                return False
        return True


@dataclass(frozen=True, slots=True)
class AllWatches:
    """Several signs of one thing: it is open while all of them say so."""

    watches: tuple[Watch, ...]

    def is_open(self, commit: str) -> bool:
        """Whether every sign says so."""
        return all(watch.is_open(commit) for watch in self.watches)


@dataclass(slots=True)
class WordWatch:
    """A name read in vain: open while the reading lines stand and no more files define the name than the sync had."""

    word: str
    lines: Watch
    repository: Repository
    merge: str
    _defining: dict[str, int] = field(default_factory=dict)

    def is_open(self, commit: str) -> bool:
        """Whether the name is still read in vain."""
        return self.lines.is_open(commit) and self._count(commit) <= self._count(self.merge)

    def _count(self, commit: str) -> int:
        if commit not in self._defining:
            name = re.escape(self.word)
            option = name.replace("_", "-")
            pattern = rf"(def|class)[ \t]+{name}\b|\b{name}[ \t]*(:[^=]+)?=[^=]|import .*\b{name}\b|--{option}\b"
            output = self.repository.git("grep", "-l", "-E", "-e", pattern, commit, "--", accept=(0, 1))
            self._defining[commit] = output.count(b"\n")
        return self._defining[commit]


def road(repository: Repository, merge: str, tip: str) -> tuple[str, ...]:
    """The commits from a merge to a tip, oldest first: at each step back the first parent that contains the merge.

    Arguments:
        merge, tip: full SHAs; the tip contains the merge.
    """
    if merge == tip:
        return (merge,)
    output = repository.git("rev-list", "--ancestry-path", "--parents", tip, f"^{merge}").decode("ascii")
    parents = {line.split()[0]: line.split()[1:] for line in output.splitlines()}
    steps = [tip]
    while steps[-1] != merge:
        above = parents.get(steps[-1], [])
        step = next((parent for parent in above if parent == merge or parent in parents), None)
        if step is None:
            return (merge,)
        steps.append(step)
    return tuple(reversed(steps))


def repaired_by(repository: Repository, watch: Watch, way: Sequence[str]) -> str | None:
    """The commit that put something right: on the way, or inside a branch that was merged on it.

    Arguments:
        watch: is open at the first commit of the way and closed at the last one.

    Returns:
        None where it is still open at the end.
    """
    if len(way) < 2 or watch.is_open(way[-1]) or not watch.is_open(way[0]):
        return None
    index = _first_closed(watch, way)
    step, before = way[index], way[index - 1]
    parents = repository.commit(step).parents
    for parent in parents:
        if parent == before or watch.is_open(parent):
            continue
        line = repository.git("rev-list", "--first-parent", parent, f"^{before}").decode("ascii").split()[::-1]
        if len(line) > 1 and watch.is_open(line[0]):
            return line[_first_closed(watch, line)]
        root = repository.commit(line[0]).parents if line else ()
        if line and root and watch.is_open(root[0]):
            return line[0]
    return step


def _first_closed(watch: Watch, way: Sequence[str]) -> int:
    """Index of the first closed commit, of a way that starts open and ends closed (found by halves)."""
    low, high = 0, len(way) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if watch.is_open(way[middle]):
            low = middle
        else:
            high = middle
    return high


def _around(readings: Readings, name: str, line: int) -> Definition | None:
    """The innermost definition of a version that covers a line."""
    pieces = [title for start, title, text in readings.chunks(name) if start < line <= start + text.count("\n") + 1]
    file = readings.part(name, pieces or (MODULE,))
    around = [d for d in file.definitions.values() if d.line <= line <= d.end_line]
    return max(around, key=lambda definition: definition.line, default=None)


def _parameters(definition: Definition) -> tuple[str, ...]:
    return tuple(statement.text for statement in definition.statements if statement.kind == "parameter")


def _counts(data: bytes | None) -> Counter[str]:
    return Counter(line.strip() for line in (data or b"").decode("utf-8", "replace").splitlines())


def _lines(text: str | None) -> frozenset[str]:
    return frozenset(
        line.strip() for line in (text or "").splitlines() if len(line.strip()) >= _TELLING and re.search(r"\w", line)
    )
