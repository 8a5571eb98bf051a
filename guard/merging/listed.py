"""Join lists in text files by item, and JSON, YAML and TOML by what they say.

The text is joined by lines: what one side put in, took out or changed, each line known by its key. Of a data file the
result is parsed and must be the structure that joining the three structures gives; else the hunk stays open.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from guard.merging.hunks import Hunk, Lines, Segment, filled, tidy
from guard.merging.resolve import FileResolution, HunkOutcome

_LISTS = re.compile(
    r"(^|/)(requirements[^/]*\.(txt|in)|constraints[^/]*\.txt|CODEOWNERS|\.gitignore|\.dockerignore|\.gitattributes|"
    r"\.helmignore|MANIFEST\.in|(CHANGELOG|CHANGES|HISTORY|NEWS)(\.(md|rst|txt))?)$",
    re.IGNORECASE,
)
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*(\[[^\]]*\])?)\s*([<>=!~;@ ]|$)")
_MISSING = object()


class _Differ(Exception):  # noqa: N818 -- an answer, and no error
    """Both sides say different things of one place."""


def joins(path: str) -> bool:
    """Whether the file is a list or data that is joined here."""
    return bool(_LISTS.search(path)) or _reader(path) is not None


def resolve_listed(path: str, segments: Sequence[Segment], keep_open: Mapping[int, str]) -> FileResolution:
    """Join the hunks of a list or data file.

    Arguments:
        path: tells what its lines are.
        segments: the file as git joined it.
        keep_open: numbers of hunks that are not to be resolved, with the reason.
    """
    hunks = [part for part in segments if isinstance(part, Hunk)]
    reasons = dict(keep_open)
    forms: dict[int, Lines] = {}
    for number, hunk in enumerate(hunks):
        joined = _joined(path, hunk)
        if joined is None:
            reasons.setdefault(number, "both sides changed the same item, or put items in whose order has a meaning")
        else:
            forms[number] = joined
    read = _reader(path)
    if read is not None:
        for number in [n for n in forms if n not in reasons]:
            if not _says_both(read, segments, number, forms[number]):
                reasons[number] = "the joined text would not say what both sides say"
    return _resolution(segments, hunks, forms, reasons)


def _resolution(
    segments: Sequence[Segment], hunks: Sequence[Hunk], forms: Mapping[int, Lines], reasons: Mapping[int, str]
) -> FileResolution:
    made: list[Segment] = []
    outcomes: list[HunkOutcome] = []
    position = 0
    for part in segments:
        lines = part.ours if isinstance(part, Hunk) else part
        if isinstance(part, Hunk):
            number = len(outcomes)
            resolved = number not in reasons
            lines = forms[number] if resolved else part.ours
            made.append(lines if resolved else part)
            reason = reasons.get(number, "items of both sides")
            outcomes.append(HunkOutcome(hunks[number], number, resolved, reason, (position, position + len(lines))))
        else:
            made.append(part)
        position += len(lines)
    return FileResolution(tuple(tidy(made)), tuple(outcomes))


def _key(path: str, line: str) -> str:
    """What an item is known by: the package, the pattern of an owner, the key of a setting; else its text."""
    text = line.strip()
    name = PurePosixPath(path).name.lower()
    if name.startswith(("requirements", "constraints")) and (found := _REQUIREMENT.match(line)):
        return found.group(1).lower().replace("_", "-")
    if name == "codeowners" and text and not text.startswith("#"):
        return text.split()[0]
    if _reader(path) is not None and (found := re.match(r"""["']?([\w.$/-]+)["']?\s*[:=]""", text)):
        return found.group(1)
    return text.rstrip(",")


def _joined(path: str, hunk: Hunk) -> Lines | None:
    """The lines of both sides; None where an item is changed by both, or one took out what the other changed."""
    keys = [[_key(path, line) for line in lines] for lines in (hunk.base, hunk.ours, hunk.theirs)]
    forms_of = zip(keys, (hunk.base, hunk.ours, hunk.theirs), strict=True)
    tables = [dict(zip(names, lines, strict=True)) for names, lines in forms_of]
    if any(len(table) < len(names) for table, names in zip(tables, keys, strict=True)):
        return None
    base, ours, theirs = tables
    common = [[key for key in names if key in base] for names in keys[1:]]
    if any(names != [key for key in base if key in set(names)] for names in common):
        return None
    joined: dict[str, str] = {}
    for key in _order(keys[1], keys[2], set(base)):
        forms = [table.get(key) for table in (base, ours, theirs)]
        said = [None if form is None else form.strip().rstrip(",") for form in forms]
        if said[1] == said[2] or said[2] == said[0]:
            form = forms[1]
        elif said[1] == said[0]:
            form = forms[2]
        else:
            return None
        if form is not None:
            joined[key] = form
    return _with_commas(path, tuple(joined.values()), hunk)


def _order(ours: Sequence[str], theirs: Sequence[str], base: set[str]) -> list[str]:
    """The keys of both in one order: common ones as they stand, what is put in at one place by name."""
    runs: dict[str, tuple[list[str], list[str]]] = {"": ([], [])}
    for number, names in enumerate((ours, theirs)):
        anchor = ""
        for key in names:
            if key in base:
                anchor = key
                runs.setdefault(key, ([], []))
            else:
                runs.setdefault(anchor, ([], []))[number].append(key)
    order: list[str] = []
    for anchor in ["", *dict.fromkeys([*(k for k in ours if k in base), *(k for k in theirs if k in base)])]:
        if anchor:
            order.append(anchor)
        mine, yours = runs.get(anchor, ([], []))
        first, second = sorted((mine, yours))
        order += [*first, *second]
    return list(dict.fromkeys(order))


def _with_commas(path: str, lines: Lines, hunk: Hunk) -> Lines:
    """Of JSON: a comma behind every line but the last, which has one where a side has it there."""
    if not path.endswith(".json") or not lines:
        return lines
    last = [form[-1].rstrip("\n").endswith(",") for form in (hunk.ours, hunk.theirs) if form]
    ended = [line.rstrip("\n").rstrip(",") for line in lines]
    openers = ("{", "[")
    made = [line if line.endswith(openers) else f"{line}," for line in ended[:-1]]
    return tuple(f"{line}\n" for line in [*made, ended[-1] + ("," if any(last) else "")])


def _reader(path: str) -> Callable[[str], Any] | None:
    ending = PurePosixPath(path).suffix.lower()
    readers: dict[str, Callable[[str], Any]] = {
        ".json": json.loads,
        ".toml": tomllib.loads,
        ".yaml": yaml.safe_load,
        ".yml": yaml.safe_load,
    }
    return readers.get(ending)


def _says_both(read: Callable[[str], Any], segments: Sequence[Segment], number: int, lines: Lines) -> bool:
    """Whether the file with one hunk joined says what the structures of both sides, joined, say."""
    parts: list[Segment] = []
    seen = 0
    for part in segments:
        if isinstance(part, Hunk):
            parts.append(part if seen == number else part.ours)
            seen += 1
        else:
            parts.append(part)
    try:
        base, ours, theirs = (read(filled(parts, version)) for version in ("base", "ours", "theirs"))
        made = read("".join(line for part in parts for line in (lines if isinstance(part, Hunk) else part)))
        return _same(_structure(base, ours, theirs), made)
    except (_Differ, ValueError, yaml.YAMLError, RecursionError, TypeError):
        return False


def _same(one: Any, other: Any) -> bool:
    """Whether two values say the same; `1` and `true` do not, which Python takes for equal."""
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


def _structure(base: Any, ours: Any, theirs: Any) -> Any:
    """The three-way merge of data: tables by key, lists of plain values by value."""
    if _same(theirs, ours) or _same(theirs, base):
        return ours
    if _same(ours, base):
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        before = base if isinstance(base, dict) else {}
        joined = {}
        for key in dict.fromkeys([*ours, *theirs]):
            value = _structure(before.get(key, _MISSING), ours.get(key, _MISSING), theirs.get(key, _MISSING))
            if value is not _MISSING:
                joined[key] = value
        return joined
    if all(isinstance(form, list) for form in (base, ours, theirs)):
        return _items(base, ours, theirs)
    raise _Differ


def _items(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    if any(not isinstance(item, str) for form in (base, ours, theirs) for item in form):
        raise _Differ
    if any(len(set(form)) < len(form) for form in (base, ours, theirs)):
        raise _Differ
    gone = {item for item in base if item not in ours or item not in theirs}
    order = _order(ours, theirs, set(base))
    return [item for item in order if item not in gone]


__all__ = ["joins", "resolve_listed"]
