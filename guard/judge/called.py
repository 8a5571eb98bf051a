"""Statements that a definition has no more and that still run there: a helper that it calls in merged has them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from guard.documents.definitions import Definition, SourceFile
from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.changes import LostEdit
from guard.judge.correspondence import ALIKE
from guard.judge.doubts import RUN_BY_A_HELPER, doubted
from guard.judge.outcomes import EditOutcome
from guard.model import Verdict

MOST_OF_THEM = 0.5  # of the lost statements of one run; from here on the helper is another form of the whole run
_NAME = re.compile(r"[A-Za-z_]\w*$")


def run_by_a_helper(
    lost: Sequence[EditOutcome],
    pieces: Sequence[LostEdit],
    side: Sequence[Statement],
    now: Definition,
    merged: SourceFile,
) -> tuple[LostEdit, ...]:
    """The pieces of one run of statements, those in doubt that a helper of merged runs in their place.

    They stay losses: an identical statement elsewhere proves nothing. But nobody can be sure of them either.

    Arguments:
        lost, pieces: the fates and their pieces, in the same order.
        side: the statements of the definition as the side has it.
        now, merged: the definition in merged, and its file.
    """
    whole = [fate.verdict is Verdict.LOST and fate.new >= 0 for fate in lost]
    if not any(whole):
        return tuple(pieces)
    called = _calls(now.statements)
    texts = {statement.text for helper in _named(called, now, merged) for statement in helper.statements}
    there = [is_whole and side[fate.new].text in texts for fate, is_whole in zip(lost, whole, strict=True)]
    # A helper that the side itself does not call may be the same run under other local names.
    instead = [s for helper in _named(called - _calls(side), now, merged) for s in helper.statements]
    telling = [
        here or (is_whole and _has_alike(instead, side[fate.new]))
        for fate, is_whole, here in zip(lost, whole, there, strict=True)
        if fate.new >= 0 and len(side[fate.new].tokens) > 1
    ]
    if telling and sum(telling) >= MOST_OF_THEM * len(telling):
        there = whole
    return tuple(doubted(p, RUN_BY_A_HELPER) if here else p for p, here in zip(pieces, there, strict=True))


def _calls(statements: Iterable[Statement]) -> set[str]:
    """The names that statements call, without what stands before the last dot."""
    return {
        token
        for statement in statements
        for token, after in zip(statement.tokens, statement.tokens[1:], strict=False)
        if after == "(" and _NAME.match(token)
    }


def _named(names: Container[str], now: Definition, merged: SourceFile) -> Iterator[Definition]:
    """The functions of merged's file that have one of these names."""
    for definition in merged.definitions.values():
        if definition.last_name in names and definition.key != now.key and definition.kind != "class":
            yield definition


def _has_alike(statements: Iterable[Statement], wanted: Statement) -> bool:
    """Whether one of them is of the same kind and has half of the names, values and operators."""
    return any(s.kind == wanted.kind and tokens.similarity(s, wanted) >= ALIKE for s in statements)
