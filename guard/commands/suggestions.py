"""What a reader could take over as it stands: the safe edits of a rule, and the edits that bring a loss back.

Working a loss's edits out means asking the judge several times, so it is done for formats that can show them, worst
first, and for at most `MOST` findings of a run.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from guard.checks.remembered import keep_as, key_of, recall_as
from guard.checks.restoration import restore
from guard.config import Config
from guard.documents.decoding import decode
from guard.errors import GuardError, NotAnalysedError
from guard.git import Entry, Repository
from guard.git.patch import changed_tree, patch_between
from guard.lint.fixes import fix_source
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet
from guard.lint.source import Source
from guard.model import Edit, Finding, Report, Severity
from guard.parallel import in_processes
from guard.report.groups import group
from guard.report.line_hash import line_hashes
from guard.report.next_steps import restorable
from guard.store.facts import FactStore
from guard.sync.topology import Sync
from guard.sync.trees import FourTrees, load

if TYPE_CHECKING:
    from guard.commands.progress import Progress

LONGEST_PATCH = 40_000  # bytes of one finding's patch in a report
MOST = 30
"""Losses of one run whose edits are worked out; the others name the command that does it."""
Read = Callable[[Finding], bytes | None]


def with_line_hashes(report: Report, read: Read) -> Report:
    """The findings with the identity that GitHub's code scanning gives to their lines.

    Args:
        read: gives the bytes of a finding's file, as it was checked; None where there is none.
    """
    by_file: dict[tuple[str | None, str], list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_file[finding.merge, finding.path].append(finding)
    hashes: dict[tuple[str | None, str, int], str] = {}
    for (merge, path), findings in by_file.items():
        data = read(findings[0])
        if data is not None:
            found = line_hashes(data, {finding.line for finding in findings})
            hashes.update({(merge, path, line): value for line, value in found.items()})
    marked = (replace(f, line_hash=hashes.get((f.merge, f.path, f.line))) for f in report.findings)
    return replace(report, findings=tuple(marked))


def with_fixes(report: Report, read: Read, rules: RuleSet, project: ProjectIndex | None) -> Report:
    """The findings of rules with the safe edits that `guard check --fix` would make for them."""
    by_path: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        if finding.fixable and finding.merge is None and finding.code.startswith("GRD1"):
            by_path[finding.path].append(finding)
    edits: dict[tuple[str, str, int], tuple[Edit, ...]] = {}
    for path, findings in by_path.items():
        before = read(findings[0])
        if before is None:
            continue
        for finding in findings:
            only = rules.only((finding.name,), ())
            try:
                result = fix_source(Source(path, before), only, project)
            except NotAnalysedError:
                continue  # the finding stands without an edit; `check --fix` says why
            if result.data is not None and (finding.name, finding.line) in result.fixed:
                near = [e for e in edits_between(path, before, result.data) if _touches(e, finding)]
                edits[path, finding.name, finding.line] = tuple(near)
    found = (
        replace(f, edits=e, patch=_unified(read(f), f.path, e)) if (e := edits.get((f.path, f.name, f.line))) else f
        for f in report.findings
    )
    return replace(report, findings=tuple(found))


def with_restorations(
    report: Report, repository: Repository, syncs: Iterable[Sync], config: Config, store: FactStore, jobs: int,
    tell: Progress,
) -> Report:  # fmt: skip
    """The worst losses with the edits that bring them back, each tried on the judge; a refused one stays as it is."""
    standing = [f for f in report.findings if f.accepted is None and f.severity is not Severity.NOTE and restorable(f)]
    worst = [f for found in group(standing) for f in found.findings][:MOST]
    made: dict[tuple[str | None, str], Finding] = {}
    for sync in syncs:
        asked = [finding for finding in worst if finding.merge == sync.merge]
        if not asked:
            continue
        trees = load(repository, sync)
        kept = _Kept(store, key_of("restoration", trees, config))
        missing = [finding for finding in asked if kept.get(finding) is None]
        tell(f"working out how to bring {len(missing)} losses of {sync.merge[:10]} back")
        tell.begin(len(missing), "loss")
        tries = in_processes(_Try(trees, config), missing, jobs, lambda *_: tell.done())
        for finding, changes in zip(missing, tries, strict=True):
            # Here, and not in the processes: they would share one index.
            kept.put(_with_changes(repository, trees, finding, changes))
        store.flush()
        made.update({(finding.merge, finding.fingerprint): kept.get(finding) or finding for finding in asked})
        trees.forget()
    found = (
        replace(f, edits=m.edits, patch=m.patch) if (m := made.get((f.merge, f.fingerprint))) is not None else f
        for f in report.findings
    )
    return replace(report, findings=tuple(found))


def edits_between(path: str, before: bytes, after: bytes) -> tuple[Edit, ...]:
    """The runs of lines in which two versions of a file differ."""
    old, new = (decode(data).text.splitlines(keepends=True) for data in (before, after))
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(path, start + 1, end, "".join(new[first:last])) for tag, start, end, first, last in codes if tag != "equal"
    )


@dataclass(frozen=True, slots=True)
class _Try:
    """What to change in merged for one finding: new entries by path, empty where nothing can be offered."""

    trees: FourTrees
    config: Config

    def __call__(self, finding: Finding) -> dict[str, Entry | None]:
        try:
            return dict(restore(self.trees, finding, self.config).changes)
        except GuardError:
            return {}  # `guard restore` says why


class _Kept:
    """Findings with their edits, as worked out for these trees before."""

    def __init__(self, store: FactStore, key: str) -> None:
        self._store = store
        self._key = key
        self._here: dict[str, Finding] = {}

    def get(self, finding: Finding) -> Finding | None:
        name = f"{self._key}:{finding.fingerprint}"
        known = self._here.get(finding.fingerprint)
        return known if known is not None else recall_as(self._store, name, Finding)

    def put(self, finding: Finding) -> None:
        self._here[finding.fingerprint] = finding
        keep_as(self._store, f"{self._key}:{finding.fingerprint}", finding)


def _with_changes(
    repository: Repository, trees: FourTrees, finding: Finding, changes: dict[str, Entry | None]
) -> Finding:
    if not changes:
        return finding
    checked = trees.sync.checked
    patch = patch_between(repository, checked, changed_tree(repository, checked, changes))
    if len(patch) > LONGEST_PATCH:
        return finding  # `restore` prints it whole; a report stays small
    told = replace(finding, patch=patch.decode("utf-8", "surrogateescape"))
    edits: list[Edit] = []
    for path, after in changes.items():
        before = trees.merged.get(path)
        if before is None or after is None or before.mode != after.mode or before.kind != "file":
            return told  # a file that comes, goes or changes its mode is a patch, and no edit of lines
        try:
            edits += edits_between(path, trees.read(before.sha), repository.blob(after.sha))
        except NotAnalysedError:
            return told
    return replace(told, edits=tuple(edits))


def _touches(edit: Edit, finding: Finding) -> bool:
    last = max(finding.line, finding.end_line or finding.line)
    return edit.start <= last + 1 and max(edit.end, edit.start) >= finding.line


def _unified(before: bytes | None, path: str, edits: Sequence[Edit]) -> str | None:
    if before is None:
        return None
    old = decode(before).text.splitlines(keepends=True)
    new = list(old)
    for edit in sorted(edits, key=lambda edit: -edit.start):
        new[edit.start - 1 : max(edit.end, edit.start - 1)] = edit.text.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))
