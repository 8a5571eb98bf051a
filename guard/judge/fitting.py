"""A side's statements that merged has in another form, because someone fitted them to what the other side had made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.changes import LostEdit
from guard.judge.correspondence import Alignment, head
from guard.judge.doubts import NAMES_REPLACED, SAME_TARGET, doubted
from guard.judge.outcomes import EditOutcome
from guard.model import Verdict

_NAME = re.compile(r"[A-Za-z_]\w*$")


def with_doubt(
    forms: Alignment, lost: Sequence[EditOutcome], pieces: Sequence[LostEdit], base: Counter[str], other: Counter[str]
) -> tuple[LostEdit, ...]:
    """The lost pieces of a definition that the base does not have, those in doubt that merged words anew.

    Both sides may have written the definition: then merged may assign the same name in the other side's way. Or the
    other side took names out of the whole file and put others in: then merged may have these in place of those.

    Arguments:
        lost, pieces: the fates and their pieces, in the same order.
        base, other: the tokens of the base's and the other side's file, by count.
    """
    theirs = {forms.merged[k].line: forms.merged[k] for k in forms.other_merged if k >= 0 and forms.merged_side[k] < 0}
    targets = {target for statement in theirs.values() if (target := _target(statement))}
    have = Counter(token for statement in forms.merged for token in statement.tokens)
    want = Counter(token for statement in forms.side for token in statement.tokens)
    fresh = {token for token in have if have[token] > want[token] and _NAME.match(token)}
    renamed = bool(fresh) and all(other[token] > base[token] for token in fresh)
    found = []
    for fate, piece in zip(lost, pieces, strict=True):
        same = fate.verdict is Verdict.LOST and fate.new >= 0 and _target(forms.side[fate.new]) in targets
        names = {token for token in piece.words if _NAME.match(token)}
        replaced = renamed and bool(names) and all(other[token] < base[token] for token in names)
        doubts = ((SAME_TARGET, same), (NAMES_REPLACED, replaced))
        found.append(doubted(piece, *(doubt for doubt, holds in doubts if holds)))
    return tuple(found)


def _target(statement: Statement) -> tuple[str, ...]:
    """What a plain statement assigns; empty if it is no assignment."""
    if statement.kind != "statement" or "=" not in statement.tokens:
        return ()
    target = head(statement)
    return target if statement.tokens[len(target)] == "=" and tokens.content(target) else ()
