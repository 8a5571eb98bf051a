"""Whether the edits of a fix to a file that is not Python are in effect in some version of it, unit by unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import SequenceMatcher

from guard.documents.kinds import kind_of
from guard.documents.units import Document, document, is_binary
from guard.git import Entry, Repository
from guard.judge.text_changes import judge_documents, units_apart
from guard.model import Side, Verdict
from guard.provenance.effect import Effect
from guard.provenance.text_edits import WHOLE_CONTENT, Key, TextEdit
from guard.sync.readings import Readings

Read = Callable[[str], bytes | None]
_LONG = 5_000  # units: beyond, the exact alignment takes seconds
# Characters of a line that is worth looking for in other files, and how many such lines of one edit are.
_TELLING_LINE, _GREP_LINES = 12, 8


class TextEffects:
    """Asks trees and versions of a repository for the edits of fixes to files that are not Python."""

    def __init__(self, repository: Repository, readings: Readings) -> None:
        self._repository, self._read = repository, readings.data
        self._objects: dict[str, str | None] = {}

    def in_version(self, edit: TextEdit, commit: str) -> Effect:
        """What the file of a commit has of an edit, at the edit's own place."""
        return text_effect(edit, self._object(f"{commit}:{edit.path}"), edit.path, self._read)

    def in_tree(self, edit: TextEdit, fix: str, tree: str, entries: Mapping[str, Entry]) -> Effect:
        """What a tree has of an edit, there or where its text went.

        Arguments:
            fix: SHA of the commit that made the edit.
            tree: SHA of the commit or tree that is asked, with its `entries`.
        """
        entry = entries.get(edit.path)
        effect = text_effect(edit, entry.sha if entry else None, edit.path, self._read)
        if not effect.lost or edit.after is None:
            return effect
        beside = self._repository.entries(fix)
        others = []
        for path in self._holding(edit, effect, tree):
            held, earlier = entries.get(path), beside.get(path)
            if held is not None and held.kind == "file" and held != earlier:
                others.append((path, held.sha, earlier.sha if earlier is not None else None))
        return text_effect_elsewhere(edit, effect, others, self._read)

    def _holding(self, edit: TextEdit, effect: Effect, tree: str) -> Iterator[str]:
        """Other files of a tree, of the same kind, that hold what the heaviest lost edit put in or took out."""
        heaviest = max(effect.lost, key=lambda key: edit.weights[key])
        lines = [
            line.strip()
            for source, index in zip((edit.before, edit.after), heaviest, strict=True)
            if source is not None and index >= 0
            for line in source.lines[source.units[index].line - 1 : source.units[index].end_line]
            if len(line.strip()) >= _TELLING_LINE
        ]
        if not lines:
            return
        flags = [flag for line in lines[:_GREP_LINES] for flag in ("-e", line)]
        output = self._repository.git("grep", "-l", "-z", "-F", *flags, tree, accept=(0, 1))
        for name in output.decode("utf-8", "surrogateescape").split("\0"):
            path = name.partition(":")[2]
            if path and path != edit.path and kind_of(path) == kind_of(edit.path):
                yield path

    def _object(self, name: str) -> str | None:
        """The object that stands at `commit:path`, a submodule's commit too."""
        if name not in self._objects:
            found = self._repository.git("rev-parse", "--verify", "-q", "--end-of-options", name, accept=(0, 1, 128))
            self._objects[name] = found.decode("ascii", "replace").strip() or None
        return self._objects[name]


def text_effect(edit: TextEdit, blob: str | None, path: str, read: Read) -> Effect:
    """What one version of the file has of an edit, at its own place.

    Arguments:
        blob: object name of the version; None where the tree has no such file.
        read: the bytes of an object.
    """
    if blob is None:
        gone = Verdict.KEPT if edit.blobs[1] is None else Verdict.LOST
        verdicts = {key: gone if key[1] >= 0 or key == WHOLE_CONTENT else Verdict.KEPT for key in edit.weights}
        return Effect(path, 0, verdicts)
    if edit.before is None or edit.after is None:
        verdict = {edit.blobs[1]: Verdict.KEPT, edit.blobs[0]: Verdict.REVERTED}.get(blob, Verdict.LOST)
        found = {WHOLE_CONTENT: verdict}
        return Effect(path, 1, found, exact=frozenset(found if verdict is Verdict.REVERTED else ()))
    if blob == edit.blobs[1]:
        return Effect(path, _place(edit, edit.after, {}), dict.fromkeys(edit.weights, Verdict.KEPT))
    now = _document(edit, path, read(blob) or b"")
    if now is None:
        return Effect(path, 1, dict.fromkeys(edit.weights, Verdict.LOST))
    judged = judge_documents(edit.before, edit.after, edit.before, now)[Side.OURS]
    lost = {unit.key: unit for unit in (*judged.lost, *judged.fitted)}
    verdicts = {key: lost[key].verdict if key in lost else Verdict.KEPT for key in edit.weights}
    closed = _as_before(edit, now)
    for key in lost.keys() & verdicts.keys():
        if verdicts[key] is Verdict.EQUIVALENT:
            verdicts[key] = Verdict.PARTLY  # alike is not the same: who made it so is asked
        elif verdicts[key] is Verdict.SUPERSEDED or (key[0] < 0 and key[1] in closed):
            verdicts[key] = Verdict.REVERTED
    exact = frozenset(key for key in edit.weights if verdicts[key] in (Verdict.REVERTED, Verdict.REVIVED))
    return Effect(path, _place(edit, now, {key: unit.line for key, unit in lost.items()}), verdicts, exact=exact)


