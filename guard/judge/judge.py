"""The judge of changes: for every change that a side made to a file since the base, what became of it in merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace

from guard.documents.definitions import EMPTY, MODULE, Definition, SourceFile
from guard.judge.alignment import align, hunks
from guard.judge.called import run_by_a_helper
from guard.judge.changes import JudgedChange, LostEdit, Place
from guard.judge.definition_index import DefinitionIndex, Location, shared
from guard.judge.directives import directive_changes
from guard.judge.doubts import DEFINITION_REWRITTEN, TAKEN_OVER, doubted
from guard.judge.evidence import Files, pieces_of
from guard.judge.files import judge_presence
from guard.judge.fitting import with_doubt
from guard.judge.forms import FileForms
from guard.judge.inert import inert_changes
from guard.judge.move_target import move_target, other_form
from guard.judge.numeric import is_numeric, is_test
from guard.judge.renamed import RECAST, TOUCHED, is_stub, old_name, rename_candidates, renamed_by
from guard.judge.twice import twice_in
from guard.judge.verdicts import Alignment, Hunk, judge_common, judge_statements, judge_surplus
from guard.judge.whole import gone, whole, whole_piece
from guard.model import Side, Verdict

__all__ = ["FileForms", "judge", "judge_side"]

Key = tuple[str, int]
SHARE_TAKEN_OVER = (
    0.15  # share of a removed definition that stands in a new one, beside the very text that a side changed
)


def judge(forms: FileForms, elsewhere: DefinitionIndex | None = None) -> list[JudgedChange]:
    """What became of every change of either side to one file.

    Arguments:
        elsewhere: other files of merged that may hold what left this one.

    Returns:
        One change for each run of statements that a side changed in one definition, and for each definition that it
        added or deleted whole; ours first, in the order of the file.
    """
    places = elsewhere or DefinitionIndex()
    sides = [change for side in Side for change in judge_side(forms, side, places)]
    return [*sides, *twice_in(forms), *directive_changes(forms)]


def judge_side(forms: FileForms, side: Side, elsewhere: DefinitionIndex) -> list[JudgedChange]:
    """What became of the changes of one side. The other side's form tells what is contested and superseded."""
    return list(_SideJudge(forms, side, elsewhere).changes())


