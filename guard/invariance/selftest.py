"""Does the suite notice? Edit a copy of a tree in known ways and see that the case meant for each turns."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from guard.invariance.case import Cut
from guard.invariance.edits import DAMAGE, FIXES, Edit, Mutation
from guard.invariance.session import Request, records

Measure = Callable[[Path, list[str]], dict[tuple[str, str], str]]


@dataclass(frozen=True, slots=True)
class Turn:
    """What became of one mutation: the status of its case before and after, and whether it turned as it must."""

    mutation: Mutation
    before: str
    after: str
    noticed: bool | None
    reason: str | None = None


class NotApplicableError(Exception):
    """The tree does not hold the text that an edit replaces."""


def apply(tree: Path, edits: tuple[Edit, ...]) -> None:
    """Make the edits in a copy of a tree.

    Raises:
        NotApplicableError: an old text is not there exactly once; nothing has been written then.
    """
    texts: dict[str, str] = {}
    for edit in edits:
        file = tree / edit.path
        text = texts.get(edit.path) or (file.read_text(encoding="utf-8") if file.is_file() else "")
        found = text.count(edit.old)
        if found != 1:
            raise NotApplicableError(f"{edit.path} holds the text to replace {found} times")
        texts[edit.path] = text.replace(edit.old, edit.new)
    for path, text in texts.items():
        (tree / path).write_text(text, encoding="utf-8")


def measurer(request: Request, scratch: Path) -> Measure:
    """A function that measures named cases on a tree and gives their status by case and cut."""

    def measure(tree: Path, names: list[str]) -> dict[tuple[str, str], str]:
        found = {}
        asked = replace(request, suite="full", cases=tuple(names))
        for record in records(asked, tree, scratch):
            if record["type"] == "case":
                found[record["case"], Cut(**record["cut"]).label()] = record["status"]
            elif record["type"] == "fatal":
                found["", ""] = record["reason"]
        return found

    return measure


def run(tree: Path, scratch: Path, request: Request) -> Iterator[Turn]:
    """Try every fix, then all damage, on a copy of the tree below `scratch`.

    Damage must turn a case that is green in the copy; a fix one that is red there.
    """
    copy = scratch / "copy"
    shutil.copytree(tree / "megatron", copy / "megatron", ignore=shutil.ignore_patterns("__pycache__"))
    measure = measurer(request, scratch)
    mutations = (*FIXES, *DAMAGE)
    control = measure(copy, sorted({mutation.case for mutation in mutations}))
    fixes = {mutation.name: mutation for mutation in FIXES}
    for mutation in mutations:
        yield _turn(copy, mutation, fixes, control, measure)


def _turn(
    copy: Path, mutation: Mutation, fixes: dict[str, Mutation], control: dict[tuple[str, str], str], measure: Measure
) -> Turn:
    where = (mutation.case, mutation.cut)
    steps = [*(fixes[mutation.after].edits if mutation.after else ()), *mutation.edits]
    kept = {edit.path: (copy / edit.path).read_bytes() for edit in steps if (copy / edit.path).is_file()}
    before = control.get(where, control.get(("", ""), "not measured"))
    try:
        if mutation.after:
            apply(copy, fixes[mutation.after].edits)
            before = measure(copy, [mutation.case]).get(where, "not measured")
        apply(copy, mutation.edits)
        answer = measure(copy, [mutation.case])
        after = answer.get(where, answer.get(("", ""), "not measured"))
    except NotApplicableError as lack:
        return Turn(mutation, before, before, None, str(lack))
    finally:
        for path, content in kept.items():
            (copy / path).write_bytes(content)
    start = "ok" if mutation.turns == "differs" else "differs"
    if before != start:
        return Turn(mutation, before, after, None, f"the case is {before} before the edit, not {start}")
    return Turn(mutation, before, after, after == mutation.turns)