def text_effect_elsewhere(
    edit: TextEdit, effect: Effect, others: Iterable[tuple[str, str, str | None]], read: Read
) -> Effect:
    """The effect, with what other files of the tree received since the fix: its text moved there, or what it replaced.

    Arguments:
        others: path and blob of each file, and its blob beside the fix, if there was one.
    """
    if edit.before is None or edit.after is None:
        return effect
    verdicts, exact = dict(effect.verdicts), set(effect.exact)
    where: tuple[str, int] | None = None
    for path, blob, earlier in others:
        now = _document(edit, path, read(blob) or b"")
        if now is None:
            continue
        known = _document(edit, path, read(earlier) or b"") if earlier is not None else None
        received = units_apart(now, [known] if known is not None else [])
        for key in effect.lost:
            name, verdict = _received(edit, key, received)
            if name is not None and verdicts[key] is not Verdict.MOVED:
                verdicts[key] = verdict
                if verdict is Verdict.REVERTED:
                    exact.add(key)
                else:
                    exact.discard(key)
                line = next((u.line for u in now.units if (u.label, u.text) == name), 1)
                where = where or (path, line)
    if where is None:
        return effect
    if any(verdicts[key] is not Verdict.MOVED for key in effect.lost) and effect.line:
        return replace(effect, verdicts=verdicts, exact=frozenset(exact))
    return Effect(where[0], where[1], verdicts, True, frozenset(exact))


def _received(edit: TextEdit, key: Key, received: Counter[tuple[str, str]]) -> tuple[tuple[str, str] | None, Verdict]:
    """The unit of an edit that another file received, if one: its own, or the one that it replaced."""
    assert edit.before is not None
    assert edit.after is not None
    for document_, index, verdict in (
        (edit.after, key[1], Verdict.MOVED),
        (edit.before, key[0], Verdict.REVERTED),
    ):
        if index >= 0:
            unit = document_.units[index]
            if received[unit.label, unit.text] > 0:
                return (unit.label, unit.text), verdict
    return None, Verdict.LOST


def _document(edit: TextEdit, path: str, data: bytes) -> Document | None:
    """A version read as the edit's own documents are; None where it cannot be."""
    assert edit.after is not None
    if is_binary(data):
        return None
    found = document(path, data)
    if found.kind != edit.after.kind and edit.after.kind == "lines":
        found = document(path, data, "lines")
    return found if found.kind == edit.after.kind else None


def _as_before(edit: TextEdit, now: Document) -> set[int]:
    """Indices of the fix's units in whose place nothing stands: there the text is as if the fix had never been."""
    assert edit.after is not None
    if edit.after.kind == "data":
        held = {unit.scope.rpartition(".")[0] for unit in now.units}
        return {j for _, j in edit.weights if j >= 0 and edit.after.units[j].scope.rpartition(".")[0] in held}
    made, now_texts = ([unit.text for unit in source.units] for source in (edit.after, now))
    matcher = SequenceMatcher(None, made, now_texts, autojunk=max(len(made), len(now_texts)) > _LONG)
    return {j for tag, first, last, _, _ in matcher.get_opcodes() if tag == "delete" for j in range(first, last)}


def _place(edit: TextEdit, now: Document, places: dict[Key, int]) -> int:
    """The line of the heaviest edited unit that is lost, else of the heaviest one that stands."""
    assert edit.after is not None
    order = sorted(edit.weights, key=lambda key: -edit.weights[key])
    if places:
        return next((places[key] for key in order if key in places), 1)
    lines: dict[tuple[str, str, str], int] = {}
    for unit in now.units:
        lines.setdefault(unit.key, unit.line)
    wanted = (edit.after.units[key[1]].key for key in order if key[1] >= 0)
    return next((lines[unit] for unit in wanted if unit in lines), 1)
