"""Find the findings that fingerprints name, in the syncs of a selection."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from guard.commands.judgement import RunSettings, judge_selection
from guard.commands.range_options import RangeOptions
from guard.commands.selection import Selection, select
from guard.config import Config
from guard.errors import GuardError, NothingCheckedError
from guard.git import Repository
from guard.model import Finding, Status
from guard.store.seen import recall, root_of
from guard.sync.topology import Sync

SHORTEST_PREFIX = 6
_FINGERPRINT = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},16}}")

_STAGES: tuple[tuple[str, ...], ...] = (("textual", "policy"), ("lost",), ())
"""Checks to ask one after the other; the last stage is all the others."""
_STAGED = frozenset(name for stage in _STAGES for name in stage)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and the sync that it is of; None for a finding of the linter."""

    finding: Finding
    sync: Sync | None


def is_fingerprint(text: str) -> bool:
    """Whether a word may name a finding: 16 hex digits, or the first six or more of them."""
    return bool(_FINGERPRINT.fullmatch(text.lower()))


def selection_of(repository: Repository, chosen: RangeOptions, config: Config, names: Sequence[str]) -> Selection:
    """What to judge: the range that was asked for; without one, the sync that the findings were last shown of.

    Arguments:
        names: fingerprints, or prefixes of them.
    """
    if not chosen.given:
        root = root_of(repository.work_tree or repository.git_directory)
        seen = [item for item in recall(root) if any(item.fingerprint.startswith(n.lower()) for n in names)]
        ranges = {item.range for item in seen}
        words = ranges.pop() if len(ranges) == 1 else ()
        if words:
            # The history may have been rewritten since it was shown.
            with contextlib.suppress(GuardError):
                return select(repository, RangeOptions.of_words(words), config)
    return select(repository, chosen, config)


def look_up(
    repository: Repository, selection: Selection, config: Config, names: Sequence[str], settings: RunSettings
) -> list[Found]:
    """The findings of these fingerprints, in the order of the names.

    Arguments:
        names: fingerprints, or unique prefixes of them.

    Raises:
        NothingCheckedError: the selection has no sync.
        GuardError: a word is no fingerprint, or names no finding, or several.
    """
    for name in names:
        if not is_fingerprint(name):
            raise GuardError(f"{name!r} is no fingerprint: give 16 hex digits, or at least the first {SHORTEST_PREFIX}")
    if not selection.syncs and selection.tip is None:
        reason = selection.unanswered or "no merge is in progress and HEAD is none"
        raise NothingCheckedError(f"{reason}; name the range of the report, as with --merge or --since")
    known: dict[str, Found] = {}
    failed: list[str] = []
    # A stage at a time, the quick ones first: most of what is asked for is told by one of them.
    for stage in _STAGES:
        checks = tuple(name for name in settings.checks if (name in stage if stage else name not in _STAGED))
        for sync in selection.syncs if checks else ():
            one = replace(selection, syncs=(sync,), tip=None)
            report = judge_selection(repository, one, config, replace(settings, checks=checks))
            failed += [f"{o.check}: {o.reason}" for o in report.outcomes if o.status is Status.FAILED]
            for finding in report.findings:
                known.setdefault(finding.fingerprint, Found(finding, sync))
        if all(_matching(name, known) for name in names):
            return [_one(name, known, failed) for name in names]
    if selection.tip is not None and settings.selects("lint"):
        report = judge_selection(repository, selection, config, replace(settings, checks=()))
        for finding in report.findings:
            known.setdefault(finding.fingerprint, Found(finding, None))
    return [_one(name, known, failed) for name in names]


def _one(name: str, known: dict[str, Found], failed: Sequence[str]) -> Found:
    matching = _matching(name, known)
    if not matching and failed:
        raise GuardError(f"{name} was not found, and not every check came to its end: {'; '.join(failed)}")
    if not matching:
        raise GuardError(f"no finding has the fingerprint {name} in this range; give the range options of the report")
    if len(matching) > 1:
        raise GuardError(f"{name} names {len(matching)} findings: {', '.join(sorted(matching))}")
    return known[matching[0]]


def _matching(name: str, known: dict[str, Found]) -> list[str]:
    return [mark for mark in known if mark.startswith(name.lower())]
