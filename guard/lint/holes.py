"""Holes of a rule that nothing gives a value: a typing error that would make the rule say nothing, or `$X`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from guard.lint.language import Clause, Condition, Rule, flat
from guard.lint.patterns import Pattern

_HOLE = re.compile(r"\$([A-Za-z_]\w*)")
_ALWAYS = frozenset({"_", "FUNCTION", "MATCH", "ARGUMENT", "IT"})


def unbound(rule: Rule) -> list[tuple[str, str]]:
    """Key and hole of each use of a hole to which nothing in its clause gives a value."""
    found: list[tuple[str, str]] = []
    anywhere: set[str] = set()
    for i, clause in enumerate(rule.match):
        there = _ALWAYS | set(_given(clause.pattern, clause.where))
        anywhere |= there
        inside = there | set(_given((), clause.require))
        found += [(f"match[{i}].{key}", hole) for key, hole in _used(clause) if hole not in inside]
        texts = {"message": clause.message or rule.message, "subject": clause.subject or ""}
        texts["at"] = f"${clause.at}" if clause.at else ""
        found += [(f"match[{i}].{key}", hole) for key, text in texts.items() for hole in _in(text) if hole not in there]
    if rule.fix is not None:
        value = rule.fix.argument.value if rule.fix.argument is not None else ""
        parts = (("of", f"${rule.fix.of or '_'}"), ("replace", rule.fix.replace or ""), ("argument.value", value))
        known = anywhere | {"VALUE"}
        found += [(f"fix.{key}", hole) for key, text in parts for hole in _in(text) if hole not in known]
    return found


def _in(text: str) -> list[str]:
    return list(dict.fromkeys(_HOLE.findall(text)))


def _given(patterns: Sequence[Pattern], conditions: tuple[Condition, ...]) -> Iterator[str]:
    """Holes that a match gives a value; inside `not` nothing is kept."""
    for pattern in patterns:
        yield from _in(pattern.text)
    for condition in conditions:
        if condition.not_:
            continue
        yield from (hole for pattern in _patterns(condition) for hole in _in(pattern.text))
        if condition.value is not None and condition.value.bind:
            yield condition.value.bind
        if condition.unreferenced is not None:
            yield condition.unreferenced.bind
        yield from _given((), (*condition.any_, *condition.all_))


def _patterns(condition: Condition) -> Iterator[Pattern]:
    value, under, has = condition.value, condition.under, condition.has
    yield from (*condition.before, *condition.after, *condition.earlier)
    if value is not None:
        yield from (*value.is_, *value.factor, *value.divisor, *value.contains, *value.through)
    if under is not None:
        yield from (*under.if_, *under.with_, *under.for_, *under.while_)
    if has is not None:
        yield from has.pattern
    for later in (condition.then, condition.reaches):
        if later is not None:
            yield from later.pattern


def _used(clause: Clause) -> Iterator[tuple[str, str]]:
    """Holes that conditions ask about by name."""
    for condition in flat((*clause.where, *clause.require)):
        if condition.value is not None and condition.value.of:
            yield "value.of", condition.value.of
        if condition.named is not None:
            yield "named.of", condition.named.of
        if condition.parameter is not None:
            yield "parameter", condition.parameter
        if condition.defined is not None:
            yield "defined.attribute", condition.defined.attribute
        for key, later in (("then.keeps", condition.then), ("reaches.keeps", condition.reaches)):
            if later is not None:
                yield key, later.keeps
