"""The commits of some branches by pull request, subject and cherry-pick trailer: read in one pass over their log."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from guard.errors import GitError
from guard.git import Commit, Repository
from guard.provenance.blame import pull_request

_MENTION = re.compile(r"#(\d+)\b")
_PICKED = re.compile(r"\(cherry[- ]picked from commit ([0-9a-f]{7,64})\)|^cherry-picked-from:\s*([0-9a-f]{7,64})",
                     re.IGNORECASE | re.MULTILINE)  # fmt: skip
_PICK_WORDS = re.compile(r"\bcherry[- ]?pick|\bback ?port|\bforward ?port|^cp:|\bport(ed)? (of|from)\b|\[cp\]",
                         re.IGNORECASE)  # fmt: skip
_REVERTS = re.compile(r"^\s*(\[[^\]]*\]\s*)*revert\b", re.IGNORECASE)
_DECORATION = re.compile(
    r"^\s*(\[[^\]]*\]\s*|cp:\s*|cherry[- ]?pick(ed)?:?\s*)+|\s*\([^()]*#\d+[^()]*\)\s*|\s*\(#\d+\)", re.IGNORECASE
)
_SHORTEST_SUBJECT = 15  # characters; a shorter subject ("Fix CI") says nothing about which change it is


def plain_subject(subject: str) -> str:
    """A subject without branch marks, pull-request numbers and case: what a cherry-pick keeps of it."""
    previous = None
    while previous != subject:
        previous, subject = subject, _DECORATION.sub(" ", subject).strip()
    return " ".join(subject.lower().split())


@dataclass(slots=True)
class Landings:
    """Commits by what they say they are.

    Attributes:
        commits: by SHA, newest first.
    """

    commits: dict[str, Commit] = field(default_factory=dict)
    _by_pull: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    _picks_of_pull: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    _picks_of_commit: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _by_subject: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def with_pull(self, number: int) -> list[Commit]:
        """Commits whose own pull request this is, newest first; merges after the commits that they brought."""
        found = [self.commits[sha] for sha in self._by_pull.get(number, ())]
        return sorted(found, key=lambda commit: len(commit.parents) > 1)

    def twins(self, commit: Commit) -> list[Commit]:
        """Other commits that are the same work: cherry-picks in either direction, and equal pull requests.

        They are told by the trailer of `git cherry-pick -x`, by the pull request's number, by a message that says it
        picks that number, and by an equal subject (marks and numbers aside).
        """
        found: dict[str, None] = {}
        number = pull_request(commit.message)
        for match in _PICKED.finditer(commit.message):
            found.update(dict.fromkeys(self._starting(match.group(1) or match.group(2))))
        found.update(dict.fromkeys(self._picks_of_commit.get(commit.sha[:7], ())))
        if number is not None:
            found.update(dict.fromkeys(self._by_pull.get(number, ())))
            found.update(dict.fromkeys(self._picks_of_pull.get(number, ())))
        if _PICK_WORDS.search(commit.message):
            for mention in map(int, _MENTION.findall(commit.message)):
                if mention != number:
                    found.update(dict.fromkeys(self._by_pull.get(mention, ())))
        subject = plain_subject(commit.subject)
        if len(subject) >= _SHORTEST_SUBJECT:
            found.update(dict.fromkeys(self._by_subject.get(subject, ())))
        found.pop(commit.sha, None)
        return [twin for sha in found if not _REVERTS.match((twin := self.commits[sha]).subject)]

    def _starting(self, prefix: str) -> Iterable[str]:
        if prefix in self.commits:
            return [prefix]
        return [sha for sha in self.commits if sha.startswith(prefix)]

    def add(self, commit: Commit) -> None:
        """Take a commit in."""
        if commit.sha in self.commits:
            return
        self.commits[commit.sha] = commit
        number = pull_request(commit.message)
        if number is not None:
            self._by_pull[number].append(commit.sha)
        if len(commit.parents) < 2:
            self._by_subject[plain_subject(commit.subject)].append(commit.sha)
        for match in _PICKED.finditer(commit.message):
            self._picks_of_commit[(match.group(1) or match.group(2))[:7]].append(commit.sha)
        if _PICK_WORDS.search(commit.message):
            for mention in map(int, _MENTION.findall(commit.message)):
                if mention != number:
                    self._picks_of_pull[mention].append(commit.sha)


def read_landings(repository: Repository, tips: Sequence[str], but: Sequence[str] = ()) -> Landings:
    """All commits of some branches.

    Arguments:
        tips: full SHAs.
        but: full SHAs whose history is left out.
    """
    landings = Landings()
    for commit in repository.commits([*tips, *(f"^{sha}" for sha in but)]):
        landings.add(commit)
    return landings


def history_of(repository: Repository, tip: str) -> frozenset[str]:
    """All commits that a tip contains."""
    return frozenset(repository.git("rev-list", tip).decode("ascii").split())


def named(repository: Repository, landings: Landings, text: str) -> list[Commit]:
    """The commits that a user means by a SHA, a ref, or `#N` for a pull request; best first.

    Raises:
        GitError: nothing is known under that name.
    """
    if re.fullmatch(r"#\d+", text):
        found = landings.with_pull(int(text[1:]))
        if not found:
            raise GitError(
                f"no commit on the branches at hand names the pull request {text} in its subject or trailers; "
                "give the commit itself"
            )
        return found
    return [repository.commit(repository.resolve(text))]
