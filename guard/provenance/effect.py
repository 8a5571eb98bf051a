"""Whether the edits of a fix are in effect in some version of the code, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guard.documents.definitions import MODULE, Definition, SourceFile
from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.definition_index import Location, moved_to
from guard.judge.verdicts import Alignment, judge_statements
from guard.model import Verdict
from guard.provenance.fixes import FixEdit
from guard.sync.readings import Readings

Key = tuple[int, int]
_LOST = frozenset({Verdict.LOST, Verdict.REVERTED, Verdict.PARTLY, Verdict.REVIVED, Verdict.DEAD})
_BACK = frozenset({Verdict.REVERTED, Verdict.REVIVED, Verdict.PARTLY})
# A statement with this many content tokens is distinctive enough to be recognised in another definition.
_DISTINCTIVE = 5
# A line of at most this many characters stands in every definition.
_SHORT = 5


@dataclass(frozen=True, slots=True)
class Effect:
    """What one version of a definition has of one edit.

    Attributes:
        path, line: where the edit stands, or would stand; line 0 where the version has no such place.
        verdicts: of each edited statement, by its index (before, after).
        moved: the definition stands in another file or under another name.
        exact: of the lost ones, those where the very statement before the fix stands.
    """

    path: str
    line: int
    verdicts: dict[Key, Verdict]
    moved: bool = False
    exact: frozenset[Key] = frozenset()

    @property
    def lost(self) -> frozenset[Key]:
        """The edited statements that are not in effect."""
        return frozenset(key for key, verdict in self.verdicts.items() if verdict in _LOST)

    @property
    def back(self) -> frozenset[Key]:
        """Of those, the ones where the text before the fix stands."""
        return frozenset(key for key, verdict in self.verdicts.items() if verdict in _BACK)

    @property
    def rewritten(self) -> bool:
        """Whether something of the edit is there in another spelling."""
        return any(verdict is Verdict.EQUIVALENT for verdict in self.verdicts.values())


def effect_on(edit: FixEdit, now: Definition | None, path: str, *, moved: bool = False) -> Effect:
    """What one version of the definition has of an edit.

    Arguments:
        now: the definition in that version; None where it has none.
    """
    before = edit.before.statements if edit.before else ()
    after = edit.after.statements if edit.after else ()
    if now is None:
        gone = Verdict.LOST if edit.after is not None else Verdict.KEPT
        return Effect(path, 0, dict.fromkeys(edit.weights, gone))
    if edit.after is None:
        back = dict.fromkeys(edit.weights, Verdict.REVIVED)
        return Effect(path, now.line, back, exact=frozenset(back))
    if edit.after.own == now.own:
        line = _place(edit, now, {})
        return Effect(path, line, dict.fromkeys(edit.weights, Verdict.MOVED if moved else Verdict.KEPT), moved)
    verdicts: dict[Key, Verdict] = {}
    places: dict[Key, int] = {}
    exact = set()
    for hunk in judge_statements(Alignment(before, after, before, now.statements)):
        for fate in hunk.fates:
            key = fate.old, fate.new
            if key not in edit.weights:
                continue
            verdict, at, row = fate.verdict, fate.merged, fate.row
            if verdict is Verdict.LOST and fate.old >= 0 and fate.new >= 0:
                verdict, at = _by_head(before[fate.old], after[fate.new], after, now)
            if at >= 0 and fate.old >= 0 and verdict in _LOST and now.statements[at].text == before[fate.old].text:
                exact.add(key)
            verdicts[key] = verdict
            places[key] = row or (now.statements[at].line if at >= 0 else 0)
    return Effect(path, _place(edit, now, places), verdicts, moved, frozenset(exact))


def _by_head(old: Statement, new: Statement, after: tuple[Statement, ...], now: Definition) -> tuple[Verdict, int]:
    """The fate of an edited call that grew so much that only its target and callee tell it.

    Returns:
        The verdict, and the index of the statement in `now`, or -1.
    """
    head = _head(new)
    known = {statement.text for statement in after} - {new.text}
    alike = [
        index
        for index, statement in enumerate(now.statements)
        if head and _head(statement) == head and statement.text not in known
    ]
    if len(alike) != 1 or sum(_head(statement) == head for statement in after) > 1:
        return Verdict.LOST, -1
    fates = tokens.fates(old, new, now.statements[alike[0]])
    if all(fate.kept for fate in fates):
        return Verdict.EQUIVALENT, alike[0]
    kept = any(fate.kept or fate.done for fate in fates)
    return Verdict.PARTLY if kept else Verdict.REVERTED, alike[0]


def _head(statement: Statement) -> tuple[str, ...]:
    """Target and callee of a call: its tokens up to the first bracket; empty where nothing stands before that."""
    if "(" not in statement.tokens:
        return ()
    return statement.tokens[: statement.tokens.index("(")]


def _place(edit: FixEdit, now: Definition, places: dict[Key, int]) -> int:
    """The line of the heaviest edited statement that stands somewhere, else the definition's."""
    for key in sorted(edit.weights, key=lambda k: -edit.weights[k]):
        if places.get(key):
            return places[key]
    if edit.after is not None and not places:
        heaviest = max(edit.weights, key=lambda k: edit.weights[k])
        if heaviest[1] >= 0 and heaviest[1] < len(now.statements):
            return now.statements[heaviest[1]].line
    return now.line


