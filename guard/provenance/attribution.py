"""Ask history about judged changes: who made what was lost, and whether the other side took it out on purpose."""

from __future__ import annotations

import keyword
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from guard.git import Repository
from guard.judge.changes import JudgedChange, LostEdit
from guard.model import Origin, Side, Verdict
from guard.provenance.blame import Strokes, blamed, of_both, origins, strokes, telling
from guard.provenance.merge_edits import merge_strokes
from guard.sync.topology import Sync, tells_of_sync

# This share of a lost piece's lines must have been put in and taken out by the other side to count as its decision.
DECIDED = 0.6
# Commits must account for this share of a piece's lines to be told as its origin.
ACCOUNTED = 0.3
_WORD = re.compile(r"\w+")


def attribute(repository: Repository, sync: Sync, changes: Sequence[JudgedChange]) -> list[JudgedChange]:
    """Give each lost change its origins, one change for each commit behind it, and explain what history explains.

    Arguments:
        changes: judged changes with pieces; others pass through.

    Returns:
        The changes, those with several commits behind their pieces split.
    """
    lines: dict[Side, set[str]] = {side: set() for side in Side}
    paths: dict[Side, set[str]] = {side: set() for side in Side}
    for change in changes:
        for piece in change.pieces:
            for side in Side:
                lines[side].update(piece.missing_lines, piece.back_lines)
                if change.verdict is Verdict.SUPERSEDED and side is not change.side:
                    lines[side].update(piece.other_lines)
                paths[side].update((change.source.path, change.place.path))
    tips = {Side.OURS: sync.ours, Side.THEIRS: sync.theirs}

    def walked(side: Side) -> Strokes:
        known = strokes(repository, tips[side], sync.bases, lines[side], sorted(paths[side]))
        _ask_merges(repository, tips[side], sync.bases, [c for c in changes if c.side is side], known)
        return known

    known = of_both(lambda side: walked(side) if paths[side] else Strokes())
    split = [part for change in changes for part in _split(change, known[change.side], known[change.side.other])]
    facts = origins(repository, (sha for _, shas, by in split for sha in (*shas, *([by] if by else []))))
    synced = _syncs(repository, tips, split, facts)
    return [
        replace(_with(change, shas, by, facts), carried=_is_carried(change, shas, synced)) for change, shas, by in split
    ]


def _is_carried(change: JudgedChange, shas: Sequence[str], synced: frozenset[str]) -> bool:
    """Whether syncs made the lost part what it is; of a deletion, whether a sync took most of it out."""
    if not shas:
        return False
    return shas[0] in synced if change.verdict is Verdict.REVIVED else synced.issuperset(shas)


def _ask_merges(
    repository: Repository, tip: str, bases: Sequence[str], changes: Sequence[JudgedChange], known: Strokes
) -> None:
    """Look in the merges' own edits for the lines that no other commit of the side accounts for."""
    silent = [
        piece
        for change in changes
        for piece in change.pieces
        if any(map(_names_someone, (*piece.missing_lines, *piece.back_lines)))
        and not _votes(piece, known, change.source.path)
    ]
    lines = {line for piece in silent for line in (*piece.missing_lines, *piece.back_lines)}
    paths = {c.source.path for c in changes if any(piece in silent for piece in c.pieces)} if lines else set()
    if not paths:
        return
    more = merge_strokes(repository, tip, bases, lines, sorted(paths))
    for line in lines:
        known.added[line] += more.added.get(line, ())
        known.removed[line] += more.removed.get(line, ())


def _syncs(
    repository: Repository,
    tips: dict[Side, str],
    split: Sequence[tuple[JudgedChange, tuple[str, ...], str]],
    facts: dict[str, Origin],
) -> frozenset[str]:
    """Of the commits behind the changes, those that brought the other side in: their edits are no work of the side."""
    found = set()
    sides = {sha: change.side for change, shas, _ in split for sha in shas}
    for sha, side in sides.items():
        if sha in facts and tells_of_sync(facts[sha].subject):
            found.add(sha)
            continue
        parents = repository.commit(sha).parents
        if len(parents) > 1 and any(repository.is_ancestor(parent, tips[side.other]) for parent in parents[1:]):
            found.add(sha)
    return frozenset(found)


