"""The smallest change to merged that brings back what a finding tells of, tried on the judge before it is offered."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from guard.checks import run_check
from guard.checks.contract import CheckContext
from guard.checks.side_edits import SideEdits, lost_text
from guard.checks.textual import PYTHON
from guard.config import Config
from guard.git import Entry
from guard.git.patch import store_blob
from guard.history.restoring import reapply
from guard.history.text.units import is_binary
from guard.history.trees import FourTrees
from guard.model import Finding, Side, Verdict
from guard.source.definitions import MODULE

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
    source = SideEdits.of(trees, finding)
    if source is None:
        return Restoration({}, f"{finding.path} is not in merged, or its change is of no file that can be read as text")
    before = _losses(trees, finding, config, source)
    if among_others and finding.fingerprint not in before:
        return Restoration({})
    second: Changes | None = None
    clashes = False
    for edits in source.candidates(finding):
        patched = reapply(source.base, source.side, source.merged, edits)
        clashes = clashes or patched is None
        if patched is None or patched == source.merged:
            continue
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
    reason = "does not apply cleanly to merged" if clashes else "applies, but does not bring the change into effect"
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
    only_mode = now.mode != made.mode and (path.endswith(PYTHON) or lost_text(trees, finding) is None)
    return {path: Entry(made.mode, now.sha)} if only_mode else None


def _losses(trees: FourTrees, finding: Finding, config: Config, source: SideEdits) -> dict[str, Finding]:
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


def _parses(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
