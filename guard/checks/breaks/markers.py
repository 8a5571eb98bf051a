"""Conflict markers left in a file, and files that parse in a parent and not in merged.

Reason: a marker makes a hundred other diagnostics, all of them noise; so one finding for the file, and no other check
looks at it. A line of seven equals signs alone is a heading in many texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guard.checks.breaks.difference import PARENTS, Break
from guard.checks.breaks.gathering import FourWorlds
from guard.model import Related, Severity

_OPENS = re.compile(rb"^<{7}(?: [^\r\n]*)?\r?$", re.MULTILINE)
_CLOSES = re.compile(rb"^>{7}(?: [^\r\n]*)?\r?$", re.MULTILINE)
_SPLITS = re.compile(rb"^={7}\r?$", re.MULTILINE)


def conflict_markers(worlds: FourWorlds) -> Iterator[Break]:
    """One break for each file of merged, of any kind, that holds a conflict which no parent's file holds."""
    trees = worlds.trees
    for path in trees.touched:
        entry = trees.merged.get(path)
        if entry is None or entry.kind != "file":
            continue
        if any((other := getattr(trees, tree).get(path)) and other.sha == entry.sha for tree in ("ours", "theirs")):
            continue
        data = trees.read(entry.sha)
        if b"<<<<<<<" not in data or b">>>>>>>" not in data:
            continue
        lines = _conflicts(data)
        if lines and len(lines) > max(_count(worlds, tree, path) for tree in ("ours", "theirs")):
            yield Break(
                code="GRD308",
                path=path,
                symbol="<module>",
                subject="<<<<<<<",
                line=lines[0],
                message=f"{len(lines)} unresolved conflict{'s' if len(lines) > 1 else ''} left in the file",
                related=tuple(Related(path, line, "another conflict") for line in lines[1:20]),
            )


def syntax_errors(worlds: FourWorlds, marked: frozenset[str]) -> Iterator[Break]:
    """Files of merged that do not parse although every parent's version of them does.

    A parent that does not parse either may be written for another Python, so that its text proves nothing.
    """
    for path in worlds.paths:
        view = worlds.merged.view(path)
        if path in marked or view is None or not (view.outline.error or "").startswith("syntax error"):
            continue
        names = {tree: worlds.path_in(tree, path) for tree in PARENTS}
        others = [worlds[tree].view(there) for tree, there in names.items() if there]
        if others and all(other is not None and not other.outline.error for other in others):
            yield Break(
                code="GRD314",
                path=path,
                symbol="<module>",
                subject="",
                line=view.outline.error_line,
                message=f"does not parse ({view.outline.error}); the parents' versions do",
                severity=Severity.ERROR,
            )


def _count(worlds: FourWorlds, tree: str, path: str) -> int:
    there = worlds.path_in(tree, path) or path
    data = worlds.trees.blob(tree, there)
    return len(_conflicts(data)) if data else 0


def _conflicts(data: bytes) -> list[int]:
    """Lines of `<<<<<<<` that are followed by `=======` and `>>>>>>>`, in this order."""
    lines = []
    position = 0
    while opened := _OPENS.search(data, position):
        split = _SPLITS.search(data, opened.end())
        closed = _CLOSES.search(data, split.end()) if split else None
        if closed is None:
            break
        lines.append(data.count(b"\n", 0, opened.start()) + 1)
        position = closed.end()
    return lines
