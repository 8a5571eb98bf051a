"""The two commits that meet in a break: the one that took out or changed a definition, the one that still uses it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guard.git import Repository
from guard.model import Origin, Side
from guard.provenance.blame import Strokes, of_both, origins, strokes
from guard.provenance.merge_edits import merge_strokes
from guard.sync.topology import Sync


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of history for one break.

    Attributes:
        reader: the reading line of merged, stripped.
        lost: lines, stripped, that define what is read, in a parent that has it.
        present: lines, stripped, of the definition as merged has it.
        reader_paths, definition_paths: names of the files in any of the trees.
        copies: the definition stands twice, so each side is asked who put it there.
    """

    reader: str
    lost: tuple[str, ...]
    present: tuple[str, ...]
    reader_paths: tuple[str, ...]
    definition_paths: tuple[str, ...]
    copies: bool = False


@dataclass(frozen=True, slots=True)
class Meeting:
    """The commits; None where the line is older than the merge base, or only a merge commit made it."""

    changed: Origin | None = None
    brought: Origin | None = None

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Both, without doubles."""
        known = [origin for origin in (self.changed, self.brought) if origin is not None]
        return tuple(dict.fromkeys(known))


def meet(repository: Repository, sync: Sync, questions: Sequence[Question]) -> list[Meeting]:
    """Answer each question, with one walk over each side's own commits.

    Method: the newest commit of a side that removed a line of the lost definition took it out; the newest that added
    a line of the definition as merged has it changed it; the newest that added the reading line brought it in.
    """
    if not questions:
        return []
    tips = {Side.OURS: sync.ours, Side.THEIRS: sync.theirs}
    known = of_both(lambda side: _walk(repository, tips[side], sync, questions, merges=False))
    answers = [_answer(question, known) for question in questions]
    # What no plain commit accounts for was done in a merge: an earlier sync, most of the time.
    silent = [question for question, (changed, _) in zip(questions, answers, strict=True) if not changed]
    if silent:
        deeper = of_both(lambda side: _walk(repository, tips[side], sync, silent, merges=True))
        again = dict(zip(map(id, silent), (_answer(question, deeper) for question in silent), strict=True))
        answers = [
            _filled(answer, again.get(id(question))) for question, answer in zip(questions, answers, strict=True)
        ]
    facts = origins(repository, [sha for pair in answers for sha in pair if sha])
    return [Meeting(facts.get(changed or ""), facts.get(brought or "")) for changed, brought in answers]


Answer = tuple[str | None, str | None]


def _walk(repository: Repository, tip: str, sync: Sync, questions: Sequence[Question], *, merges: bool) -> Strokes:
    lines = {line for q in questions for line in (q.reader, *q.lost, *q.present)}
    paths = sorted({path for q in questions for path in (*q.reader_paths, *q.definition_paths)})
    if not paths:
        return Strokes()
    return (merge_strokes if merges else strokes)(repository, tip, sync.bases, lines, paths)


def _filled(first: Answer, second: Answer | None) -> Answer:
    return (first[0] or second[0], first[1] or second[1]) if second else first


def _answer(question: Question, known: dict[Side, Strokes]) -> Answer:
    if question.copies:
        lines = (question.reader, *question.present)
        paths = (*question.reader_paths, *question.definition_paths)
        ours, theirs = (_newest(known[side].added, lines, paths) for side in Side)
        return ours, theirs
    changed = brought = None
    for side in Side:
        changed = changed or _newest(known[side].removed, question.lost, question.definition_paths)
    for side in Side:
        changed = changed or _newest(known[side].added, question.present, question.definition_paths)
    for side in Side:
        brought = brought or _newest(known[side].added, (question.reader,), question.reader_paths)
    return changed, brought


def _newest(known: dict, lines: Iterable[str], paths: Sequence[str]) -> str | None:  # type: ignore[type-arg]
    """The newest commit that has one of the lines in one of the files."""
    found = [stroke for line in lines for stroke in known.get(line, ()) if stroke.path in paths]
    return min(found, key=lambda stroke: stroke.order).commit if found else None
