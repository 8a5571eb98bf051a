"""Whole files: one that a side added and merged lacks, one that a side deleted and merged has."""

from __future__ import annotations

from guard.documents.definitions import EMPTY, MODULE, Definition, SourceFile
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.definition_index import OTHER_NAME, DefinitionIndex, Location, moved_to, shared
from guard.judge.numeric import is_numeric, is_test
from guard.model import Evidence, Side, Verdict

MOVED_SHARE = 0.5  # of a file's statements; from here on the file moved, and its definitions are judged one by one
MOST_LINES = 400  # of a file are asked about in history


def judge_presence(
    path: str,
    base: SourceFile,
    made: SourceFile,
    other: SourceFile,
    merged: SourceFile,
    side: Side,
    elsewhere: DefinitionIndex,
) -> JudgedChange | None:
    """What became of a file that a side added, deleted or kept, where merged differs as a whole.

    Arguments:
        base, made, other, merged: the file in the base, on the side, on the other side and in merged; `EMPTY` for none.

    Returns:
        None where the definitions of the file are to be judged one by one.
    """
    if merged is EMPTY and made is not EMPTY:
        if base is not EMPTY and same(base, made):
            return None
        if moved_share(path, made, side, elsewhere) >= MOVED_SHARE:
            return None
        if base is not EMPTY and other is EMPTY:  # the judge of whole files tells of it
            return _change(path, side, Verdict.SUPERSEDED, made, "the other side deleted the file")
        return _change(path, side, Verdict.LOST, made, "" if base is EMPTY else "both sides have the file")
    if made is EMPTY and base is not EMPTY and merged is not EMPTY:
        if other is not EMPTY and not same(base, other):
            return _change(path, side, Verdict.SUPERSEDED, base, "the other side went on with the file")
        return _change(path, side, Verdict.REVIVED, base, "" if other is not EMPTY else "both sides removed it")
    return None


def same(one: SourceFile, other: SourceFile) -> bool:
    """Whether two files are the same but for formatting, comments and documentation."""
    return one.definitions.keys() == other.definitions.keys() and all(
        definition.own == other.definitions[key].own or definition.shape == other.definitions[key].shape
        for key, definition in one.definitions.items()
    )


def moved_share(path: str, file: SourceFile, side: Side, elsewhere: DefinitionIndex) -> float:
    """How much of a side's file, by statements, stands in files of merged where the side does not have it."""
    total = found = 0
    for definition in file.definitions.values():
        if definition.name == MODULE:
            continue
        size = len(definition.statements)
        total += size
        others = [
            standing
            for standing in elsewhere.standing(definition.last_name, path, alone=True)
            if standing.merged.key not in elsewhere.file(side.value, standing.path).definitions
        ]
        moved = moved_to(definition, (), others)
        if moved is not None and not _of_the_other_side(definition, moved, side, elsewhere):
            found += size
    return found / total if total else 0.0


def _of_the_other_side(definition: Definition, moved: Location, side: Side, elsewhere: DefinitionIndex) -> bool:
    """Whether the other side itself has what stands there, and it only bears the name: nothing moved to it."""
    there = elsewhere.file(side.other.value, moved.path).definitions.get(moved.merged.key)
    return there is not None and there.own == moved.merged.own and shared(definition, there) < OTHER_NAME


def _change(path: str, side: Side, verdict: Verdict, file: SourceFile, reason: str) -> JudgedChange:
    place = Place(path, MODULE, 1, max(1, len(file.lines)))
    size = sum(len(definition.statements) for definition in file.definitions.values())
    pieces: tuple[LostEdit, ...] = ()
    subject = path.rsplit("/", 1)[-1]
    numeric = False
    if verdict.is_loss:
        words = tuple(w for d in file.definitions.values() for s in d.statements for w in s.tokens)
        lines = tuple(filter(None, (line.strip() for line in file.lines)))[:MOST_LINES]
        back = verdict is Verdict.REVIVED
        text = "\n".join(file.lines[:12])
        shown = {"base": text, side.other.value: text, "merged": text} if back else {side.value: text}
        told = (f"file {path}",)
        lacking, returned = ((), lines) if back else (lines, ())
        missing, there = ((), told) if back else (told, ())
        evidence = Evidence(**shown)
        pieces = (LostEdit(verdict, missing, there, words, lacking, returned, 1, 1, evidence, subject=subject),)
        numeric = not is_test(path) and is_numeric(words)
    return JudgedChange(place, place, side, verdict, "file", max(1, size), pieces, numeric, subject, reason=reason)
