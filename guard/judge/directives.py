"""Comments that tools act on: `type: ignore`, `noqa`, `pragma`, a shebang, an encoding.

The judge compares syntax, and these are none. One that a side put on a line that merged has without it, or took off a
line that merged has with it, is told as a note.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from guard.documents.definitions import MODULE, SourceFile
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.forms import FileForms
from guard.model import Evidence, Side, Verdict

DIRECTIVE = "directive"
_DIRECTIVE = re.compile(
    r"#\s*(type:|noqa\b|pragma:|pylint:|pyright:|ruff:|mypy:|isort:|fmt:|flake8:|nosec\b|yapf:|guard:|cython:|"
    r"distutils:|doctest:|-\*-|vim:|coding[:=])|^#!",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment that a tool acts on, and the code of its line."""

    comment: str
    code: str


def directive_changes(forms: FileForms) -> Iterator[JudgedChange]:
    """Directives of one side that merged's same line lacks, and those that a side took off and that are back."""
    found = {side: _directives(forms.of(side)) for side in Side}
    base, merged = _directives(forms.base), _directives(forms.merged)
    if not any((base, merged, *found.values())):
        return
    code = Counter(_code(line) for line in forms.merged.lines)
    for side in Side:
        had, other = found[side], found[side.other]
        for directive in {*had, *base}:
            before, made, there, now = (len(c.get(directive, ())) for c in (base, had, other, merged))
            stands = not directive.code or code[directive.code] > 0
            if made > before and now < made and there <= now and stands:
                yield _change(forms, side, directive, had[directive][-1], Verdict.LOST)
            elif made < before and now > made and there >= now and not directive.comment.startswith("#!"):
                yield _change(forms, side, directive, base[directive][-1], Verdict.REVIVED)


def _directives(file: SourceFile) -> dict[Directive, list[int]]:
    found: dict[Directive, list[int]] = {}
    if not any(_DIRECTIVE.search(line) for line in file.lines if "#" in line):
        return found
    for row, comment, line in _comments(file.lines):
        if _DIRECTIVE.match(comment):
            code = "" if line.strip() == comment else _code(line)
            found.setdefault(Directive(" ".join(comment.split()), code), []).append(row)
    return found


def _comments(lines: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string, lines[token.start[0] - 1]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return


def _code(line: str) -> str:
    """The code of a line, without the comment behind it."""
    head, mark, _ = line.partition("  #")
    return " ".join((head if mark else line.partition(" #")[0]).split())


def _change(forms: FileForms, side: Side, directive: Directive, row: int, verdict: Verdict) -> JudgedChange:
    back = verdict is Verdict.REVIVED
    told = (f"{directive.comment}" + (f" on {directive.code}" if directive.code else ""),)
    file = forms.base if back else forms.of(side)
    text = file.lines[row - 1].strip()
    at = next(
        (n for n, line in enumerate(forms.merged.lines, 1) if directive.code and _code(line) == directive.code), 1
    )
    symbol = _symbol(forms.merged, at) if directive.code else MODULE
    here = next((line.strip() for line in forms.merged.lines[at - 1 : at]), "")  # merged may be empty
    shown = {"base": text, "merged": text} if back else {side.value: text, "merged": here}
    missing, there = ((), told) if back else (told, ())
    lacking, returned = ((), (text,)) if back else ((text,), ())
    piece = LostEdit(verdict, missing, there, (), lacking, returned, at, at, Evidence(**shown))
    return JudgedChange(
        Place(forms.path, symbol, at, at), Place(forms.path, symbol, row, row), side, verdict, DIRECTIVE, 1, (piece,)
    )


def _symbol(file: SourceFile, line: int) -> str:
    around = [d for d in file.definitions.values() if d.line <= line <= d.end_line and d.name != MODULE]
    return max(around, key=lambda d: d.line).name if around else MODULE
