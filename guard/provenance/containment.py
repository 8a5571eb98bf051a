"""Whether a tree has a fix, by content and effect: the answers of `guard contains`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from guard.documents.definitions import MODULE, Definition
from guard.documents.kinds import is_python
from guard.git import Commit, Entry, Repository
from guard.judge.numeric import is_test
from guard.judge.overriding import arguments_set, overridden_by
from guard.provenance.culprits import Culprit, FileHistory, culprits, file_history
from guard.provenance.effect import Effect, Key, effect_elsewhere, effect_in, effect_on, with_scattered
from guard.provenance.fixes import Fix, FixEdit, read_fix
from guard.provenance.landings import Landings, history_of
from guard.provenance.text_edits import TextEdit
from guard.provenance.text_effect import TextEffects
from guard.sync.readings import Readings, read_all

# Parts of a fix, by weight, from which on it counts as wholly there, and up to which as not there at all.
WHOLE, NOTHING = 0.85, 0.25
# A definition edited by at least this weight, all of which a merge dropped, is a part of the fix that is lost.
_WHOLE_EDIT = 2.0
DEFINED = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
# A name that more files than this define tells nothing.
_GREP_NAMES, _FEW = 60, 5


@dataclass(frozen=True, slots=True)
class Contained:
    """Whether one tree has one fix.

    Attributes:
        status: present, equivalent, moved, partly, dead, reverted, missing or not-merged.
        place: path and line where the fix stands, or would stand; None where the tree has no such place.
        by: SHA of the commit that took it out.
        share: weight of what is in effect, 0 to 1.
    """

    status: str
    place: tuple[str, int] | None
    by: str | None = None
    share: float = 0.0
    by_merge: bool = False
    symbol: str = MODULE


@dataclass(slots=True)
class Branch:
    """One revision that is asked: its tree, and what it contains."""

    name: str
    sha: str
    entries: dict[str, Entry]
    commits: frozenset[str]


@dataclass(slots=True)
class _Account:
    """Weights of a fix's edited statements by what became of them."""

    there: float = 0.0
    rewritten: float = 0.0
    moved: float = 0.0
    superseded: float = 0.0
    gone: float = 0.0
    back: float = 0.0
    by: dict[str, float] = field(default_factory=dict)
    merges: set[str] = field(default_factory=set)
    superseders: dict[str, float] = field(default_factory=dict)
    place: tuple[str, int] | None = None
    bad_place: tuple[str, int, str] | None = None
    symbol: str = MODULE
    homes: int = 0
    dropped: int = 0
    dead: float = 0.0
    dead_place: tuple[str, int, str] | None = None

    @property
    def total(self) -> float:
        return self.there + self.superseded + self.gone + self.back

    @property
    def share(self) -> float:
        return (self.there + self.superseded) / self.total if self.total else 0.0


