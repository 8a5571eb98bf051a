"""Complete a break: severity and fingerprint, what each tree says at the place, the commits that meet in it."""

from __future__ import annotations

import re

from guard.checks.broken.difference import Break
from guard.checks.broken.gathering import FourWorlds
from guard.codes import name_of
from guard.model import Evidence, Finding, Related, Severity, Side, fingerprint

_NUMERIC = re.compile(r"loss|scale|token|grad|norm|reduce|group|dtype|eps|aux|cp_|router|logit", re.IGNORECASE)


def complete(worlds: FourWorlds, found: Break) -> Finding:
    """The finding of a break, without its origins."""
    text = f"{found.subject}\0{found.detail}" if found.detail else found.subject
    return Finding(
        code=found.code,
        name=name_of(found.code),
        severity=found.severity,
        path=found.path,
        line=max(1, found.line),
        message=found.message,
        fingerprint=fingerprint(found.code, found.path, found.symbol, text),
        confidence=found.confidence,
        end_line=found.end_line,
        symbol=found.symbol,
        subject=found.subject or None,
        lost_side=found.lost_side,
        evidence=_evidence(worlds, found),
        related=(*found.related, *_places(found)),
        score=_score(found),
    )


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
    return worst - (1.0 if inside_tests else 0.0) + (0.5 if _NUMERIC.search(found.subject) else 0.0)
