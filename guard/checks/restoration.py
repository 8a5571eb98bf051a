"""The smallest change to merged that brings back what a finding tells of, tried on the judge before it is offered."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from guard.checks import run_check
from guard.checks.bringing import breaks, brought, completed
from guard.checks.contract import CheckContext
from guard.checks.returned import sums_up
from guard.checks.side_edits import SideEdits, lost_text
from guard.config import Config
from guard.documents.definitions import MODULE
from guard.documents.kinds import is_python
from guard.documents.units import document, is_binary
from guard.errors import GuardError
from guard.git import Entry
from guard.git.patch import store_blob
from guard.merging.reapplying import doubles, joined_by_syntax
from guard.merging.restoring import LineEdit, reapply
from guard.model import Finding, Side, Status, Verdict
from guard.sync.trees import FourTrees

Changes = dict[str, Entry | None]
_FORMS = ("base", "ours", "theirs", "merged", "automatic")
_MOST_TRIES, _FEW_TRIES, _MOST_CUTS = 14, 3, 12


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
    if finding.code.startswith("GRD3"):
        return _mended(trees, finding, config)
    if not finding.code.startswith("GRD2") or finding.verdict is None:
        return Restoration({}, f"{finding.code} ({finding.name}) tells of no lost change: there is nothing to restore")
    if finding.code == "GRD209":
        return _joined(trees, finding)
    if sums_up(finding):
        places = ", ".join(dict.fromkeys(item.message.split()[1] for item in finding.related))
        return Restoration({}, f"{finding.fingerprint} sums up {finding.path}: restore its findings ({places})")
    whole = _whole(trees, finding)
    if whole is not None:
        return Restoration(whole)
    source = SideEdits.of(trees, finding)
    if source is None:
        return Restoration({}, f"{finding.path} is not in merged, or its change is of no file that can be read as text")
    trial = _Trial.of(trees, finding, config, source)
    if trial is None:
        return Restoration({}, None if among_others else f"the judge does not tell of {finding.fingerprint} any more")
    clashes = False
    for ways in _ways(trial, trees):
        made, clash = _tried(ways, ways.source)
        clashes = clashes or clash
        if made is not None:
            return Restoration(made)
    reason = "does not apply cleanly to merged" if clashes else "applies, but does not bring the change into effect"
    if finding.verdict is Verdict.DEAD:
        reason = "is there already, and something else makes it inert: see the related places"
    return Restoration({}, f"the change of {source.owner.value} to {finding.path} {reason}", source.own(finding))


def _ways(trial: _Trial, trees: FourTrees) -> Iterator[_Trial]:
    """The trial by lines, and then by syntax; last of all with what differs from the other side's form as the change.

    The last is for a file that the base does not have: both sides added it, or one moved it there.
    """
    sources = [trial.source]
    if not trial.source.base and (other := trial.source.against_other(trees)) is not None:
        sources.append(other)
    for source in sources:
        yield dataclasses.replace(trial, source=source)
        if is_python(source.merged_path):
            yield dataclasses.replace(trial, source=source, by_syntax=True)


def _mended(trees: FourTrees, finding: Finding, config: Config) -> Restoration:
    """A break mended by bringing the name that is missing from the side that has it."""
    changes = brought(trees, finding, finding.lost_side)
    if not changes:
        return Restoration({}, f"{finding.code} ({finding.name}) has no name that a side could give back")
    known = breaks(trees, config)
    changes, new = completed(trees, changes, known, config, finding.lost_side, with_changes)
    if new or finding.fingerprint in breaks(with_changes(trees, changes), config):
        return Restoration({}, f"bringing {finding.subject} back does not mend {finding.path}")
    return Restoration(changes)


def _tried(trial: _Trial, source: SideEdits) -> tuple[Changes | None, bool]:
    """The changes that bring a finding's edit back, and whether any of its forms clashes with merged."""
    finding = trial.finding
    second: Changes | None = None
    clashes = False
    for edits in itertools.islice(source.candidates(finding), trial.tries):
        changes = trial.changes(edits)
        clashes = clashes or changes is None
        if not changes:
            continue
        new = trial.brings_up(changes)
        if new is not None and not new:
            return _smallest(trial, tuple(edits), changes), clashes
        if new and second is None and all(item.lost_side is finding.lost_side for item in new):
            second = changes
    return second, clashes


