"""Which rules can find something in a file, told from its path and bytes: where they apply, which words they need."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from guard.documents.decoding import decode
from guard.errors import NotAnalysedError
from guard.lint.language import Clause, Condition, Place, Rule
from guard.lint.patterns import Pattern
from guard.lint.python_rules import CodeRule
from guard.lint.texts import TextTest

# Ways in which a file can meet one need; in each of them it holds all these words.
Need = tuple[frozenset[bytes], ...]

_BLANKS = bytes(c if chr(c).isalnum() or chr(c) == "_" or c >= 0x80 else 0x20 for c in range(256))


def plain(data: bytes) -> bytes:
    """A file as rules are written for it: UTF-8, newlines as line ends, no byte order mark.

    What cannot be decoded stays as it is: whoever looks at it says why.
    """
    if data.isascii() and b"\r" not in data:
        return data
    try:
        return decode(data).text.encode()
    except (NotAnalysedError, UnicodeEncodeError):
        return data


def words_of(data: bytes) -> frozenset[bytes]:
    """Every word of a plain file: identifiers, keywords and numbers, those in strings and comments too.

    A name stands as written, and as Python reads it (PEP 3131).
    """
    words = data.translate(_BLANKS).split()
    if data.isascii():
        return frozenset(words)
    read = unicodedata.normalize("NFKC", data.decode("utf-8", "replace")).encode()
    return frozenset(words + read.translate(_BLANKS).split())


def clause_needs(clause: Clause) -> list[Need]:
    """What a file must hold for the clause to match in it: every one of these needs has to be met."""
    if clause.call:
        head: Need = tuple(_words([spec.rpartition(".")[2]]) for spec in clause.call)
    else:
        head = tuple(_words(pattern.literals) for pattern in clause.pattern)
    return [need for need in (head, *_all(clause.where)) if all(need)]


def _all(conditions: Iterable[Condition]) -> list[Need]:
    return [need for condition in conditions for need in _needs(condition)]


def _needs(condition: Condition) -> list[Need]:
    """What must be there for a condition to hold; nothing where that cannot be told from words."""
    if condition.all_:
        return _all(condition.all_)
    if condition.any_:
        # One need of each option will do, so the first that it has speaks for it.
        options = [_needs(option)[:1] for option in condition.any_]
        return [tuple(way for option in options for way in option[0])] if all(options) else []
    if condition.held:
        return [tuple(_words(name.split(".")) for name in condition.held)]
    if condition.value is not None:
        test = condition.value
        parts = (test.is_, test.factor, test.divisor, test.contains, test.through) if test.missing == "fails" else ()
        return [need for patterns in parts for need in _one_of(patterns)]
    patterns = condition.before or condition.after or condition.earlier
    for then in (condition.then, condition.reaches):
        patterns = patterns or (then.pattern if then is not None else ())
    if condition.has is not None and condition.has.in_ != "tree":
        patterns = condition.has.pattern
    if condition.under is not None:
        patterns = (*condition.under.if_, *condition.under.with_, *condition.under.for_)
    return _one_of(patterns)


def _one_of(patterns: Sequence[Pattern]) -> list[Need]:
    """The need for one of the patterns; none where one of them has no word of its own."""
    if not patterns or not all(pattern.literals for pattern in patterns):
        return []
    return [tuple(_words(pattern.literals) for pattern in patterns)]


def _words(words: Iterable[str]) -> frozenset[bytes]:
    return frozenset(word.encode() for word in words)


@dataclass(frozen=True, slots=True)
class _Test:
    """What a file must be like for one clause to be tried on it."""

    clause: Clause
    places: tuple[Place, ...]
    needs: tuple[Need, ...]
    inside: tuple[bytes, ...]
    text: TextTest | None

    @classmethod
    def of(cls, rule: Rule, clause: Clause) -> _Test:
        return cls(
            clause,
            tuple(place for place in (rule.in_, clause.in_) if place is not None),
            tuple(clause_needs(clause)),
            tuple(word.encode() for word in clause.words),
            TextTest.of(clause.text) if clause.text is not None else None,
        )


class Prefilter:
    """Decides from path and bytes which rules to try on a file, and which of their clauses."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        chosen = list(rules)
        self._tests = [(rule, [_Test.of(rule, clause) for clause in rule.match]) for rule in chosen]
        self._code = [rule for rule in chosen if isinstance(rule, CodeRule)]

    def clauses(self, data: bytes, path: str | None = None) -> list[tuple[Rule, list[Clause]]]:
        """Rules that can find something, each with those of its clauses that can; one in Python has none.

        Args:
            data: the file.
            path: its path inside the tree; None where it does not matter for which places a rule is.
        """
        file = _File(data, path)
        chosen = [(rule, [test.clause for test in tests if file.passes(test)]) for rule, tests in self._tests]
        code: list[tuple[Rule, list[Clause]]] = [(rule, []) for rule in self._code if file.passes_code(rule)]
        return [(rule, clauses) for rule, clauses in chosen if clauses] + code

    def rules(self, data: bytes, path: str | None = None) -> list[Rule]:
        """Rules that can find something."""
        return [rule for rule, _ in self.clauses(data, path)]


class _File:
    """One file while its rules are chosen. What it was asked once it remembers: rules ask much the same."""

    def __init__(self, data: bytes, path: str | None) -> None:
        self.data = plain(data)
        self.path = path
        self._places: dict[Place, bool] = {}
        self._texts: dict[TextTest, bool] = {}

    @cached_property
    def _words(self) -> frozenset[bytes]:
        return words_of(self.data)

    def passes(self, test: _Test) -> bool:
        """Whether a clause can match here; what costs least is asked first."""
        return (
            all(map(self._is_in, test.places))
            and all(map(self._meets, test.needs))
            and (not test.inside or any(word in self.data for word in test.inside))
            and (test.text is None or self._says(test.text))
        )

    def passes_code(self, rule: CodeRule) -> bool:
        """Whether a rule in Python can find something here."""
        return (
            (rule.in_ is None or self._is_in(rule.in_))
            and all(any(word in self.data for word in group) for group in rule.words)
            and (
                rule.visitor.text is None or re.search(rule.visitor.text.encode(), self.data, re.MULTILINE) is not None
            )
        )

    def _is_in(self, place: Place) -> bool:
        if place not in self._places:
            self._places[place] = self.path is None or place.takes(self.path)
        return self._places[place]

    def _meets(self, need: Need) -> bool:
        return any(map(self._words.issuperset, need))

    def _says(self, text: TextTest) -> bool:
        if text not in self._texts:
            self._texts[text] = text.found(self.data)
        return self._texts[text]
