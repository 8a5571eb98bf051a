"""Whole definitions: added by a side and gone, or deleted by a side and back."""

from __future__ import annotations

from guard.documents.definitions import MODULE, Definition, SourceFile
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.forms import FileForms
from guard.judge.numeric import is_numeric, is_test
from guard.model import Evidence, Side, Verdict

SHOWN = 12  # lines of a definition that evidence shows


def gone(forms: FileForms, side: Side, after: Definition, verdict: Verdict, reason: str) -> JudgedChange:
    """The change of a definition that the side has and merged has not."""
    pieces: tuple[LostEdit, ...] = ()
    if verdict.is_told:
        pieces = (whole_piece(forms, side, after, forms.of(side), None, verdict),)
    return whole(forms, side, after, verdict, reason, pieces)


def whole(
    forms: FileForms,
    side: Side,
    definition: Definition,
    verdict: Verdict,
    reason: str,
    pieces: tuple[LostEdit, ...],
    now: Definition | None = None,
) -> JudgedChange:
    """A change of a whole definition; `now` is the one of merged, where there is one."""
    line = now.line if now else line_for(forms, side, definition)
    at = Place(forms.path, definition.name, line, now.end_line if now else line)
    where = Place(forms.path, definition.name, definition.line, definition.end_line)
    size = max(1, len(definition.statements))
    numeric = not is_test(at.path) and any(is_numeric(piece.words) for piece in pieces)
    subject = definition.last_name
    return JudgedChange(at, where, side, verdict, "definition", size, pieces, numeric, subject, reason=reason)


def whole_piece(
    forms: FileForms, side: Side, definition: Definition, file: SourceFile, now: Definition | None, verdict: Verdict
) -> LostEdit:
    """The one piece of a definition that is lost or back as a whole, nested definitions included.

    Arguments:
        file: the file that has the definition.
        now: the definition in merged, where it is back.
    """
    inside = definition.name + "."
    inner = [d for d in file.definitions.values() if d.name == definition.name or d.name.startswith(inside)]
    words = tuple(token for item in inner for statement in item.statements for token in statement.tokens)
    lines = tuple(filter(None, (line.strip() for line in file.lines[definition.line - 1 : definition.end_line])))
    line = now.line if now else line_for(forms, side, definition)
    told = (f"{'class' if definition.kind == 'class' else 'def'} {definition.last_name}",)
    back = verdict is Verdict.REVIVED
    missing, there = ((), told) if back else (told, ())
    lacking, returned = ((), lines) if back else (lines, ())
    end = now.end_line if now else line
    evidence = Evidence(*(_text(file, definition) for file in (forms.base, forms.ours, forms.theirs, forms.merged)))
    return LostEdit(
        verdict, missing, there, words, lacking, returned, line, end, evidence, subject=definition.last_name
    )


def line_for(forms: FileForms, side: Side, definition: Definition) -> int:
    """The line of merged where a definition that is not there would stand: after what precedes it, or its owner."""
    merged = forms.merged.definitions
    line = 1
    for origin in (forms.of(side), forms.base):
        if definition.key in origin.definitions:
            for key in origin.definitions:
                if key == definition.key:
                    return line
                if key in merged and key[0] != MODULE:
                    line = merged[key].end_line
    return line


def _text(file: SourceFile, definition: Definition) -> str | None:
    known = file.definitions.get(definition.key)
    return file.excerpt(known.line, min(known.end_line, known.line + SHOWN - 1)) if known else None
