"""What merge commits did to a line on their own, beyond what git's automatic merge of their parents does.

Making each automatic merge again (`git log --remerge-diff`) costs more than the rest of a judgement, and nearly all
merges turn out to have touched none of the lines asked about. So a line is first counted in the four trees of a merge:
where the count in the merge is what a three-way merge of the counts gives, the merge did nothing to it. Only where the
counts cannot tell (a file that some tree lacks, a line that both sides may have put in at different places, several
merge bases, an octopus) does git make the merge again.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from guard.errors import MissingObjectError
from guard.git import Repository
from guard.provenance.blame import Stroke, Strokes, read_patches, telling

_PARENTS = 2


@dataclass(frozen=True, slots=True)
class _Merge:
    """A merge commit: how far back it lies, and its parents."""

    commit: str
    order: int
    parents: tuple[str, ...]


def merge_strokes(
    repository: Repository, tip: str, bases: Sequence[str], lines: Iterable[str], paths: Sequence[str]
) -> Strokes:
    """Lines that a side's merge commits put in or took out themselves.

    Arguments:
        tip, bases: full SHAs; the merges among the commits of `tip` that no base contains are asked.
        lines: stripped source lines that are asked about.
        paths: files to look in.
    """
    wanted = {line.encode("utf-8", "surrogateescape") for line in lines if telling(line)}
    found = Strokes()
    if not wanted or not paths:
        return found
    counts = _Counts(repository, wanted)
    merges = _merges(repository, tip, bases)
    counts.read({sha for merge in merges for sha in (merge.commit, *merge.parents)}, paths)
    merges = [merge for merge in merges if any(counts.differ(merge, path) for path in paths)]
    base_of = {merge: _base(repository, merge) for merge in merges}
    counts.read({base for base in base_of.values() if base is not None}, paths)
    unsure = []
    for merge in merges:
        base = base_of[merge]
        strokes = [] if base is None else list(_counted(merge, base, counts, paths))
        if base is None or any(
            counts.lacking((base, *merge.parents), path) or counts.of_both(merge, base, line, path)
            for line, _, path in strokes
        ):
            unsure.append(merge)
            continue
        for line, added, path in strokes:
            known = found.added if added else found.removed
            known[line.decode("utf-8", "surrogateescape")].append(Stroke(merge.commit, path, merge.order))
    if unsure:
        _remake(repository, unsure, wanted, paths, found)
    for known in (found.added, found.removed):
        for strokes_of_line in known.values():
            strokes_of_line.sort(key=lambda stroke: stroke.order)
    return found


def _merges(repository: Repository, tip: str, bases: Sequence[str]) -> list[_Merge]:
    """The merges of a side, newest first. Not limited to paths: git would leave out those that took one side whole."""
    output = repository.git("log", "--merges", "--format=%H %P", tip, *(f"^{base}" for base in bases))
    rows = (row.split() for row in output.decode("ascii").splitlines())
    return [_Merge(commit, order, tuple(parents)) for order, (commit, *parents) in enumerate(rows, start=1)]


def _base(repository: Repository, merge: _Merge) -> str | None:
    """The merge base of a merge of two; None where there is no single one."""
    if len(merge.parents) != _PARENTS:
        return None
    shared = repository.merge_bases(*merge.parents)
    return shared[0] if len(shared) == 1 else None


class _Counts:
    """How often each line asked about stands in a file of a commit; each blob is read once."""

    def __init__(self, repository: Repository, wanted: set[bytes]) -> None:
        self._repository = repository
        self._wanted = wanted
        self._blobs: dict[tuple[str, str], str] = {}
        self._counted: dict[str, Counter[bytes]] = {"": Counter()}

    def read(self, commits: Iterable[str], paths: Sequence[str]) -> None:
        """Find out which blobs stand at the paths of commits."""
        found = self._repository.blobs_at((commit, path) for commit in sorted(commits) for path in paths)
        self._repository.prefetch(found.values())
        self._blobs.update(found)

    def of(self, commit: str, path: str) -> Counter[bytes]:
        """The counts; none of anything where the commit has no such file."""
        sha = self._blobs.get((commit, path), "")
        known = self._counted.get(sha)
        if known is None:
            stripped = (line.strip() for line in self._repository.blob(sha).split(b"\n"))
            known = self._counted[sha] = Counter(line for line in stripped if line in self._wanted)
        return known

    def lacking(self, commits: Iterable[str], path: str) -> bool:
        """Whether one of the trees has no such file: it may stand there under another name."""
        return any((commit, path) not in self._blobs for commit in commits)

    def of_both(self, merge: _Merge, base: str, line: bytes, path: str) -> bool:
        """Whether the merge holds a line as often as two like changes, one of each side, make it."""
        before, first, second, now = (self.of(c, path)[line] for c in (base, *merge.parents, merge.commit))
        return first == second and now == first + second - before

    def differ(self, merge: _Merge, path: str) -> bool:
        """Whether a parent does not hold the lines as often as the merge does."""
        blobs = {self._blobs.get((commit, path), "") for commit in (merge.commit, *merge.parents)}
        return len(blobs) > 1 and any(self.of(one, path) != self.of(merge.commit, path) for one in merge.parents)


def _counted(merge: _Merge, base: str, counts: _Counts, paths: Sequence[str]) -> Iterator[tuple[bytes, bool, str]]:
    """Lines that stand in the merge more or less often than a three-way merge explains: line, added, path."""
    for path in paths:
        before, first, second, now = (counts.of(commit, path) for commit in (base, *merge.parents, merge.commit))
        if now == first == second:
            continue
        for line in {*now, *first, *second}:
            expected = _three_way(before[line], first[line], second[line])
            if now[line] != expected:
                yield line, now[line] > expected, path


def _three_way(base: int, first: int, second: int) -> int:
    """How often a merge has a line; where both sides changed that alike it is one change, else it is two."""
    return first if first == second else first + second - base


def _remake(
    repository: Repository, merges: Sequence[_Merge], wanted: set[bytes], paths: Sequence[str], found: Strokes
) -> None:
    """Let git make some merges again, and add the lines by which they differ from that."""
    arguments = ("log", "--no-walk=unsorted", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv")

    def ask(*commits: str) -> bytes:
        return repository.git(*arguments, "--no-color", "--remerge-diff", "--format=%x01%H", *commits, "--", *paths)

    try:
        output = ask(*(merge.commit for merge in merges))
    except MissingObjectError:
        # Merging again reads whatever the sides renamed or both changed, and not just the files asked about.
        output = b""
        for merge in merges:
            with contextlib.suppress(MissingObjectError):
                output += ask(merge.commit)
    read_patches(output, wanted, found, {merge.commit: merge.order for merge in merges})