def _split(change: JudgedChange, own: Strokes, other: Strokes) -> Iterable[tuple[JudgedChange, tuple[str, ...], str]]:
    """The change as (part, commits behind it, commit that decided against it)."""
    if not change.pieces:
        yield change, (), ""
        return
    groups: dict[tuple[tuple[str, ...], str], list[LostEdit]] = defaultdict(list)
    favoured: dict[str, int] = defaultdict(int)
    votes = []
    for piece in change.pieces:
        vote = _votes(piece, own, change.source.path)
        votes.append(vote)
        for sha, weight in vote.items():
            favoured[sha] += weight
    last: tuple[str, ...] = ()
    for piece, vote in zip(change.pieces, votes, strict=True):
        best = tuple(sorted(vote, key=lambda sha: (-vote[sha], -favoured[sha]))[:3])
        shas = best if len(change.pieces) == 1 or change.kind != "statements" else best[:1]
        shas = shas or last
        last = shas
        decided = _replaced_by if change.verdict is Verdict.SUPERSEDED else _decided
        groups[shas, decided(piece, other, change.source.path)].append(piece)
    leaderless = [key for key in groups if not key[0]]
    for key in leaderless:  # what stood before the first line that tells belongs to that line's commit
        target = next((other_key for other_key in groups if other_key[0] and other_key[1] == key[1]), None)
        if target is not None:
            groups[target] = groups.pop(key) + groups[target]
    for (shas, by), pieces in groups.items():
        yield _part(change, tuple(pieces)), shas, by


def _part(change: JudgedChange, pieces: tuple[LostEdit, ...]) -> JudgedChange:
    if len(pieces) == len(change.pieces):
        return change
    from guard.judge.numeric import is_numeric, is_test

    first = pieces[0]
    place = replace(change.place, line=first.line, end_line=max(first.line, pieces[-1].end_line))
    numeric = not is_test(place.path) and any(is_numeric(piece.words) for piece in pieces if not piece.imported)
    subject = next((piece.subject for piece in pieces if piece.subject), None)
    return replace(change, place=place, pieces=pieces, numeric=numeric, subject=subject, size=len(pieces))


def _votes(piece: LostEdit, own: Strokes, path: str) -> dict[str, int]:
    """Commits behind a piece by weight; none where they account for hardly any of its lines."""
    for known, told in ((own.added, piece.missing_lines), (own.removed, piece.back_lines)):
        lines = [line for line in told if _names_someone(line)]
        votes = blamed(known, lines, path)
        if sum(votes.values()) >= ACCOUNTED * sum(map(len, filter(telling, lines))) > 0:
            return votes
    return {}


def _names_someone(line: str) -> bool:
    """Whether a line says more than a keyword: a `return` or an `else:` is anybody's."""
    return any(not keyword.iskeyword(word) for word in _WORD.findall(line))


def _decided(piece: LostEdit, other: Strokes, path: str) -> str:
    """The commit of the other side that decided against what the side did, having had it once; or nothing."""
    if piece.verdict is Verdict.REVIVED:
        lines, did, undid = piece.back_lines, other.removed, other.added
    else:
        lines, did, undid = piece.missing_lines, other.added, other.removed
    lines = tuple(line for line in lines if telling(line))
    agreed = [line for line in lines if _last(did, line, path) > _last(undid, line, path) >= 0]
    if not lines or len(agreed) < DECIDED * len(lines):
        return ""
    votes = blamed(undid, agreed, path)
    return max(votes, key=lambda sha: votes[sha])


def _replaced_by(piece: LostEdit, other: Strokes, path: str) -> str:
    """The commit of the other side that took out what a superseded piece stood on; or nothing."""
    votes = blamed(other.removed, filter(telling, piece.other_lines), path)
    return max(votes, key=lambda sha: votes[sha], default="")


def _last(known: dict[str, list], line: str, path: str) -> int:  # type: ignore[type-arg]
    """How far back the newest stroke on a line in this file lies; -1 for none."""
    return next((stroke.order for stroke in known.get(line, ()) if stroke.path == path), -1)


def _with(change: JudgedChange, shas: tuple[str, ...], by: str, facts: dict[str, Origin]) -> JudgedChange:
    behind = tuple(facts[sha] for sha in shas if sha in facts)
    if by and by in facts:
        superseded = Verdict.SUPERSEDED in (change.verdict, change.pieces[0].verdict)
        back = change.pieces[0].verdict is Verdict.REVIVED
        verdict = Verdict.SUPERSEDED if superseded or back else Verdict.REMOVED
        return replace(change, verdict=verdict, origins=behind, by=facts[by])
    return replace(change, origins=behind)
