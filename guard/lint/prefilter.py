"""Which files a rule can match at all, told from their bytes: every match must hold these words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from guard.lint.language import Clause, Condition, Rule
from guard.lint.patterns import Pattern

# A list of alternatives: a file passes where, for every set, one of its words occurs.
Words = tuple[frozenset[bytes], ...]


def clause_words(clause: Clause) -> list[Words]:
    """Ways in which a file can hold what the clause needs; any one is enough."""
    if clause.call:
        heads: list[Words] = [(frozenset(_bytes(spec.rpartition(".")[2] for spec in clause.call)),)]
    else:
        heads = [tuple(frozenset([word]) for word in _bytes(pattern.literals)) for pattern in clause.pattern]
    extra = [words for condition in clause.where if (words := _condition(condition)) is not None]
    if clause.words:
        extra.append(frozenset(_bytes(clause.words)))
    return [(*head, *extra) for head in heads]


def _condition(condition: Condition) -> frozenset[bytes] | None:
    """Words of which a file must hold one for a condition to hold; None where nothing can be said."""
    for patterns in (condition.before, condition.after):
        if patterns:
            return _one_of(patterns)
    for then in (condition.then, condition.reaches):
        if then is not None:
            return _one_of(then.pattern)
    if condition.has is not None and condition.has.in_ != "tree":
        return _one_of(condition.has.pattern)
    if condition.under is not None:
        return _one_of(condition.under.if_ or condition.under.with_ or condition.under.for_)
    if condition.value is not None and condition.value.missing == "fails":
        test = condition.value
        return _one_of(test.contains or test.is_ or test.factor or test.divisor or test.through)
    if condition.held:
        return frozenset(_bytes(condition.held))
    if condition.any_:
        parts = [_condition(option) for option in condition.any_]
        known = [part for part in parts if part is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None
    return None


def _one_of(patterns: tuple[Pattern, ...]) -> frozenset[bytes] | None:
    """The rarest word of each pattern; None where a pattern has none."""
    words = [max(pattern.literals, key=len, default="") for pattern in patterns]
    return frozenset(_bytes(words)) if words and all(words) else None


def _bytes(words: Iterable[str]) -> list[bytes]:
    return [word.encode() for word in words]


@dataclass(frozen=True, slots=True)
class _Way:
    """One way in which a file can hold what a clause needs."""

    words: Words
    text: re.Pattern[bytes] | None


class Prefilter:
    """Decides from bytes which rules to try on a file."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._ways: list[tuple[Rule, list[_Way]]] = []
        for rule in rules:
            ways = []
            for clause in rule.match:
                text = re.compile(clause.text.encode()) if clause.text is not None else None
                ways += [_Way(words, text) for words in clause_words(clause)]
            self._ways.append((rule, ways))

    def rules(self, data: bytes) -> list[Rule]:
        """Rules whose words and text the bytes hold."""
        known: dict[bytes, bool] = {}
        # Expressions over lines are written for newlines; other line ends are rare enough to be let through.
        unusual = b"\r" in data

        def held(word: bytes) -> bool:
            if word not in known:
                known[word] = word in data
            return known[word]

        def passes(way: _Way) -> bool:
            if not all(any(map(held, choice)) for choice in way.words):
                return False
            return way.text is None or unusual or way.text.search(data) is not None

        return [rule for rule, ways in self._ways if any(map(passes, ways))]