@dataclass(slots=True)
class _SideJudge:
    forms: FileForms
    side: Side
    elsewhere: DefinitionIndex
    whole: set[Key] = field(default_factory=set)
    counts: list[Counter[str]] = field(default_factory=list)
    tokens: tuple[Counter[str], Counter[str]] | None = None
    read: set[str] | None = None
    abandoned: list[Definition] | None = None

    def changes(self) -> Iterator[JudgedChange]:
        forms = self.forms
        file = judge_presence(
            forms.path,
            forms.base,
            forms.of(self.side),
            forms.of(self.side.other),
            forms.merged,
            self.side,
            self.elsewhere,
        )
        if file is not None:
            yield file
            return
        base, made = self.forms.base.definitions, self.forms.of(self.side).definitions
        yield from self._second_copies()
        for key in dict.fromkeys((*made, *base)):
            before, after = base.get(key), made.get(key)
            if before is not None and after is not None:
                if before.own != after.own:
                    yield from self._modified(before, after)
                    yield from inert_changes(forms, self.side, before, after, self.elsewhere)
                    yield from self._abandoned(before, after)
                yield from self._common(before, after)
            elif after is not None:
                if self.abandoned is None:
                    self.abandoned = rename_candidates(forms, self.side)
                renamed = old_name(forms, self.side, after, self.abandoned)
                yield from self._brought(after, renamed)
                yield from self._common(renamed, after)
                yield from inert_changes(forms, self.side, None, after, self.elsewhere)
            elif before is not None:
                yield from self._deleted(before)

    def _second_copies(self) -> Iterator[JudgedChange]:
        """Definitions that merged has once more than either side: the old copy of one that a side moved or rewrote."""
        forms = self.forms
        base, made, other = (file.definitions for file in (forms.base, forms.of(self.side), forms.of(self.side.other)))
        for key, now in forms.merged.definitions.items():
            first = (key[0], 0)
            if key[1] == 0 or key in made or key in other or first not in made or first not in base:
                continue
            if _before(base, first) == _before(made, first) and base[first].own == made[first].own:
                continue
            copies = [d for k, d in forms.merged.definitions.items() if k[0] == key[0] and k[1] <= key[1]]
            copy = next((d for d in copies if _texts(d) == _texts(base[first])), now)
            self.whole.add(key)
            piece = whole_piece(forms, self.side, base[first], forms.base, copy, Verdict.REVIVED)
            yield whole(self.forms, self.side, base[first], Verdict.REVIVED, "merged has it twice", (piece,), copy)

    def _now(self, after: Definition) -> Definition | None:
        """The definition of merged under the name; where merged alone has it several times, the one most like it."""
        merged = self.forms.merged.definitions
        now = merged.get(after.key)
        second = (after.name, after.number + 1)
        if now is None or second not in merged or second in self.forms.of(self.side).definitions:
            return now
        copies = [found for key, found in merged.items() if key[0] == after.name and key[1] >= after.number]
        return max(copies, key=lambda copy: shared(after, copy))

    def _modified(self, before: Definition, after: Definition) -> Iterator[JudgedChange]:
        forms, now = self.forms, self._now(after)
        other = self.forms.of(self.side.other).definitions.get(after.key)
        if now is not None and not is_stub(before, now, other) and not renamed_by(forms, self.side.other, before):
            yield from self._compare(before, after, other, now)
            return
        standing = move_target(self.forms, self.side, self.elsewhere, after, before)
        if standing is not None:
            yield from self._compare(before, after, other, standing.merged, standing)
        elif now is not None:
            yield from self._compare(before, after, other, now)
        elif other is None:
            if before.shape != after.shape:
                yield from self._taken_over(before, after)
        elif before.shape != after.shape:
            yield gone(
                self.forms, self.side, after, Verdict.LOST, "the whole definition is gone, and both sides have it"
            )

    def _taken_over(self, before: Definition, after: Definition) -> Iterator[JudgedChange]:
        """A change to a definition that the other side removed: back where its old text stands in a new definition."""
        forms = self.forms
        old = {s.text for s in before.statements} - {s.text for s in after.statements}
        heirs = [
            definition
            for key, definition in forms.merged.definitions.items()
            if key not in forms.base.definitions and key not in forms.of(self.side).definitions
            if definition.kind == before.kind and any(s.text in old for s in definition.statements)
        ]
        heir = max(heirs, key=lambda definition: shared(before, definition), default=None)
        if heir is not None and shared(before, heir) >= SHARE_TAKEN_OVER:
            there = forms.of(self.side.other).definitions.get(heir.key)
            standing = Location(forms.path, forms.merged, heir, None, there, there)
            found = self._compare(before, after, there, heir, standing)
            back = [change for change in found if change.verdict in (Verdict.REVERTED, Verdict.PARTLY)]
            for change in back:
                pieces = tuple(doubted(piece, TAKEN_OVER) for piece in change.pieces)
                yield replace(change, reason=f"what it changed stands in {heir.name} now", pieces=pieces)
            if back:
                return
        told = gone(forms, self.side, after, Verdict.SUPERSEDED, "the other side removed the definition")
        known = set(map(str.strip, forms.base.lines[before.line - 1 : before.end_line]))
        changed = (replace(p, missing_lines=tuple(t for t in p.missing_lines if t not in known)) for p in told.pieces)
        yield replace(told, pieces=tuple(changed))

    def _common(self, before: Definition | None, after: Definition) -> Iterator[JudgedChange]:
        """What merged dropped although all have it, or has once more than all: told for the side that came near."""
        forms = self.forms
        now = forms.merged.definitions.get(after.key)
        other = forms.of(self.side.other).definitions.get(before.key if before is not None else after.key)
        if now is None or now.own in {form.own for form in (before, after, other) if form is not None}:
            return
        near, other_near = (form is not None and (before is None or before.own != form.own) for form in (after, other))
        if not (near if near != other_near else self.side is Side.OURS):
            return
        four = _four((before, after, other, now))
        files = Files(forms.base, forms.of(self.side), forms.of(self.side.other), forms.merged)
        judged = judge_statements(four)
        found = [(hunk, Verdict.LOST) for hunk in judge_common(four)]
        found += [(hunk, Verdict.REVIVED) for hunk in judge_surplus(four, judged, self._spare)]
        for hunk, verdict in found:
            pieces = tuple(pieces_of(hunk, four, files, self.side, now))
            at = Place(forms.path, now.name, pieces[0].line, pieces[0].end_line)
            change = self._change(at, Place(forms.path, after.name, after.line, after.end_line), verdict, pieces, hunk)
            yield replace(change, reason="the base and both sides have it" if verdict is Verdict.LOST else "")

    def _spare(self, text: str) -> bool:
        """Whether merged has more statements with this text in the file than either side, and the base has one."""
        base, made, other, merged = self._counted(text)
        return merged > max(made, other) and base > 0

    def _reads(self, name: str) -> bool:
        """Whether merged's file reads a name that the side's does not, imports aside, in words that are not the base's.

        What reads it in the base's words is back as the import is: neither is a consequence of the other.
        """
        if self.read is None:
            known = {text for definition in self.forms.base.definitions.values() for text in _texts(definition)}
            self.read = _read(self.forms.merged, known) - _read(self.forms.of(self.side))
        return name in self.read

    def _went(self, text: str) -> bool:
        """Whether merged has, in the file, as many statements with this text as the side, and more than the base."""
        base, made, _, merged = self._counted(text)
        return merged >= made and merged > base

    def _counted(self, text: str) -> tuple[int, ...]:
        if not self.counts:
            for file in (self.forms.base, self.forms.of(self.side), self.forms.of(self.side.other), self.forms.merged):
                self.counts.append(Counter(t for d in file.definitions.values() for t in _texts(d)))
        return tuple(count[text] for count in self.counts)

    def _brought(self, after: Definition, renamed: Definition | None) -> Iterator[JudgedChange]:
        now = self._now(after)
        other = self.forms.of(self.side.other).definitions.get(renamed.key if renamed else after.key)
        if now is not None:
            yield from self._compare(renamed, after, other, now)
            return
        if self._enclosed(after) or after.name == MODULE:
            return
        standing = move_target(self.forms, self.side, self.elsewhere, after, None)
        if standing is not None:
            yield from self._compare(None, after, None, standing.merged, standing)
            return
        self.whole.add(after.key)
        rest = self.forms.path if self.forms.merged is EMPTY else ""  # most of the file stands in others
        yield replace(
            gone(self.forms, self.side, after, Verdict.LOST, ""),
            elsewhere=other_form(self.forms, self.side, self.elsewhere, after) or rest,
        )

    def _deleted(self, before: Definition) -> Iterator[JudgedChange]:
        now = self.forms.merged.definitions.get(before.key)
        if before.name == MODULE:
            return
        if now is None or self._enclosed(before):
            if now is None:
                yield whole(self.forms, self.side, before, Verdict.KEPT, "", ())
            return
        other = self.forms.of(self.side.other).definitions.get(before.key)
        if other is None:
            verdict, reason = Verdict.REVIVED, "both sides removed it"
        elif _texts(other) != _texts(before) and shared(before, other) < TOUCHED:
            verdict, reason = Verdict.SUPERSEDED, "the other side went on with the definition"
        else:
            verdict, reason = Verdict.REVIVED, ""
        self.whole.add(before.key)
        pieces: tuple[LostEdit, ...] = ()
        if verdict is Verdict.REVIVED:
            pieces = (whole_piece(self.forms, self.side, before, self.forms.base, now, verdict),)
        yield whole(self.forms, self.side, before, verdict, reason, pieces, now)

    def _compare(
        self,
        before: Definition | None,
        after: Definition,
        other: Definition | None,
        now: Definition,
        standing: Location | None = None,
    ) -> Iterator[JudgedChange]:
        """The runs of statements that made `after` of `before`, looked for in `now`.

        Arguments:
            standing: where `now` stands, if it is not the same name in the same file.
        """
        forms, path = self.forms, self.forms.path
        files = Files(forms.base, forms.of(self.side), forms.of(self.side.other), forms.merged)
        if standing is None and now.own == after.own:
            yield from self._as_made(before, after, now)
            return
        if standing is not None:
            path = standing.path
            files = replace(files, merged=standing.file)
            there = standing.theirs if self.side is Side.OURS else standing.ours
            if there is not None:
                other = there
                files = replace(files, other=self._file(self.side.other.value, path))
            if before is None and standing.base is not None:
                before = standing.base
                files = replace(files, base=self._file("base", path))
        four = _four((before, after, other, now), self._went, self._reads)
        recast = before is not None and other is not None and shared(before, other) < RECAST
        for hunk in judge_statements(four):
            verdict = hunk.verdict(moved=standing is not None)
            pieces = tuple(pieces_of(hunk, four, files, self.side, now)) if verdict.is_told else ()
            pieces = run_by_a_helper(hunk.lost, pieces, four.side, now, files.merged) if pieces else ()
            if before is None and pieces:
                pieces = with_doubt(four, hunk.lost, pieces, *self._tokens())
            if recast:
                pieces = tuple(doubted(piece, DEFINITION_REWRITTEN) for piece in pieces)
            line = (
                pieces[0].line
                if pieces
                else next((four.merged[f.merged].line for f in hunk.fates if f.merged >= 0), now.line)
            )
            at = Place(path, now.name, line, max(line, pieces[-1].end_line if pieces else line))
            first, last = after.line, after.line
            if hunk.new_end > hunk.new_start:
                first, last = after.statements[hunk.new_start].line, after.statements[hunk.new_end - 1].end_line
            yield self._change(at, Place(forms.path, after.name, first, last), verdict, pieces, hunk)

    def _tokens(self) -> tuple[Counter[str], Counter[str]]:
        """The tokens of the base's and the other side's file, by count."""
        if self.tokens is None:
            base, other = self.forms.base, self.forms.of(self.side.other)
            self.tokens = _tokens_of(base), _tokens_of(other)
        return self.tokens

    def _as_made(self, before: Definition | None, after: Definition, now: Definition) -> Iterator[JudgedChange]:
        """The runs of statements of a definition that merged has as the side made it."""
        old = [statement.text for statement in before.statements] if before else []
        new = [statement.text for statement in after.statements]
        for start, end, new_start, new_end in hunks(align(old, new), len(new)):
            line = now.statements[new_start].line if new_start < len(new) else now.line
            last = now.statements[new_end - 1].end_line if new_end > new_start else line
            at = Place(self.forms.path, now.name, line, max(line, last))
            where = Place(self.forms.path, after.name, after.line, after.end_line)
            size = max(1, end - start, new_end - new_start)
            yield JudgedChange(at, where, self.side, Verdict.KEPT, "statements", size)

    def _file(self, tree: str, path: str) -> SourceFile:
        if path == self.forms.path:
            return self.forms.base if tree == "base" else self.forms.of(Side(tree))
        return self.elsewhere.file(tree, path)

    def _change(
        self, at: Place, where: Place, verdict: Verdict, pieces: tuple[LostEdit, ...], hunk: Hunk
    ) -> JudgedChange:
        numeric = not is_test(at.path) and any(is_numeric(p.words) for p in pieces if not p.imported)
        subject = next((piece.subject for piece in pieces if piece.subject), None)
        size = max(1, len(hunk.fates))
        return JudgedChange(at, where, self.side, verdict, "statements", size, pieces, numeric, subject)

    def _abandoned(self, before: Definition, after: Definition) -> Iterator[JudgedChange]:
        """Edits that stayed in an old copy of a definition, while the copy that the other side moved lacks them."""
        other = self.forms.of(self.side.other).definitions.get(after.key)
        now = self.forms.merged.definitions.get(after.key)
        if other is not None or now is None or before.name == MODULE:
            return
        standing = move_target(self.forms, self.side, self.elsewhere, before, None)
        moved = (standing.theirs if self.side is Side.OURS else standing.ours) if standing else None
        if standing is None or moved is None or standing.base is not None:
            return
        for change in self._compare(before, after, moved, standing.merged, standing):
            if change.verdict.is_loss and change.verdict is not Verdict.REVIVED:
                reason = f"the definition moved here; the edit stayed in the copy in {self.forms.path}"
                yield replace(change, reason=reason)

    def _enclosed(self, definition: Definition) -> bool:
        """Whether a definition around it was told as a whole already."""
        parts = definition.name.split(".")
        return any((".".join(parts[:count]), 0) in self.whole for count in range(1, len(parts)))


def _four(
    forms: tuple[Definition | None, ...],
    went: Callable[[str], bool] = lambda _text: False,
    reads: Callable[[str], bool] = lambda _name: False,
) -> Alignment:
    base, side, other, merged = (form.statements if form else () for form in forms)
    flat = all(form is None or form.kind != "function" for form in forms)
    return Alignment(base, side, other, merged, went, flat, reads)


def _read(file: SourceFile, known: Container[str] = ()) -> set[str]:
    statements = (s for definition in file.definitions.values() for s in definition.statements)
    found = (s for s in statements if s.kind != "import" and s.text not in known)
    return {token for statement in found for token in statement.tokens}


def _tokens_of(file: SourceFile) -> Counter[str]:
    return Counter(token for d in file.definitions.values() for statement in d.statements for token in statement.tokens)


def _before(definitions: Mapping[Key, Definition], key: Key) -> Key | None:
    """The definition that stands before one in a file."""
    last = None
    for known in definitions:
        if known == key:
            return last
        last = known
    return None


def _texts(definition: Definition) -> list[str]:
    return [statement.text for statement in definition.statements]
