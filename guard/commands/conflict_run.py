"""What `merge`, `resolve` and `forecast` share: resolve the hunks of a conflict, and report what was and was not."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from guard import __version__
from guard.checks.hunk_notes import Notes, hunk_notes
from guard.checks.proving import prove
from guard.codes import name_of
from guard.commands.check import jobs, store
from guard.commands.output import OutputOptions
from guard.documents.definitions import MODULE
from guard.documents.kinds import is_python
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.git.patch import changed_tree, store_blob
from guard.merging.conflicted import Conflicted, conflicted_files
from guard.merging.hunks import Hunk, Labels, lines_of, marked
from guard.merging.resolve import FileResolution, HunkOutcome
from guard.merging.resolving import resolve_file
from guard.model import Evidence, Finding, HunkRecord, MergeRecord, Outcome, Report, Severity, Status, fingerprint
from guard.sync.topology import Sync
from guard.sync.trees import load


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What is to become of one conflicted file.

    Attributes:
        conflicted: the conflict as git left it.
        resolution: what could be joined; None where the file cannot be worked on.
    """

    conflicted: Conflicted
    resolution: FileResolution | None

    @property
    def path(self) -> str:
        """Where it stands."""
        return self.conflicted.path

    @property
    def resolved(self) -> bool:
        """Whether no hunk is open."""
        return self.resolution is not None and not self.resolution.open

    @property
    def changed(self) -> bool:
        """Whether any hunk was joined."""
        return self.resolution is not None and any(outcome.resolved for outcome in self.resolution.outcomes)

    def content(self, labels: Labels) -> bytes:
        """The file with what was joined, and markers around what is open."""
        assert self.resolution is not None
        assert self.conflicted.source is not None
        text = "".join(
            marked(part, labels) if isinstance(part, Hunk) else "".join(part) for part in self.resolution.segments
        )
        return self.conflicted.source.encode(text)

    def program(self) -> bytes:
        """The file with the open hunks as one side has them: what the judge reads."""
        assert self.resolution is not None
        assert self.conflicted.source is not None
        return self.conflicted.source.encode(self.resolution.program)


@dataclass(frozen=True, slots=True)
class ConflictPlan:
    """A conflict with what could be resolved of it."""

    sync: Sync | None
    files: tuple[FilePlan, ...]
    outcomes: tuple[Outcome, ...]
    seconds: float
    notices: tuple[str, ...] = ()
    notes: Notes = field(default_factory=dict)


def plan_conflict(
    repository: Repository,
    sync: Sync | None,
    stages: Mapping[str, Mapping[int, Entry]],
    contents: Mapping[str, bytes | None],
    *,
    automatic: str | None = None,
    options: OutputOptions,
) -> ConflictPlan:
    """Resolve what can be resolved; nothing is written.

    Arguments:
        sync: what is merged, for the notes and the judge; None where only the conflict is known (rebase).
        stages, contents: the conflict as git left it (see `conflicted_files`).
        automatic: SHA of the tree that git's merge gives, where it is known.
        options: how the judge goes about it.
    """
    started = time.monotonic()
    files = [_resolved(item) for item in conflicted_files(repository, stages, contents)]
    outcomes = [Outcome("resolve", Status.RAN, None, time.monotonic() - started)]
    if sync is None:
        outcomes.append(Outcome("proof", Status.SKIPPED, "only the conflict is known, and not what is merged"))
    elif any(file.changed for file in files):
        files, judged = _proven(repository, sync, files, automatic, options)
        outcomes += judged
    notes = _notes(repository, sync, files) if sync else {}
    return ConflictPlan(sync, tuple(files), tuple(outcomes), time.monotonic() - started, (), notes)


def _proven(
    repository: Repository, sync: Sync, files: list[FilePlan], automatic: str | None, options: OutputOptions
) -> tuple[list[FilePlan], list[Outcome]]:
    """The files with those hunks open again in which the judge finds a loss or a break.

    Raises:
        GuardError: a check failed: nothing is proven then.
    """
    base = sync.bases[0] if sync.explicit else None
    tree = automatic or repository.automatic_merge(sync.ours, sync.theirs, base).tree
    refused: dict[str, dict[int, str]] = {}
    outcomes: list[Outcome] = []
    known = store(options)
    for _ in range(_MOST_PROOFS):
        if not any(file.changed for file in files):
            break
        trees = load(repository, replace(sync, checked=_tree_with(repository, tree, sync, files)))
        hunks = {file.path: file.resolution.outcomes for file in files if file.resolution}
        proof = prove(trees, hunks, jobs(options), known)
        if proof.failed:
            failed = "; ".join(f"{o.check}: {o.reason}" for o in proof.outcomes if o.status is Status.FAILED)
            raise GuardError(f"the joined hunks cannot be proven: {failed}")
        outcomes = list(proof.outcomes)
        if not proof.refuted:
            return files, outcomes
        for path, found in proof.refuted.items():
            refused.setdefault(path, {}).update(found)
        files = [
            _resolved(file.conflicted, refused[file.path]) if file.path in proof.refuted else file for file in files
        ]
    # What the judge did not see in this form is not proven: it stays open.
    return [
        _resolved(f.conflicted, {**_everything(f), **refused[f.path]}) if f.path in refused else f for f in files
    ], outcomes


_MOST_PROOFS = 3


def _everything(file: FilePlan) -> dict[int, str]:
    outcomes = file.resolution.outcomes if file.resolution else ()
    return {outcome.number: "it shares a file with a hunk in which the judge finds a loss" for outcome in outcomes}