@dataclass(frozen=True, slots=True)
class _Trial:
    """Tries sets of edits on the judge.

    Attributes:
        few: the sync with only the files that the finding speaks of.
        before: the losses that the judge tells of in them, by fingerprint.
        tries: how many sets to try.
        by_syntax: whether edits that clash by lines are joined by syntax.
    """

    few: FourTrees
    finding: Finding
    config: Config
    source: SideEdits
    before: Mapping[str, Finding]
    tries: int
    by_syntax: bool = False

    @classmethod
    def of(cls, trees: FourTrees, finding: Finding, config: Config, source: SideEdits) -> _Trial | None:
        """The trial for a finding; None where the judge does not tell of it (any more)."""
        paths = {finding.path, source.base_path, source.side_path, source.merged_path, source.other_path}
        forms = {name: {p: e for p, e in getattr(trees, name).items() if p in paths} for name in _FORMS}
        # What moved between files is seen only with all of them; that takes longer.
        for some, tries in ((_fresh(trees, **forms), _MOST_TRIES), (trees, _FEW_TRIES)):
            before = _losses(some, finding, config)
            if finding.fingerprint in before:
                return cls(some, finding, config, source, before, tries)
        return None

    def changes(self, edits: Sequence[LineEdit]) -> Changes | None:
        """Merged with these edits of the side made again; empty where that changes nothing, None where they clash."""
        source = self.source
        patched = reapply(source.base, source.side, source.merged, edits)
        if patched is None and self.by_syntax:
            patched = joined_by_syntax(source.base, source.side, source.merged, edits)
        if patched is None:
            return None
        if patched == source.merged or not _parses_as_before(source.merged_path, source.merged, patched):
            return {}
        if is_python(source.merged_path) and doubles(source.side, source.merged, patched):
            return {}
        old = self.few.merged[source.merged_path]
        return {source.merged_path: Entry(old.mode, store_blob(self.few.repository, patched))}

    def brings_up(self, changes: Changes) -> list[Finding] | None:
        """The losses that changes to merged bring up; None where the finding itself stands all the same."""
        after = _losses(with_changes(self.few, changes), self.finding, self.config)
        if self.finding.fingerprint in after:
            return None
        return [item for mark, item in after.items() if mark not in self.before]


def _smallest(trial: _Trial, edits: tuple[LineEdit, ...], changes: Changes) -> Changes:
    """Leave out of a set of edits that does what it should what it can do without: halves first, then less."""
    tries, size = min(_MOST_CUTS, trial.tries), len(edits) // 2
    while size and tries:
        for start in range(0, len(edits), size):
            rest = edits[:start] + edits[start + size :]
            if not rest or not tries:
                continue
            tries -= 1
            fewer = trial.changes(rest)
            if fewer and trial.brings_up(fewer) == []:
                edits, changes = rest, fewer
                break
        else:
            size //= 2
        size = min(size, len(edits) // 2)
    return changes


def with_changes(trees: FourTrees, changes: Mapping[str, Entry | None]) -> FourTrees:
    """The same sync with some files of merged changed."""
    merged = {path: entry for path, entry in {**trees.merged, **changes}.items() if entry is not None}
    return _fresh(trees, merged=merged)


def _fresh(trees: FourTrees, **forms: Mapping[str, Entry]) -> FourTrees:
    # Not dataclasses.replace: what the old trees worked out about paths must not come along.
    made = {name: dict(forms.get(name, getattr(trees, name))) for name in _FORMS}
    base, ours, theirs, merged, automatic = (made[name] for name in _FORMS)
    known = trees.conflicts, trees.unread, trees._blobs
    return FourTrees(trees.repository, trees.sync, trees.base_tree, base, ours, theirs, merged, automatic, *known)


def _joined(trees: FourTrees, finding: Finding) -> Restoration:
    """For a file that was taken whole from one side: the file as git joins both."""
    entry = trees.automatic.get(finding.path)
    if entry is None or finding.path in trees.conflicts:
        return Restoration(
            {}, f"git cannot join both sides of {finding.path} by itself: restore its changes one by one"
        )
    return Restoration({finding.path: entry})


def _whole(trees: FourTrees, finding: Finding) -> Changes | None:
    """The changes for a finding about a whole entry: a lost or revived file, a mode, content that is no text."""
    path, side = finding.path, finding.lost_side or Side.OURS
    tree = trees.ours if side is Side.OURS else trees.theirs
    if finding.code == "GRD206":
        if finding.verdict is Verdict.SUPERSEDED:
            return {path: tree.get(path)}
        if finding.verdict is Verdict.REVIVED:
            return {path: None} if finding.fixable else None
        entry = tree.get(path) or trees.ours.get(path) or trees.theirs.get(path)
        return None if entry is None else {path: entry}
    now, made = trees.merged.get(path), tree.get(path)
    if finding.code != "GRD208" or finding.symbol != MODULE or now is None or made is None:
        return None
    if now.kind != "file" or made.kind != "file" or is_binary(trees.read(now.sha)) or is_binary(trees.read(made.sha)):
        return {path: made}
    only_mode = now.mode != made.mode and lost_text(trees, finding) is None
    return {path: Entry(made.mode, now.sha)} if only_mode else None


def _losses(trees: FourTrees, finding: Finding, config: Config) -> dict[str, Finding]:
    """The losses that the judge tells of, by fingerprint.

    Raises:
        GuardError: the judge failed, so that its silence proves nothing.
    """
    run = run_check("lost" if is_python(finding.path, stubs=True) else "textual", CheckContext(trees, config))
    if run.outcome.status is not Status.RAN:
        raise GuardError(f"the restoration cannot be tried: the check {run.name} {run.outcome.status.value}")
    return {
        found.fingerprint: found
        for found in run.result.findings
        if found.verdict is not None and found.verdict.is_loss and not sums_up(found)
    }


def _parses_as_before(path: str, before: bytes, after: bytes) -> bool:
    """Whether Python still is Python, and JSON, YAML or TOML still parses where it did."""
    if is_python(path, stubs=True):
        return _parses(after) or not _parses(before)
    return document(path, before).kind == document(path, after).kind


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