def effect_in(edit: FixEdit, blob: str | None, path: str, readings: Readings) -> Effect:
    """What one version of the file has of an edit, at its own place in that file.

    Arguments:
        blob: name of the version (see `Readings.data`); None where the tree has no such file.
    """
    now = None
    if blob is not None:
        now = readings.definition(blob, edit.key)
    return effect_on(edit, now, path)


def effect_elsewhere(edit: FixEdit, here: tuple[str, str] | None, others: Iterable[tuple[str, str]],
                     readings: Readings) -> Effect | None:  # fmt: skip
    """What a tree has of an edit whose definition is not at its place: in the same file or in others.

    Arguments:
        here: path and blob of the file, where the tree has it.
        others: path and blob of the files that define something of the same last name.
    """
    wanted = edit.after or edit.before
    if wanted is None or wanted.name == MODULE:
        return None
    lines = _lines(wanted)
    own = list(_standings(here, readings)) if here else []
    near = [s for s in own if s.merged.name != wanted.name and _may_be(s.merged, wanted, lines)]
    found = moved_to(wanted, near, [])
    if found is None:
        away = [s for other in others for s in _standings(other, readings) if s.merged.last_name == wanted.last_name]
        found = moved_to(wanted, [], away)
    if found is None:
        return None
    return effect_on(edit, found.merged, found.path, moved=True)


def _may_be(definition: Definition, wanted: Definition, lines: frozenset[str]) -> bool:
    """Whether it is worth comparing two definitions statement by statement: one name, or a third of the lines alike."""
    if definition.last_name == wanted.last_name:
        return True
    there = _lines(definition)
    return len(lines & there) * 3 >= max(1, min(len(lines), len(there)))


def _lines(definition: Definition) -> frozenset[str]:
    return frozenset(stripped for line in definition.own.split("\n") if len(stripped := line.strip()) > _SHORT)


def with_scattered(edit: FixEdit, effect: Effect, file: SourceFile) -> Effect:
    """The effect, with statements that stand in another definition of the same file taken as moved."""
    if edit.after is None or not effect.lost:
        return effect
    known = {s.text for d in (edit.before,) if d is not None for s in d.statements}
    others = [definition for definition in file.definitions.values() if definition.key != edit.key]
    verdicts = dict(effect.verdicts)
    for old, new in effect.lost:
        statement = edit.after.statements[new] if new >= 0 else None
        if statement is None or len(statement.tokens) < _DISTINCTIVE * 2 or statement.text in known:
            continue
        word = max(statement.tokens, key=len)
        if any(word in other.own and any(s.text == statement.text for s in other.statements) for other in others):
            verdicts[old, new] = Verdict.MOVED
    return Effect(effect.path, effect.line, verdicts, effect.moved, effect.exact)


def _standings(place: tuple[str, str], readings: Readings) -> Iterable[Location]:
    path, blob = place
    file = readings.whole(blob)
    for definition in file.definitions.values():
        if definition.name != MODULE:
            yield Location(path, file, definition, None, None, None)
