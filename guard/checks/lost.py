"""What a sync lost, reverted, left dead or brought back: judged changes told as findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence

from guard.checks.contract import CheckContext, CheckResult
from guard.checks.findings import finding_of, superseded, taken_out_later
from guard.checks.orphans import orphan_tests, taken_whole
from guard.checks.returned import returned
from guard.checks.textual import judged_by_lines
from guard.judge.changes import JudgedChange
from guard.judge.directives import DIRECTIVE
from guard.judge.numeric import is_test
from guard.judge.sync_changes import judge_sync
from guard.model import ChangeCount, Side, Survival, Verdict
from guard.provenance.afterwards import told_apart
from guard.provenance.attribution import attribute


def check_lost(context: CheckContext) -> CheckResult:
    """Judge every change of both sides of a sync, and tell the losses."""
    trees = context.trees
    context.progress("judging changes")
    judged = judge_sync(trees, context.jobs)
    losses = [change for change in judged.changes if change.verdict.is_told and change.pieces]
    context.progress("asking history about what was lost")
    told = attribute(trees.repository, trees.sync, losses)
    told_losses = told_apart(trees, [change for change in told if change.verdict.is_loss], context.jobs)
    open_losses = told_losses.lost
    counts, survival = counted(judged.changes)
    of_file = {(item.path, item.side): item for item in survival}
    told_groups = [
        (group, finding_of(group, tests_there(group, trees.merged), of_file.get((group[0].source.path, group[0].side))))
        for group in grouped(open_losses)
    ]
    findings = [finding for _, finding in told_groups]
    behind = {origin.commit for change in open_losses for origin in change.origins}
    findings += [taken_out_later(group, behind) for group in grouped(told_losses.later)]
    rewritten = (change for change in told if change.pieces[0].verdict is Verdict.SUPERSEDED)
    findings += [superseded(group) for group in grouped(rewritten)]
    findings += returned(told_groups)
    findings += orphan_tests(trees, open_losses)
    findings += taken_whole(trees, survival)
    by_lines, survival_by_lines = judged_by_lines(trees, judged.unread)
    findings += by_lines
    survival = (*survival, *survival_by_lines)
    return CheckResult(tuple(findings), judged.outcomes, counts[Side.OURS], counts[Side.THEIRS], survival)


def tests_there(group: Sequence[JudgedChange], merged: Container[str]) -> tuple[str, ...]:
    """Tests that the commit behind the changes touched and that merged still has, where a fix was lost."""
    first = group[0]
    if is_test(first.place.path) or not first.origins or not first.origins[0].is_fix:
        return ()
    return tuple(path for path in first.origins[0].tests if path in merged)


def grouped(changes: Iterable[JudgedChange]) -> list[tuple[JudgedChange, ...]]:
    """Changes that are one to a reader: one side, one definition, one commit behind them.

    What no commit accounts for (an `else` tells nothing) belongs to the one commit that lost something there.
    """
    places: dict[tuple[object, ...], dict[str, list[JudgedChange]]] = defaultdict(lambda: defaultdict(list))
    for change in changes:
        back = change.verdict is Verdict.REVIVED
        by = change.by.commit if change.by else ""
        place = places[change.place.path, change.place.symbol, change.side, change.kind, back, by]
        place[change.origins[0].commit if change.origins else ""].append(change)
    for commits in places.values():
        known = [commit for commit in commits if commit]
        if "" in commits and len(known) == 1:
            nobodys = commits.pop("")
            commits[known[0]] = sorted([*commits[known[0]], *nobodys], key=lambda change: change.place.line)
    return [tuple(group) for commits in places.values() for group in commits.values()]


def counted(changes: Iterable[JudgedChange]) -> tuple[dict[Side, ChangeCount], tuple[Survival, ...]]:
    """How many changes each side made, and how many of each file's are in effect."""
    total: dict[tuple[str, Side], int] = defaultdict(int)
    lost: dict[tuple[str, Side], int] = defaultdict(int)
    replaced: dict[tuple[str, Side], int] = defaultdict(int)
    for change in changes:
        if change.kind == DIRECTIVE:
            continue
        key = change.source.path, change.side
        total[key] += 1
        lost[key] += change.verdict.is_loss
        replaced[key] += change.verdict is Verdict.SUPERSEDED
    survival = tuple(Survival(*key, total[key], total[key] - lost[key] - replaced[key]) for key in sorted(total))
    counts = {}
    for side in Side:
        made = sum(count for (_, whose), count in total.items() if whose is side)
        gone = sum(count for (_, whose), count in lost.items() if whose is side)
        kept = sum(item.kept for item in survival if item.side is side)
        counts[side] = ChangeCount(made, kept, gone)
    return counts, survival
