"""Judge the Python files of a sync that need a close look, spread over processes."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace

from guard.documents.definitions import EMPTY, ParseMemo, SourceFile, parse
from guard.documents.gc_paused import gc_paused
from guard.documents.kinds import is_python
from guard.errors import NotAnalysedError, fault
from guard.judge.changes import JudgedChange
from guard.judge.definition_index import DefinitionIndex
from guard.judge.judge import FileForms, judge
from guard.model import Outcome, Side, Status, Verdict
from guard.parallel import in_processes
from guard.sync.trees import TREES, FourTrees

_HEAD = re.compile(rb"^(?=(?:[ \t]{1,4})?(?:async[ \t]+def|def|class)[ \t])", re.MULTILINE)
_OF_A_CLEAN_MERGE = frozenset({Verdict.DEAD, Verdict.TWICE})
SMALLEST_SHARE = 1_000_000  # bytes of source that are worth a process of their own


@dataclass(frozen=True, slots=True)
class Judgement:
    """All judged changes of a sync, and what could not be judged.

    Attributes:
        unread: Python files of which some tree's version could not be read as Python.
    """

    changes: tuple[JudgedChange, ...]
    outcomes: tuple[Outcome, ...] = ()
    unread: tuple[str, ...] = ()


def looked_at(trees: FourTrees) -> list[str]:
    """Python files to judge: those that are not as git merged them, and those whose changes had to go elsewhere."""
    chosen = set(trees.resolved)
    for side in ("ours", "theirs"):
        held = getattr(trees, side)
        chosen.update(path for path in trees.changed_by(side) if path in held and path not in trees.merged)
    followed = (_followed(trees, path) for path in chosen if is_python(path, stubs=True))
    return sorted({path for path in followed if path is not None})


def _followed(trees: FourTrees, path: str) -> str | None:
    """The path under which a file is judged: its new name where a side renamed it; None where git joined it there."""
    if path in trees.merged:
        return path
    source = path if path in trees.base else trees.renames.source(path)
    if source is None:
        return path
    names = (trees.renames.of(side).get(source) for side in Side)
    name = next((name for name in names if name is not None and name in trees.merged), None)
    if name is None or name in trees.base:
        return path
    joined = trees.automatic.get(name) == trees.merged[name] and not trees.conflicts & {name, path}
    return None if joined and path not in trees.automatic else name


def _places(trees: FourTrees, path: str) -> dict[str, str]:
    """Where each tree has a file of merged: under the name it had before, where a side renamed it to this one."""
    places = dict.fromkeys(TREES, path)
    source = trees.renames.source(path) if path in trees.merged and path not in trees.base else None
    if source is not None and source in trees.base:
        places["base"] = source
        for side in Side:
            tree = getattr(trees, side.value)
            known = (path, source, trees.renames.of(side).get(source, path))
            places[side.value] = next((name for name in known if name in tree), path)
    return places


def clean_of_both(trees: FourTrees) -> list[str]:
    """Python files that both sides changed and git joined by itself, as they stand in merged."""
    both = set(trees.changed_by("ours")) & set(trees.changed_by("theirs"))
    return sorted(
        path
        for path in both - set(trees.resolved)
        if is_python(path)
        and all(path in tree for tree in (trees.base, trees.ours, trees.theirs, trees.merged))
        and trees.ours[path] != trees.theirs[path]
        and _meet(trees, path)
    )


def _meet(trees: FourTrees, path: str) -> bool:
    """Whether both sides changed the text of one definition of a file, by its lines."""
    base, ours, theirs = (_chunks(trees.blob(tree, path) or b"") for tree in ("base", "ours", "theirs"))
    return any(base.get(head) not in (None, ours.get(head), theirs.get(head)) for head in base)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The text of a file by the heads of its functions and classes, two levels deep; equal heads joined."""
    found: dict[bytes, bytes] = {}
    for chunk in _HEAD.split(data):
        head = chunk.partition(b"(")[0]
        found[head] = found.get(head, b"") + chunk
    return found


def judge_sync(trees: FourTrees, jobs: int = 1, only: Container[str] | None = None) -> Judgement:
    """Judge the files that need it.

    Arguments:
        jobs: processes to use at most.
        only: the paths to judge; all that need it by default.
    """
    with gc_paused():
        return _judge_sync(trees, jobs, only)


def _judge_sync(trees: FourTrees, jobs: int, only: Container[str] | None) -> Judgement:
    clean = clean_of_both(trees)
    paths = sorted(path for path in {*looked_at(trees), *clean} if only is None or path in only)
    received = [path for path in trees.touched if is_python(path) and path in trees.merged]
    elsewhere = DefinitionIndex(received, trees.blob)
    work = _Work(trees, elsewhere, frozenset(clean))
    sizes = {path: sum(len(trees.blob(tree, path) or b"") for tree in TREES) for path in paths}
    shares = min(jobs, max(1, sum(sizes.values()) // SMALLEST_SHARE))
    order = sorted(paths, key=lambda path: -sizes[path])  # no process is left alone with the largest at the end
    done = dict(zip(order, in_processes(work, order, shares), strict=True))
    changes, outcomes = [], []
    for found, told in (done[path] for path in paths):
        changes += found or []
        outcomes += told
    unread = tuple(path for path in paths if done[path][0] is None)
    return Judgement(tuple(changes), tuple(outcomes), unread)


@dataclass(frozen=True, slots=True)
class _Work:
    trees: FourTrees
    elsewhere: DefinitionIndex
    clean: frozenset[str] = frozenset()

    def __call__(self, path: str) -> tuple[list[JudgedChange] | None, list[Outcome]]:
        forms, outcomes = {}, []
        parsed: dict[str, SourceFile] = {}
        memo = ParseMemo()
        places = _places(self.trees, path)
        for tree in TREES:
            entry = getattr(self.trees, tree).get(places[tree])
            if entry is None or entry.kind != "file":
                forms[tree] = EMPTY
                continue
            try:
                if entry.sha not in parsed:
                    parsed[entry.sha] = parse(self.trees.read(entry.sha), memo, lenient=True)
            except NotAnalysedError as refused:
                outcomes.append(Outcome("lost", Status.SKIPPED, f"{tree}: {refused.reason}", 0.0, path))
                return None, outcomes
            forms[tree] = parsed[entry.sha]
            if forms[tree].unread:
                outcomes.append(Outcome("lost", Status.SKIPPED, f"{tree}: {_as_text(forms[tree].unread)}", 0.0, path))
        try:
            changes = judge(FileForms(path, **forms), self.elsewhere)
        except (RecursionError, MemoryError, ValueError) as error:  # of one file: deeper or longer than can be compared
            outcomes.append(Outcome("lost", Status.SKIPPED, f"cannot be compared: {fault(error)}", 0.0, path))
            return [], outcomes
        if places["base"] != path:
            changes = [_named(change, path, places[change.side.value]) for change in changes]
        if path in self.clean:  # as git joined it: nothing is lost there, but a change may be without effect
            changes = [c for c in changes if c.verdict in _OF_A_CLEAN_MERGE or not c.verdict.is_loss]
            changes = [c if c.verdict is not Verdict.SUPERSEDED else replace(c, pieces=()) for c in changes]
        return changes, outcomes


def _as_text(lines: int) -> str:
    what = "1 line is" if lines == 1 else f"{lines} lines are"
    return f"{what} no Python for this interpreter and compared as text"


def _named(change: JudgedChange, path: str, own: str) -> JudgedChange:
    """A change to a renamed file, with the name that the side itself has for it."""
    return replace(change, source=replace(change.source, path=own)) if change.source.path == path else change
