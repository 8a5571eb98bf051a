"""A fix as what it did: the edits of one commit, definition by definition, against its first parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from guard.documents.definitions import Definition
from guard.documents.kinds import is_python, kind_of
from guard.documents.statements import Statement
from guard.git import Commit, Repository
from guard.judge import tokens
from guard.judge.numeric import is_numeric, is_test
from guard.judge.verdicts import Alignment, judge_statements
from guard.provenance.text_edits import TextEdit, text_edit
from guard.sync.readings import Readings

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
MOST_FILES = 400
Statements = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class FixEdit:
    """What a fix did to one definition.

    Attributes:
        path, old_path: the file after and before.
        symbol: dotted name of the definition.
        before, after: the definition in the parent and in the fix; None where it has none.
        weights: how much each edited statement counts, by its index (in before, in after; -1 where there is none).
    """

    path: str
    old_path: str
    symbol: str
    before: Definition | None
    after: Definition | None
    weights: dict[tuple[int, int], float] = field(hash=False, compare=False)

    @property
    def weight(self) -> float:
        """How much the edit counts among the edits of its fix."""
        return sum(self.weights.values())

    @property
    def key(self) -> tuple[str, int]:
        """Key of the definition in a parsed file."""
        definition = self.after or self.before
        assert definition is not None
        return definition.key


@dataclass(frozen=True, slots=True)
class Fix:
    """One commit as a fix.

    Attributes:
        edits, texts: of Python files, and of others: those of its sources alone where it has some, see `_TIERS`.
        numeric: an edit bears on a computed number.
    """

    commit: Commit
    edits: tuple[FixEdit, ...]
    texts: tuple[TextEdit, ...]
    numeric: bool
    paths: tuple[str, ...] = ()

    @property
    def parent(self) -> str:
        """What the commit is compared with: its first parent, or the empty tree."""
        return self.commit.parents[0] if self.commit.parents else EMPTY_TREE


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that a commit changed: blobs and paths before and after; None where there is none."""

    old_path: str
    path: str
    before: str | None
    after: str | None
    submodule: bool = False


def read_fix(repository: Repository, commit: Commit, readings: Readings, only: frozenset[str] | None = None) -> Fix:
    """The edits of a commit against its first parent.

    Arguments:
        readings: shared between fixes, so that versions are parsed once.
        only: paths to read; all that the commit changed by default.
    """
    changed = [file for file in changed_files(repository, commit) if only is None or file.path in only]
    edits: tuple[FixEdit, ...] = ()
    texts: tuple[TextEdit, ...] = ()
    for tier in range(_TIERS):
        files = [file for file in changed if _tier(file) == tier]
        if len(files) > MOST_FILES:
            # A merge of branches or a mass rewrite is no fix that could be told by its statements.
            break
        edits, texts = _edits(files, readings)
        if edits or texts:
            break
    numeric = any(not is_test(edit.path) and any(map(is_numeric, edited_runs(edit))) for edit in edits)
    numeric = numeric or any(not is_test(edit.path) and edit.numeric for edit in texts)
    return Fix(commit, edits, texts, numeric, tuple(file.path for file in changed))


def _edits(files: list[ChangedFile], readings: Readings) -> tuple[tuple[FixEdit, ...], tuple[TextEdit, ...]]:
    readings.prefetch(blob for file in files if not file.submodule for blob in (file.before, file.after) if blob)
    python = [file for file in files if is_python(file.path) and not file.submodule]
    edits = (edit for file in python for edit in file_edits(file, readings))
    texts = (_text_edit(file, readings) for file in files if file not in python)
    return tuple(edit for edit in edits if edit.weight > 0), tuple(edit for edit in texts if edit.weight > 0)


# A fix is told by its sources; where it has none by its settings, then by its tests, then by its prose: what
# documents or tests a fix can stand in a branch that does not have it.
_TIERS = 4