def _tree_with(repository: Repository, tree: str, sync: Sync, files: Sequence[FilePlan]) -> str:
    """The automatic merge with the joined files in it; a file that cannot be worked on as ours has it."""
    changes: dict[str, Entry | None] = {}
    ours, merged = repository.entries(sync.ours), repository.entries(tree)
    for file in files:
        if file.resolution is None:
            changes[file.path] = ours.get(file.path)
        elif file.path in merged:
            changes[file.path] = Entry(merged[file.path].mode, store_blob(repository, file.program()))
    return changed_tree(repository, tree, changes)


def _notes(repository: Repository, sync: Sync, files: Sequence[FilePlan]) -> Notes:
    hunks = [(file.path, outcome) for file in files if file.resolution for outcome in file.resolution.outcomes]
    return hunk_notes(repository, sync, hunks)


def _resolved(conflicted: Conflicted, keep_open: Mapping[int, str] | None = None) -> FilePlan:
    if conflicted.reason:
        return FilePlan(conflicted, None)
    return FilePlan(conflicted, resolve_file(conflicted.path, conflicted.segments, keep_open or {}))


def report_of(plan: ConflictPlan, command: str, labels: Labels) -> Report:
    """The report of a plan: a row a hunk, and a finding for each that is left to a person."""
    rows: list[HunkRecord] = []
    findings: list[Finding] = []
    for file in plan.files:
        if file.resolution is None:
            row = HunkRecord(file.path, 1, 1, MODULE, False, file.conflicted.reason)
            rows.append(row)
            findings.append(_finding(row, Evidence()))
            continue
        for outcome, (line, end) in zip(file.resolution.outcomes, _places(file.resolution), strict=True):
            note = plan.notes.get((file.path, outcome.number))
            row = HunkRecord(
                file.path,
                line,
                end,
                _symbol(file, outcome),
                outcome.resolved,
                outcome.reason,
                **(note.facts if note else {}),
            )
            rows.append(row)
            if not outcome.resolved:
                hunk = outcome.hunk
                texts = ["".join(lines).rstrip("\n") or None for lines in (hunk.base, hunk.ours, hunk.theirs)]
                findings.append(_finding(row, Evidence(*texts)))
    ordered = sorted(findings, key=lambda found: (-found.score, found.path, found.line))
    sync = plan.sync
    merges = (
        ()
        if sync is None
        else (MergeRecord(sync.merge, sync.checked, sync.ours, sync.theirs, sync.bases, sync.subject),)
    )
    return Report(
        command=command,
        version=__version__,
        findings=tuple(ordered),
        outcomes=plan.outcomes,
        merges=merges,
        resolution=tuple(rows),
        files=len(plan.files),
        seconds=plan.seconds,
        notices=plan.notices,
    )


def _finding(row: HunkRecord, evidence: Evidence) -> Finding:
    texts = "\n".join(text or "" for text in (evidence.base, evidence.ours, evidence.theirs))
    brings = [
        f"{side} brings {_named(origins)}" for side, origins in (("ours", row.ours), ("theirs", row.theirs)) if origins
    ]
    loses = [f"taking {'theirs' if side == 'ours' else 'ours'} would lose {what}" for side, what in row.would_lose]
    message = "; ".join([f"this conflict is left to you: {row.reason}", *brings, *loses])
    return Finding(
        "GRD405",
        name_of("GRD405"),
        Severity.ERROR,
        row.path,
        row.line,
        message,
        fingerprint("GRD405", row.path, row.symbol, texts or row.reason),
        end_line=max(row.line, row.end_line),
        symbol=row.symbol,
        numeric=row.numeric,
        origins=(*row.theirs, *row.ours),
        evidence=evidence,
        score=row.rank,
    )


def _named(origins: Sequence[object]) -> str:
    from guard.model import Origin

    names = [f"#{o.pr}" if o.pr is not None else o.commit[:10] for o in origins if isinstance(o, Origin)]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _places(resolution: FileResolution) -> list[tuple[int, int]]:
    """The lines (1-based) of each hunk in the file as it is left, markers included."""
    shift = 0
    places: list[tuple[int, int]] = []
    for outcome in resolution.outcomes:
        start, end = outcome.lines
        if outcome.resolved:
            places.append((start + shift + 1, max(start + shift + 1, end + shift)))
            continue
        size = len(lines_of(marked(outcome.hunk, Labels())))
        places.append((start + shift + 1, start + shift + size))
        shift += size - (end - start)
    return places


def _symbol(file: FilePlan, outcome: HunkOutcome) -> str:
    """The dotted name of the definition that a hunk stands in."""
    if not is_python(file.path, stubs=True) or file.resolution is None:
        return MODULE
    try:
        tree = ast.parse(file.resolution.program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return MODULE
    line = outcome.lines[0] + 1
    names: list[str] = []
    body: Sequence[ast.AST] = tree.body
    while True:
        inner = next(
            (
                node
                for node in body
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.lineno <= line <= (node.end_lineno or 0)
            ),
            None,
        )
        if inner is None:
            return ".".join(names) or MODULE
        names.append(inner.name)
        body = inner.body


def contents_of(repository: Repository, paths: Sequence[str]) -> dict[str, bytes | None]:
    """What stands in the work tree at some paths; None where there is no regular file."""
    if repository.work_tree is None:
        raise GuardError("this repository has no work tree")
    found: dict[str, bytes | None] = {}
    for path in paths:
        place = repository.work_tree / path
        found[path] = place.read_bytes() if place.is_file() and not place.is_symlink() else None
    return found
