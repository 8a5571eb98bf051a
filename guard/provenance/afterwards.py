"""What a sync had in effect and a later commit of the branch took out on purpose: no loss of the sync."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from guard.git import Repository
from guard.judge.changes import JudgedChange, LostEdit
from guard.judge.sync_changes import judge_sync
from guard.model import Side
from guard.provenance.blame import origin
from guard.provenance.repairs import CodeWatch, Watch, road
from guard.sync.readings import Readings
from guard.sync.trees import FourTrees

TELLING = 8  # letters and digits; a line with fewer stands in many places
Texts = dict[tuple[Side, str], set[str]]


@dataclass(frozen=True, slots=True)
class Told:
    """Losses at the tip: what the sync lost, and what a later commit (`by` of the change) took out."""

    lost: list[JudgedChange]
    later: list[JudgedChange]


def told_apart(trees: FourTrees, losses: Sequence[JudgedChange], jobs: int = 1) -> Told:
    """Tell what the sync itself lost from what a commit after it took out.

    A change counts as taken out later only where the sync's own tree had it in effect, and where one commit on the way
    to the tip (or inside a branch that was merged on it) can be named that went from having it to not having it. What
    a later merge dropped was nobody's decision: it stays a loss.

    Arguments:
        losses: judged changes that are not in effect at the tip, with pieces.
    """
    sync = trees.sync
    way = road(trees.repository, sync.merge, sync.checked) if losses and sync.merge != sync.checked else ()
    if len(way) < 2:
        return Told(list(losses), [])
    own = replace(trees, sync=replace(sync, checked=sync.merge), merged=trees.repository.entries(sync.merge))
    paths = frozenset(path for change in losses for path in (change.source.path, change.place.path))
    judged = judge_sync(own, jobs, paths)
    unread = {outcome.subject for outcome in judged.outcomes}
    then: Texts = defaultdict(set)
    for change in judged.changes:
        if change.verdict.is_loss:
            for piece in change.pieces:
                then[change.side, change.source.path].update(_texts(piece))
    told = Told([], [])
    readings = Readings(trees.repository)
    for change in losses:
        known = then[change.side, change.source.path]
        fresh = tuple(piece for piece in change.pieces if not known.intersection(_texts(piece)))
        if not fresh or unread & {change.source.path, change.place.path}:
            told.lost.append(change)
            continue
        part = replace(change, pieces=fresh)
        watch: Watch = CodeWatch(part, sync, trees.base_tree, readings)
        if change.place.path not in trees.merged:
            watch = _PathWatch(change.place.path, readings)
        by = taken_out_by(trees.repository, watch, way)
        if by is None:
            told.lost.append(change)
            continue
        told.later.append(replace(part, by=origin(trees.repository.commit(by))))
        rest = tuple(piece for piece in change.pieces if piece not in fresh)
        if rest:
            told.lost.append(replace(change, pieces=rest))
    return told


def taken_out_by(repository: Repository, watch: Watch, way: Sequence[str]) -> str | None:
    """The commit that took something out: on the way, or inside a branch that was merged on it.

    Arguments:
        watch: is closed at the first commit of the way and open at the last one.

    Returns:
        None where that is not so, or where only the joining of two branches dropped it.
    """
    if watch.is_open(way[0]) or not watch.is_open(way[-1]):
        return None
    index = _first_open(watch, way)
    step, before = way[index], way[index - 1]
    parents = repository.commit(step).parents
    if len(parents) < 2:
        return step
    for parent in parents:
        if parent == before or not watch.is_open(parent):
            continue
        for root in repository.merge_bases(before, parent):
            line = repository.git("rev-list", "--first-parent", parent, f"^{root}").decode("ascii").split()[::-1]
            if line and not watch.is_open(root):
                return line[_first_open(watch, line)]
    return None


@dataclass(slots=True)
class _PathWatch:
    """A file: open where it is gone."""

    path: str
    readings: Readings

    def is_open(self, commit: str) -> bool:
        return self.readings.data(f"{commit}:{self.path}") is None


def _first_open(watch: Watch, way: Sequence[str]) -> int:
    """Index of the first open commit of a way that ends open (found by halves)."""
    low, high = -1, len(way) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if watch.is_open(way[middle]):
            high = middle
        else:
            low = middle
    return high


def _texts(piece: LostEdit) -> Iterator[str]:
    """What tells a lost piece from another one of its file: its lines, and the tokens where it is not whole lines."""
    yield from (*piece.missing, *piece.back)
    yield from (line for line in (*piece.missing_lines, *piece.back_lines) if sum(map(str.isalnum, line)) >= TELLING)
