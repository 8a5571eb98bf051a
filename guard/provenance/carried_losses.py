"""Fixes of theirs that earlier syncs lost and that a new sync still lacks."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guard.documents.kinds import is_python
from guard.errors import ConfigError, GitError
from guard.git import Commit
from guard.git.history import patches
from guard.judge.numeric import is_test
from guard.model import Side
from guard.provenance.blame import is_fix
from guard.provenance.containment import Branch, Contained, Ledger
from guard.provenance.fixes import FixEdit, read_fix
from guard.sync.readings import top_name

LACKING = frozenset({"partly", "dead", "reverted", "missing"})
# How far back the losses of earlier syncs are looked for where no ledger file tells of them.
DAYS = 120
# A line of at most this many characters stands in every file.
_TELLING = 4
# Version of the ledger file that this guard writes and reads.
VERSION = 1


@dataclass(frozen=True, slots=True)
class SavedLoss:
    """One loss as a ledger file remembers it.

    Attributes:
        sync, date: merge that lost it, and when.
        path, symbol: the definition that it was lost from.
        side: whose work it is.
        commits: commits behind it.
        repaired: a later commit put it right.
    """

    sync: str
    date: str
    path: str
    symbol: str
    side: Side | None
    numeric: bool
    commits: tuple[str, ...]
    fingerprint: str
    repaired: bool


@dataclass(frozen=True, slots=True)
class Carried:
    """A fix that an earlier sync lost and that merged still lacks while theirs has it.

    Attributes:
        lost_by: SHA of that sync.
    """

    commit: Commit
    answer: Contained
    lost_by: str
    numeric: bool


def read_losses(data: bytes, origin: str) -> tuple[SavedLoss, ...]:
    """The losses that a ledger file tells of.

    Arguments:
        origin: name of the file, for messages.

    Raises:
        ConfigError: it is no ledger of a version that this guard reads.
    """
    try:
        document = json.loads(data)
        if document["version"] != VERSION:
            raise ConfigError(f"{origin}:1: ledger version {document['version']}, this guard reads version {VERSION}")
        return tuple(_saved(row) for row in document["losses"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{origin}:1: no ledger of guard ({type(error).__name__}: {error})") from error


def _saved(row: dict[str, Any]) -> SavedLoss:
    return SavedLoss(
        sync=row["sync"],
        date=row["date"],
        path=row["path"],
        symbol=row["symbol"],
        side=Side(row["side"]) if row["side"] else None,
        numeric=bool(row["numeric"]),
        commits=tuple(row["commits"]),
        fingerprint=row["fingerprint"],
        repaired=row["repaired_by"] is not None,
    )


def from_ledger(ledger: Ledger, losses: Iterable[SavedLoss], merged: Branch, theirs: Branch) -> Iterator[Carried]:
    """What a ledger file knows as lost by earlier syncs and merged still lacks; each commit once."""
    seen = set()
    for loss in losses:
        if loss.repaired or loss.side is not Side.THEIRS or loss.sync == merged.sha:
            continue
        for sha in loss.commits[:1]:
            if sha in seen or sha not in theirs.commits:
                continue
            seen.add(sha)
            try:
                commit = ledger.repository.commit(sha)
            except (GitError, StopIteration):
                continue
            found = _lacks(ledger, commit, merged, theirs, (loss.path,))
            if found is not None:
                yield Carried(commit, found, loss.sync, ledger.fix(commit).numeric)


def from_history(ledger: Ledger, bases: Sequence[str], merged: Branch, theirs: Branch, date: str) -> Iterator[Carried]:
    """Fixes that earlier syncs brought to ours, that a merge then dropped, and that theirs still has.

    A fix that a commit of ours took out is a decision of ours and no loss.

    Arguments:
        bases: merge bases of the new sync: everything they contain was merged before.
        date: of the new sync, ISO 8601; fixes of the `DAYS` before it are asked about.
    """
    for commit, paths in _suspects(ledger, bases, merged, theirs, date):
        fix = read_fix(ledger.repository, commit, ledger.readings, paths)
        fix = replace(fix, edits=tuple(edit for edit in fix.edits if _differs(ledger, edit, merged, theirs)))
        if not fix.edits:
            continue
        answer = ledger.answer(fix, merged)
        dropped = answer.status in LACKING and answer.by is not None and answer.by_merge and answer.by != merged.sha
        if dropped and answer.by is not None and ledger.answer(fix, theirs).status not in LACKING | {"not-merged"}:
            yield Carried(commit, answer, answer.by, fix.numeric)


def _differs(ledger: Ledger, edit: FixEdit, merged: Branch, theirs: Branch) -> bool:
    """Whether the top-level definition that an edit stands in reads otherwise in merged than in theirs."""
    texts = []
    for branch in (merged, theirs):
        entry = branch.entries.get(edit.path)
        pieces = ledger.readings.chunks(entry.sha) if entry is not None else []
        texts.append([text for _, title, text in pieces if title == top_name(edit.symbol)])
    return texts[0] != texts[1] or not texts[0]


def _suspects(
    ledger: Ledger, bases: Sequence[str], merged: Branch, theirs: Branch, date: str
) -> Iterator[tuple[Commit, frozenset[str]]]:
    """Earlier fixes of which some line is in theirs and not in merged, with the files: one walk over their patches."""
    try:
        since = datetime.datetime.fromisoformat(date) - datetime.timedelta(days=DAYS)
    except ValueError:
        return
    repository = ledger.repository
    differing = [
        path
        for path, entry in theirs.entries.items()
        if is_python(path) and not is_test(path) and merged.entries.get(path, entry) != entry
    ]
    if not differing:
        return
    arguments = ["--no-merges", f"--since={since.isoformat()}", *bases, "--", *differing]
    fixes = {commit.sha: commit for commit in repository.commits(arguments) if is_fix(commit.message)}
    if not fixes:
        return
    options = ("--no-walk=unsorted", "-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
    told = patches(repository, (*options, "--format=%x01%H", *fixes), differing)
    known = frozenset(differing)
    lines = functools.cache(lambda path: (_lines(ledger, theirs, path), _lines(ledger, merged, path)))
    sha, path = "", ""
    found: dict[str, set[str]] = {sha: set() for sha in fixes}
    for line in told.split(b"\n"):
        if line[:1] == b"\x01":
            sha = line[1:].decode("ascii", "replace")
        elif line.startswith(b"diff --git "):
            path = line.rpartition(b" b/")[2].decode("utf-8", "surrogateescape")
        elif line[:1] == b"+" and not line.startswith(b"+++ ") and path in known:
            text = line[1:].strip()
            there, here = lines(path)
            if len(text) > _TELLING and text in there and text not in here:
                found[sha].add(path)
    yield from ((commit, frozenset(found[sha])) for sha, commit in fixes.items() if found[sha])


def _lines(ledger: Ledger, branch: Branch, path: str) -> frozenset[bytes]:
    entry = branch.entries.get(path)
    data = ledger.readings.data(entry.sha) if entry is not None else None
    return frozenset(line.strip() for line in (data or b"").split(b"\n"))


def _lacks(ledger: Ledger, commit: Commit, merged: Branch, theirs: Branch, paths: Sequence[str]) -> Contained | None:
    if all(merged.entries.get(path) == theirs.entries.get(path) for path in paths):
        return None
    answer = ledger.contains([commit], merged)
    if answer.status not in LACKING:
        return None
    return None if ledger.contains([commit], theirs).status in LACKING | {"not-merged"} else answer
