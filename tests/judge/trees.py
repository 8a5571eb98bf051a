"""Four texts of one file, judged without any repository."""

from __future__ import annotations

from textwrap import dedent

from guard.documents.definitions import EMPTY, SourceFile, parse
from guard.judge.changes import JudgedChange
from guard.judge.judge import FileForms, judge
from guard.model import Side


def file_of(text: str | None) -> SourceFile:
    return EMPTY if text is None else parse(dedent(text).encode())


def judged(base: str | None, ours: str | None, theirs: str | None, merged: str | None) -> list[JudgedChange]:
    """Every change of both sides to one file with these texts."""
    return judge(FileForms("module.py", file_of(base), file_of(ours), file_of(theirs), file_of(merged)))


def losses(changes: list[JudgedChange], side: Side | None = None) -> list[JudgedChange]:
    return [c for c in changes if c.verdict.is_loss and side in (None, c.side)]