class Ledger:
    """Answers which branch has which fix; reads every fix, tree and version once."""

    def __init__(self, repository: Repository, landings: Landings | None = None) -> None:
        self.repository = repository
        self.landings = landings or Landings()
        self.readings = Readings(repository)
        self._fixes: dict[str, Fix] = {}
        self._branches: dict[str, Branch] = {}
        self._histories: dict[tuple[str, str, str], FileHistory] = {}
        self._defined: dict[str, dict[str, list[tuple[str, str]]]] = {}
        self._names: dict[str, set[str]] = {}
        self._texts = TextEffects(repository, self.readings)

    def fix(self, commit: Commit) -> Fix:
        """What a commit did."""
        if commit.sha not in self._fixes:
            self._fixes[commit.sha] = read_fix(self.repository, commit, self.readings)
        return self._fixes[commit.sha]

    def branch(self, revision: str, name: str | None = None) -> Branch:
        """A revision to ask.

        Arguments:
            revision: what names it.
            name: how it is shown; the revision by default.
        """
        key = name or revision
        if key not in self._branches:
            sha = self.repository.resolve(revision)
            entries = self.repository.entries(sha)
            self._branches[key] = Branch(key, sha, entries, history_of(self.repository, sha))
        return self._branches[key]

    def tree(self, name: str, entries: dict[str, Entry], parents: tuple[str, str]) -> Branch:
        """A tree to ask that may be no commit yet: a merge in progress. It contains what its parents contain.

        Arguments:
            name: SHA of a commit or tree.
            entries: its files.
            parents: full SHAs of the commits that it joins.
        """
        if self.repository.exists(name):
            return Branch(name, name, entries, history_of(self.repository, name))
        flags = [flag for parent in parents for flag in ("-p", parent)]
        sha = self.repository.git("commit-tree", name, *flags, stdin=b"merge in progress\n").decode("ascii").strip()
        return Branch(name, sha, entries, history_of(self.repository, sha))

    def contains(self, commits: Sequence[Commit], branch: Branch) -> Contained:
        """Whether a branch has a fix.

        Arguments:
            commits: the commits that are the fix; cherry-picks of them that the branch has are found.
        """
        candidates = list(commits)
        for commit in commits:
            candidates += [twin for twin in self.landings.twins(commit) if twin.sha in branch.commits]
        answers = []
        known: set[str] = set()
        for commit in candidates:
            # A merge is a fix only where it is named: then it stands for the pull request that it brought.
            if commit.sha in known or (len(commit.parents) > 1 and commit not in commits):
                continue
            known.add(commit.sha)
            fix = self.fix(commit)
            if fix.edits or fix.texts:
                answers.append(self.answer(fix, branch))
                if answers[-1].status == "present":
                    break
        if not answers:
            has = any(commit.sha in branch.commits for commit in candidates)
            return Contained("present" if has else "not-merged", None, share=1.0 if has else 0.0)
        if any(commit.sha in branch.commits for commit in candidates):
            # It was merged once, as itself or as a cherry-pick: not having it now is a loss.
            answers = [a for a in answers if a.status not in ("missing", "not-merged") or a.by] or answers
        return max(answers, key=lambda answer: (answer.share, answer.by is not None))

    def answer(self, fix: Fix, branch: Branch) -> Contained:
        """Whether a branch has just this, under no other SHA."""
        edits: tuple[FixEdit | TextEdit, ...] = (*fix.edits, *fix.texts)
        held = [branch.entries[edit.path] for edit in edits if edit.path in branch.entries]
        self.readings.prefetch(entry.sha for entry in held if entry.kind != "submodule")
        account = _Account()
        merged = fix.commit.sha in branch.commits
        # The heaviest edit gives the place; imports and other statements of the module come after definitions.
        for edit in sorted(edits, key=lambda edit: (edit.symbol == MODULE, -edit.weight)):
            self._book(edit, fix, branch, account, merged)
        return _verdict(account, merged)

    def _book(self, edit: FixEdit | TextEdit, fix: Fix, branch: Branch, account: _Account, merged: bool) -> None:
        if isinstance(edit, FixEdit):
            effect = self.effect(edit, branch)
        else:
            effect = self._texts.in_tree(edit, fix.commit.sha, branch.sha, branch.entries)
        blame: dict[Key, Culprit] = {}
        if effect.lost and merged and not effect.moved:
            blame = culprits(effect.lost, self._history(fix, branch, edit.path), self._lost_in(edit))
        if effect.line and (edit.before is not None or edit.after is None or effect.verdicts):
            account.homes += 1
        if isinstance(edit, FixEdit) and effect.line and effect.lost != effect.verdicts.keys():
            self._bury(edit, effect, branch, account)
        if (
            edit.weight >= _WHOLE_EDIT
            and blame.keys() == effect.verdicts.keys()
            and all(c.merge for c in blame.values())
        ):
            account.dropped += 1
        heaviest = account.place is None
        for key, verdict in effect.verdicts.items():
            weight = edit.weights[key]
            if key not in effect.lost:
                account.there += weight
                account.rewritten += weight if verdict.value == "equivalent" else 0
                account.moved += weight if verdict.value == "moved" or effect.moved else 0
                continue
            culprit = blame.get(key)
            back = key in effect.back
            # A later commit that wrote something else there went on with the code; only the old text undoes a fix.
            own = effect.moved or (culprit is not None and not culprit.merge)
            if merged and own and key not in effect.exact:
                account.superseded += weight
                if culprit is not None:
                    account.superseders[culprit.commit] = account.superseders.get(culprit.commit, 0.0) + weight
                continue
            if back:
                account.back += weight
            else:
                account.gone += weight
            if culprit is not None:
                account.by[culprit.commit] = account.by.get(culprit.commit, 0.0) + weight
                if culprit.merge:
                    account.merges.add(culprit.commit)
            if account.bad_place is None:
                account.bad_place = (effect.path, effect.line or self._owner_line(edit, branch), edit.symbol)
        if heaviest and effect.line:
            account.place, account.symbol = (effect.path, effect.line), edit.symbol

    def _bury(self, edit: FixEdit, effect: Effect, branch: Branch, account: _Account) -> None:
        """Book what is there and dead: arguments that a newer one of the same call overrides."""
        entry = branch.entries.get(effect.path)
        if entry is None or edit.after is None or not any("(" in s.tokens for s in edit.after.statements):
            return
        now = self.readings.definition(entry.sha, edit.key)
        if now is None or now.own == edit.after.own:
            return
        for passed in arguments_set(edit.before, edit.after, now):
            if any(overridden_by(passed, callee) for callee in self._callees(passed.callee, effect.path, branch)):
                account.dead += max(
                    (
                        weight
                        for (_, new), weight in edit.weights.items()
                        if new >= 0 and passed.argument in edit.after.statements[new].tokens
                    ),
                    default=0.0,
                )
                account.dead_place = account.dead_place or (effect.path, now.line + passed.line, edit.symbol)

    def _owner_line(self, edit: FixEdit | TextEdit, branch: Branch) -> int:
        """The line of the class that a missing method would stand in; 1 where there is none."""
        owner, entry = edit.symbol.rpartition(".")[0], branch.entries.get(edit.path)
        if not owner or entry is None or not isinstance(edit, FixEdit):
            return 1
        found = self.readings.definition(entry.sha, (owner, 0))
        return found.line if found is not None else 1

    def _callees(self, name: str, path: str, branch: Branch) -> list[Definition]:
        """Functions of the branch with this last name: those of the file, else those of the few files that have one."""
        places = [(path, branch.entries[path].sha)]
        found = [d for _, sha in places for d in self.readings.whole(sha).definitions.values() if d.last_name == name]
        if not found:
            away = self._named_in(name, branch)
            places = away if len(away) <= _FEW else []
            found = [d for _, b in places for d in self.readings.whole(b).definitions.values() if d.last_name == name]
        return found

    def effect(self, edit: FixEdit, branch: Branch) -> Effect:
        """What a branch has of one edit, wherever the definition stands there."""
        entry = branch.entries.get(edit.path)
        effect = effect_in(edit, entry.sha if entry else None, edit.path, self.readings)
        if not effect.lost:
            return effect
        if not effect.line:
            here = (edit.path, entry.sha) if entry else None
            found = effect_elsewhere(edit, here, self._defining(edit, branch), self.readings)
            effect = found if found is not None and len(found.lost) < len(effect.verdicts) else effect
        if effect.lost and entry is not None and not effect.moved and self._may_stand(edit, effect, entry.sha):
            effect = with_scattered(edit, effect, self.readings.whole(entry.sha))
        return effect

    def _may_stand(self, edit: FixEdit, effect: Effect, blob: str) -> bool:
        """Whether the longest word of some lost statement is in the file at all."""
        data = self.readings.data(blob) or b""
        made = edit.after.statements if edit.after else ()
        words = (max(made[new].tokens, key=len) for _, new in effect.lost if new >= 0)
        return any(word.isidentifier() and word.encode() in data for word in words)

    def _defining(self, edit: FixEdit, branch: Branch) -> list[tuple[str, str]]:
        """Files of the branch, other than the edit's own, that define something of the same last name."""
        name = edit.symbol.rsplit(".", 1)[-1]
        if edit.symbol == MODULE or re.fullmatch(r"__\w+__|forward|step|main", name):
            # Such a name stands in every other file; only the file that was renamed can be told, by its class.
            name = edit.symbol.rsplit(".", 2)[0] if "." in edit.symbol else ""
        found = [place for place in self._named_in(name, branch) if place[0] != edit.path] if name else []
        return found if len(found) <= _GREP_NAMES else []

    def _named_in(self, name: str, branch: Branch) -> list[tuple[str, str]]:
        """Python files of the branch that define something of this name: path and blob; tests are left out."""
        if branch.sha not in self._defined:
            places = [
                (path, entry.sha)
                for path, entry in branch.entries.items()
                if is_python(path) and entry.kind == "file" and not is_test(path)
            ]
            for blob, data in read_all(self.repository, (sha for _, sha in places if sha not in self._names)).items():
                self._names[blob] = {word.decode("utf-8", "replace") for word in DEFINED.findall(data or b"")}
            index: dict[str, list[tuple[str, str]]] = {}
            for path, blob in places:
                for word in self._names[blob]:
                    index.setdefault(word, []).append((path, blob))
            self._defined[branch.sha] = index
        return self._defined[branch.sha].get(name, [])

    def _history(self, fix: Fix, branch: Branch, path: str) -> FileHistory:
        key = (fix.commit.sha, branch.sha, path)
        if key not in self._histories:
            self._histories[key] = file_history(self.repository, fix.commit.sha, branch.sha, path)
        return self._histories[key]

    def _lost_in(self, edit: FixEdit | TextEdit) -> Callable[[str], frozenset[Key]]:
        """Which edited parts the version of a commit lacks.

        Of the many versions of a file between a fix and a tip few differ in the one definition that is asked about.
        """
        known: dict[str | None, frozenset[Key]] = {}

        def lost(commit: str) -> frozenset[Key]:
            if not isinstance(edit, FixEdit):
                return self._texts.in_version(edit, commit).lost
            now = self.readings.definition(f"{commit}:{edit.path}", edit.key)
            own = now.own if now is not None else None
            if own not in known:
                known[own] = effect_on(edit, now, edit.path).lost
            return known[own]

        return lost