def _tier(file: ChangedFile) -> int:
    if is_test(file.path):
        return 2
    kind = kind_of(file.path)
    if file.submodule or kind in {"python", "code"}:
        return 0
    return 3 if kind == "prose" else 1


def changed_files(repository: Repository, commit: Commit) -> Iterator[ChangedFile]:
    """The files that a commit changed against its first parent, renames followed."""
    parent = commit.parents[0] if commit.parents else EMPTY_TREE
    output = repository.git("diff-tree", "-r", "-z", "-M", "--raw", "--no-commit-id", parent, commit.sha)
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    index = 0
    while index + 1 < len(fields):
        meta = fields[index].split(" ")
        if len(meta) < 5:
            break
        before, after, kind = meta[2], meta[3], meta[4]
        old_path = fields[index + 1]
        renamed = kind[0] in "RC"
        path = fields[index + 2] if renamed else old_path
        index += 3 if renamed else 2
        submodule = meta[0] == ":160000" or meta[1] == "160000"
        yield ChangedFile(old_path, path, _blob(before), _blob(after), submodule)


def file_edits(file: ChangedFile, readings: Readings) -> Iterator[FixEdit]:
    """The edits of one Python file, in its order; definitions whose statements are equal are left out."""
    old = frozenset(text for _, _, text in readings.chunks(file.before)) if file.before else frozenset()
    new = frozenset(text for _, _, text in readings.chunks(file.after)) if file.after else frozenset()
    before = readings.without(file.before, old & new).definitions if file.before else {}
    after = readings.without(file.after, old & new).definitions if file.after else {}
    for key in dict.fromkeys((*after, *before)):
        one, other = before.get(key), after.get(key)
        if one is not None and other is not None and one.own == other.own:
            continue
        weights = edit_weights(one.statements if one else (), other.statements if other else ())
        yield FixEdit(file.path, file.old_path, key[0], one, other, weights)


def edit_weights(before: Statements, after: Statements) -> dict[tuple[int, int], float]:
    """How much each edited statement says: the content tokens that it put in or took out, at most eight."""
    forms = Alignment(before, after, before, after)
    weights: dict[tuple[int, int], float] = {}
    for hunk in judge_statements(forms):
        for fate in hunk.fates:
            old = before[fate.old] if fate.old >= 0 else None
            new = after[fate.new] if fate.new >= 0 else None
            weights[fate.old, fate.new] = _weight(old, new)
    return {key: weight for key, weight in weights.items() if weight > 0}


def edited_runs(edit: FixEdit) -> Iterator[list[str]]:
    """The runs of tokens that an edit put in or took out, one after the other."""
    before = edit.before.statements if edit.before else ()
    after = edit.after.statements if edit.after else ()
    for old, new in edit.weights:
        if old >= 0 and new >= 0:
            for change in tokens.edits(before[old].tokens, after[new].tokens):
                yield list(before[old].tokens[change.start : change.end])
                yield list(after[new].tokens[change.new_start : change.new_end])
        else:
            yield list((after[new] if new >= 0 else before[old]).tokens)


def _weight(old: Statement | None, new: Statement | None) -> float:
    statement = new or old
    if statement is None:
        return 0.0
    if statement.kind == "import":
        return 0.25
    if old is not None and new is not None:
        changes = tokens.edits(old.tokens, new.tokens)
        said = sum(
            len(tokens.content(new.tokens[c.new_start : c.new_end])) or len(tokens.content(old.tokens[c.start : c.end]))
            for c in changes
        )
        return float(min(8, max(1, said)))
    size = len(tokens.content(statement.tokens))
    return float(min(8, max(1, size))) if new is not None else min(2.0, max(0.5, size / 4))


def _text_edit(file: ChangedFile, readings: Readings) -> TextEdit:
    blobs = (file.before, file.after)
    data = [readings.data(blob) if blob and not file.submodule else None for blob in blobs]
    return text_edit(file.path, file.old_path, blobs, (data[0], data[1]))


def _blob(sha: str) -> str | None:
    return None if set(sha) == {"0"} else sha
