"""GRD4: what a team decided about files. A list makes no loss silent: findings inside it are marked, not dropped."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from guard.checks.contract import CheckContext, CheckResult
from guard.codes import name_of
from guard.config import Config, CoupledFiles, SidePolicy
from guard.globs import path_matches
from guard.model import Finding, Severity, Side, fingerprint
from guard.sync.trees import FourTrees


def check_policy(context: CheckContext) -> CheckResult:
    """Protected paths, coupled files, and the side lists themselves."""
    trees, config = context.trees, context.config
    findings = [*_protected(trees, config), *_expired(trees, config)]
    for group in config.coupled:
        findings.extend(_coupled(trees, group))
    for side, entries in ((Side.THEIRS, config.take_theirs), (Side.OURS, config.keep_ours)):
        for entry in entries:
            findings.extend(_not_taken(trees, side, entry))
    return CheckResult(tuple(findings))


def mark(findings: Iterable[Finding], config: Config) -> Iterator[Finding]:
    """Say of each finding which side list its file is on. Nothing about the finding itself changes."""
    lists = [("take theirs", entry) for entry in config.take_theirs] + [("keep ours", e) for e in config.keep_ours]
    for finding in findings:
        entry = next((pair for pair in lists if path_matches(finding.path, pair[1].paths)), None)
        if entry is None or finding.policy is not None:
            yield finding
        else:
            yield replace(finding, policy=f"{entry[0]}: {entry[1].reason or 'no reason given'}")


def _protected(trees: FourTrees, config: Config) -> Iterator[Finding]:
    for path in trees.touched:
        if path_matches(path, config.protected) and trees.merged.get(path) != trees.ours.get(path):
            gone = path not in trees.merged
            yield _finding(
                "GRD401",
                Severity.ERROR,
                path,
                f"{path} is protected and must equal ours, but merged {'deletes it' if gone else 'changes it'}",
            )


def _coupled(trees: FourTrees, group: CoupledFiles) -> Iterator[Finding]:
    members = sorted(path for path in {*trees.ours, *trees.merged} if path_matches(path, group.paths))
    changed = [path for path in members if trees.merged.get(path) != trees.ours.get(path)]
    left = [path for path in members if path not in changed]
    # What the other side did not change either has no second half that could be missing.
    waiting = [path for path in left if trees.theirs.get(path) != trees.base.get(path)]
    if changed and waiting:
        yield _finding(
            "GRD402",
            Severity.WARNING,
            waiting[0],
            f"{', '.join(waiting)} did not change together with {', '.join(changed)}"
            + (f" ({group.reason})" if group.reason else ""),
        )


def _expired(trees: FourTrees, config: Config) -> Iterator[Finding]:
    today = datetime.datetime.now(datetime.UTC).date()
    origin = _inside(config.source, trees.repository.work_tree)
    for key, entries in (("take-theirs", config.take_theirs), ("keep-ours", config.keep_ours)):
        for entry in entries:
            named = ", ".join(entry.paths)
            if not entry.reason.strip():
                yield _finding("GRD403", Severity.WARNING, origin, f"{key} for {named} gives no reason")
            if entry.expires is not None and entry.expires < today:
                yield _finding("GRD403", Severity.WARNING, origin, f"{key} for {named} expired on {entry.expires}")


def _inside(source: str | None, work_tree: Path | None) -> str:
    """The configuration file as a path of the repository; a report must not name places of the machine."""
    if source is None:
        return "configuration"
    file = Path(source.removeprefix("HEAD:"))
    if work_tree is not None and file.is_absolute() and file.is_relative_to(work_tree):
        return file.relative_to(work_tree).as_posix()
    return file.name if file.is_absolute() else file.as_posix()


def _not_taken(trees: FourTrees, side: Side, entry: SidePolicy) -> Iterator[Finding]:
    wanted = trees.theirs if side is Side.THEIRS else trees.ours
    for path in trees.touched:
        if path_matches(path, entry.paths) and trees.merged.get(path) != wanted.get(path):
            message = f"{path} is to be taken whole from {side.value}, but merged differs from it"
            yield _finding("GRD404", Severity.WARNING, path, message)


def _finding(code: str, severity: Severity, path: str, message: str) -> Finding:
    return Finding(
        code=code,
        name=name_of(code),
        severity=severity,
        path=path,
        line=1,
        message=message,
        fingerprint=fingerprint(code, path, "<module>", message),
        score={Severity.ERROR: 50.0, Severity.WARNING: 5.0}.get(severity, 0.0),
    )