def _verdict(account: _Account, merged: bool) -> Contained:
    share = account.share
    by = max(account.by, key=lambda commit: account.by[commit], default=None)
    by_merge = by in account.merges
    place, symbol = account.place, account.symbol
    if account.bad_place is not None and share < WHOLE:
        place, symbol = account.bad_place[:2], account.bad_place[2]
    if account.dead_place is not None and account.dead >= account.there / 2 and share > NOTHING:
        return Contained("dead", account.dead_place[:2], None, share, symbol=account.dead_place[2])
    if share >= WHOLE and account.dropped:
        return Contained("partly", account.bad_place[:2] if account.bad_place else place, by, share, by_merge, symbol)
    if share >= WHOLE:
        status = "present"
        if account.moved > account.total / 2:
            status = "moved"
        elif account.rewritten or account.superseded:
            status = "equivalent"
        superseder = max(account.superseders, key=lambda c: account.superseders[c], default=None)
        return Contained(status, place, superseder if status == "equivalent" else None, share, symbol=symbol)
    if share > NOTHING:
        return Contained("partly", place, by, share, by_merge, symbol)
    if merged:
        return Contained("reverted" if account.back else "missing", place, by, share, by_merge, symbol)
    return Contained("missing" if account.homes else "not-merged", place, None, share, symbol=symbol)


def best(answers: Iterable[Contained]) -> Contained:
    """The answer that says most: the one with the largest share."""
    return max(answers, key=lambda answer: answer.share)
