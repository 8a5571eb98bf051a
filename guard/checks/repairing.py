"""A series of repairs: each fix that a sync lost brought back by itself, proven before the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guard.checks.bringing import Changes, breaks, completed
from guard.checks.restoration import Restoration, restore, with_changes
from guard.config import Config
from guard.model import Finding, Side
from guard.sync.trees import FourTrees


@dataclass(frozen=True, slots=True)
class Repair:
    """What one fix (or one break) needs to be whole again in merged.

    Attributes:
        findings: what tells of it.
        changes: new entries by path, on top of the repairs before it; empty where all of it was refused.
        refused: findings that could not be restored, with why.
    """

    findings: tuple[Finding, ...]
    changes: Changes
    refused: tuple[tuple[Finding, Restoration], ...]

    @property
    def title(self) -> str:
        """`#4941 Scale by tokens`, or what the finding says."""
        first = self.findings[0]
        if not first.origins:
            return f"{first.name} in {first.path}: {first.subject or first.symbol}"
        origin = first.origins[0]
        return origin.subject if origin.pr is None or f"#{origin.pr}" in origin.subject else (
            f"#{origin.pr} {origin.subject}"
        )  # fmt: skip


def by_fix(findings: Sequence[Finding]) -> list[tuple[Finding, ...]]:
    """Findings of one fix together, in the order of the first of each; breaks last, since a repair may mend them."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda item: item.code.startswith("GRD3")):
        origin = finding.origins[0] if finding.origins else None
        key = f"#{origin.pr}" if origin and origin.pr is not None else (origin.commit if origin else "")
        family = finding.code[:4]
        groups.setdefault((family, key or finding.fingerprint), []).append(finding)
    return [tuple(group) for group in groups.values()]


def repairs(
    trees: FourTrees,
    groups: Sequence[Sequence[Finding]],
    config: Config,
    tell: Callable[[str], None],
) -> Iterator[Repair]:
    """Repair one group after the other.

    Arguments:
        trees: the sync; merged is what is repaired.
        groups: the findings of each fix.
    """
    known = None
    made: Changes = {}
    for number, group in enumerate(groups, 1):
        tell(f"restoring {number} of {len(groups)}")
        now = with_changes(trees, made)
        changes: Changes = {}
        done: list[Finding] = []
        refused: list[tuple[Finding, Restoration]] = []
        for finding in group:
            restoration = restore(with_changes(now, changes), finding, config, among_others=bool(made or changes))
            if restoration.refused is not None:
                refused.append((finding, restoration))
                continue
            changes.update(restoration.changes)
            done.append(finding)
        if any(entry is not None or path in now.merged for path, entry in changes.items()):
            if known is None:
                known = breaks(now, config)
            side = next((f.lost_side for f in group if f.lost_side), Side.THEIRS)
            changes, new = completed(now, changes, known, config, side, with_changes)
            if new:
                said = f"bringing it back would break {new[0].path}: {new[0].message}"
                refused += [(finding, Restoration({}, said)) for finding in done]
                changes, done = {}, []
        if changes:
            made.update(changes)
        yield Repair(tuple(group), changes, tuple(refused))
