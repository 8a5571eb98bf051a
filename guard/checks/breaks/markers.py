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
_PARENTS = re.compile(rb"^\|{7}(?: [^\r\n]*)?\r?$", re.MULTILINE)
_SPLITS = re.compile(rb"^={7}\r?$", re.MULTILINE)

_MARKS = {"<<<<<<<": _OPENS, "|||||||": _PARENTS, "=======": _SPLITS, ">>>>>>>": _CLOSES}


def conflict_markers(worlds: FourWorlds) -> Iterator[Break]:
    """One break for each file of merged, of any kind, that holds markers of a conflict which no parent's file holds."""
    trees = worlds.trees
    for path in trees.touched:
        entry = trees.merged.get(path)
        if entry is None or entry.kind != "file":
            continue
        if any((other := getattr(trees, tree).get(path)) and other.sha == entry.sha for tree in ("ours", "theirs")):
            continue
        data = trees.read(entry.sha)
        if not any(mark in data for mark in (b"<<<<<<<", b">>>>>>>", b"=======", b"|||||||")):
            continue
        lines = _conflicts(data)
        if lines and len(lines) > max(_count(worlds, tree, path) for tree in ("ours", "theirs")):
            whole = f"{len(lines)} unresolved conflict{'s' if len(lines) > 1 else ''} left in the file"
            yield _left(path, "<<<<<<<", lines, whole, "another conflict")
            continue
        alone = _alone(worlds, path, data)
        if alone:
            marks = ", ".join(dict.fromkeys(f"`{mark}`" for _, mark in alone))
            numbers = [line for line, _ in alone]
            told = f"a marker of a conflict is left in the file ({marks}), the others are gone"
            yield _left(path, alone[0][1], numbers, told, "another marker")


def _left(path: str, mark: str, lines: list[int], message: str, other: str) -> Break:
    return Break(
        code="GRD308",
        path=path,
        symbol="<module>",
        subject=mark,
        line=lines[0],
        message=message,
        related=tuple(Related(path, line, other) for line in lines[1:20]),
    )


def _alone(worlds: FourWorlds, path: str, data: bytes) -> list[tuple[int, str]]:
    """Lines that are one marker of a conflict, more of them than any parent has: (line, mark).

    Seven equals signs are the underline of a heading in many texts, so that they count in a file that conflicted, and
    below a line of another length.
    """
    trees = worlds.trees
    parents = [trees.blob(tree, worlds.path_in(tree, path) or path) or b"" for tree in ("ours", "theirs")]
    found: list[tuple[int, str]] = []
    for mark, expression in _MARKS.items():
        places = list(expression.finditer(data))
        if mark == "=======":
            places = [place for place in places if path in trees.conflicts and not _underlines(data, place.start())]
        if len(places) > max(len(expression.findall(parent)) for parent in parents):
            found += [(data.count(b"\n", 0, place.start()) + 1, mark) for place in places]
    return sorted(found)


def _underlines(data: bytes, start: int) -> bool:
    """Whether seven equals signs stand right below a line that is not longer: the underline of a heading."""
    above = data[:start].removesuffix(b"\n").removesuffix(b"\r").rpartition(b"\n")[2]
    return 0 < len(above.decode("utf-8", "replace").strip()) <= 7


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
