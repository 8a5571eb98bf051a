"""Complete a break: severity and fingerprint, what each tree says at the place, the commits that meet in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guard.checks.breaks.difference import Break
from guard.checks.breaks.gathering import FourWorlds
from guard.codes import name_of
from guard.judge.numeric import is_numeric
from guard.model import Evidence, Finding, Origin, Related, Severity, Side, fingerprint
from guard.provenance.conflicting_commits import Meeting, Question, meet

_WINDOW = 40  # lines of a definition that are searched for the argument or field
_SPEAKS_OF_DEFINITION = ("merged defines", "`", "an earlier", "the other", "where")


def complete(worlds: FourWorlds, breaks: Sequence[Break]) -> tuple[Finding, ...]:
    """The findings of all breaks, with the commits that meet in each."""
    meetings = meet(worlds.trees.repository, worlds.trees.sync, [_question(worlds, found) for found in breaks])
    return tuple(_finding(worlds, found, meeting) for found, meeting in zip(breaks, meetings, strict=True))


def _finding(worlds: FourWorlds, found: Break, meeting: Meeting) -> Finding:
    text = f"{found.subject}\0{found.detail}" if found.detail else found.subject
    return Finding(
        code=found.code,
        name=name_of(found.code),
        severity=found.severity,
        path=found.path,
        line=max(1, found.line),
        message=found.message + _told(found, meeting),
        fingerprint=fingerprint(found.code, found.path, found.symbol, text),
        confidence=found.confidence,
        end_line=found.end_line,
        symbol=found.symbol,
        subject=found.subject or None,
        lost_side=found.lost_side,
        origins=meeting.origins,
        evidence=_evidence(worlds, found),
        related=(*found.related, *_places(found)),
        score=_score(found),
    )


def _told(found: Break, meeting: Meeting) -> str:
    said = []
    if found.code == "GRD305" and not found.lost_side:
        both = [_named(origin) for origin in meeting.origins]
        return f" – {' and '.join(both)}" if both else ""
    if meeting.changed:
        said.append(f"changed by {_named(meeting.changed)}")
    if meeting.brought and meeting.brought != meeting.changed:
        said.append(f"used by {_named(meeting.brought)}")
    return f" – {', '.join(said)}" if said else ""


def _named(origin: Origin) -> str:
    return f"#{origin.pr}" if origin.pr else origin.commit[:10]


def _question(worlds: FourWorlds, found: Break) -> Question:
    names = {found.path, *(worlds.path_in(tree, found.path) for tree in ("base", "ours", "theirs"))}
    lost, present = [], []
    paths = {path for path, _ in found.definition_places.values()}
    for tree, (path, line) in found.definition_places.items():
        lost += _about(worlds, tree, path, line, found.definition)
    for related in found.related:
        if related.tree == "merged" and found.definition and related.message.startswith(_SPEAKS_OF_DEFINITION):
            present += _about(worlds, "merged", related.path, related.line, found.definition)
            paths.add(related.path)
    here = set(present)
    return Question(
        _line(worlds, "merged", found.path, found.line) or "",
        tuple(line for line in dict.fromkeys(lost) if line not in here),
        tuple(line for line in dict.fromkeys(present) if line not in set(lost)),
        tuple(sorted(name for name in names if name)),
        tuple(sorted(paths | {name for name in names if name})),
        copies=found.code == "GRD305" and not found.lost_side,
    )


def _about(worlds: FourWorlds, tree: str, path: str, line: int, word: str) -> list[str]:
    """Lines of a definition that hold a word: of a signature that runs over several lines, the one that matters."""
    data = worlds.trees.blob(tree, path)
    rows = data.splitlines() if data else []
    pattern = re.compile(rb"(?<!\w)" + re.escape(word.encode()) + rb"(?!\w)")
    window = rows[max(0, line - 1) : line + _WINDOW]
    return [row.decode("utf-8", "replace").strip() for row in window if pattern.search(row)][:2]


def _places(found: Break) -> tuple[Related, ...]:
    return tuple(
        Related(path, line, f"defined here in {tree}", tree) for tree, (path, line) in found.definition_places.items()
    )


def _evidence(worlds: FourWorlds, found: Break) -> Evidence:
    said = {}
    for tree in ("base", *(side.value for side in Side)):
        place = found.definition_places.get(tree)
        said[tree] = _line(worlds, tree, *place) if place else _search(worlds, tree, found)
    return Evidence(said["base"], said["ours"], said["theirs"], _line(worlds, "merged", found.path, found.line))


def _line(worlds: FourWorlds, tree: str, path: str, line: int) -> str | None:
    data = worlds.trees.blob(tree, path)
    rows = data.splitlines() if data else []
    return rows[line - 1].decode("utf-8", "replace").strip() if 0 < line <= len(rows) else None


def _search(worlds: FourWorlds, tree: str, found: Break) -> str | None:
    """The first line of the file in another tree that speaks of the subject."""
    path = worlds.path_in(tree, found.path) or found.path
    data = worlds.trees.blob(tree, path)
    if not data or not found.subject:
        return None
    pattern = re.compile(rb"(?m)^.*(?<![\w])" + re.escape(found.subject.encode()) + rb"(?![\w]).*$")
    match = pattern.search(data)
    return match.group().decode("utf-8", "replace").strip() if match else None


def _score(found: Break) -> float:
    worst = {Severity.ERROR: 3.0, Severity.WARNING: 1.5, Severity.NOTE: 0.5}[found.severity]
    inside_tests = found.path.startswith(("tests/", "test/")) or "/tests/" in found.path
    return worst - (1.0 if inside_tests else 0.0) + (0.5 if is_numeric([found.subject]) else 0.0)
