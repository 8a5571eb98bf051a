"""GRD207: tests in merged that speak of a definition that was lost; and GRD209: files taken from one side whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from guard.codes import name_of
from guard.documents.definitions import MODULE, SourceFile, parse
from guard.documents.kinds import is_python
from guard.errors import NotAnalysedError
from guard.judge.changes import JudgedChange
from guard.judge.numeric import is_test
from guard.model import Confidence, Finding, Related, Severity, Side, Survival, Verdict, fingerprint
from guard.sync.trees import FourTrees

SHORTEST_NAME = 8  # characters; a shorter name may mean anything in a test


def orphan_tests(trees: FourTrees, losses: Sequence[JudgedChange]) -> list[Finding]:
    """Tests of merged that name what the sync lost, and that nothing in merged defines."""
    lost: dict[str, JudgedChange] = {}
    for change in losses:
        name = change.subject or ""
        whole = change.kind == "definition" and change.verdict is Verdict.LOST and not is_test(change.place.path)
        if whole and len(name) >= SHORTEST_NAME and not name.startswith("__"):
            lost[name] = change
    if not lost:
        return []
    mentioned = re.compile(rb"\b(" + b"|".join(re.escape(name.encode()) for name in lost) + rb")\b")
    defined = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
    held: set[str] = set()
    tests: list[tuple[str, set[str]]] = []
    for path in trees.touched:
        entry = trees.merged.get(path)
        if entry is None or entry.kind != "file" or not is_python(path):
            continue
        data = trees.read(entry.sha)
        named = {match.decode() for match in mentioned.findall(data)}
        if named:
            held.update({match.decode() for match in defined.findall(data)} & named)
            if is_test(path):
                tests.append((path, named))
    return [_orphan(trees, path, name, lost[name]) for path, names in tests for name in sorted(names - held)]


def _orphan(trees: FourTrees, path: str, name: str, change: JudgedChange) -> Finding:
    data = trees.blob("merged", path) or b""
    word = re.compile(rf"\b{re.escape(name)}\b")
    lines = data.decode("utf-8", "replace").splitlines()
    line = next((number for number, text in enumerate(lines, 1) if word.search(text)), 1)
    symbol = _symbol(data, line)
    side = change.side.value
    message = f"tests `{name}`, which {side} has and merged lost ({change.place.path})"
    return Finding(
        "GRD207", name_of("GRD207"), Severity.WARNING, path, line, message,
        fingerprint("GRD207", path, symbol, f"{side} {name}"), Confidence.HIGH, symbol=symbol, subject=name,
        lost_side=change.side, verdict=Verdict.LOST, origins=change.origins,
        related=(Related(change.place.path, change.place.line, "where it would stand"),), score=1.0,
    )  # fmt: skip


def _symbol(data: bytes, line: int) -> str:
    try:
        file: SourceFile = parse(data)
    except NotAnalysedError:
        return MODULE
    around = [d for d in file.definitions.values() if d.line <= line <= d.end_line]
    return max(around, key=lambda d: d.line).name if around else MODULE


def taken_whole(trees: FourTrees, survival: Iterable[Survival]) -> list[Finding]:
    """Files of merged that equal one parent where git's automatic merge differs, and the other side's work is gone."""
    counts: dict[tuple[str, Side], Survival] = {(item.path, item.side): item for item in survival}
    found = []
    for path in trees.resolved:
        merged, base = trees.merged.get(path), trees.base.get(path)
        if merged is None or trees.automatic.get(path) == merged:
            continue
        for side in Side:
            taken, other = getattr(trees, side.value).get(path), getattr(trees, side.other.value).get(path)
            if taken != merged or other in (merged, base, None):
                continue
            item = counts.get((path, side.other))
            if item is None or item.kept == item.total:
                continue
            share = round(100 * item.kept / item.total)
            joined = "" if path in trees.conflicts else ", where git would have joined both"
            message = (
                f"the file was taken whole from {side.value}: {share} % of {side.other.value}' "
                f"{item.total} changes survive{joined}"
            )
            found.append(
                Finding(
                    "GRD209", name_of("GRD209"), Severity.NOTE, path, 1, message,
                    fingerprint("GRD209", path, MODULE, side.value), lost_side=side.other,
                    verdict=Verdict.LOST if item.kept == 0 else Verdict.PARTLY, score=0.5,
                )
            )  # fmt: skip
    return found
