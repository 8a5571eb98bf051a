"""A removal that is back in the other side's spelling: `kind=kind` went, and `"kind": kind` came with its rewrite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from guard.documents.statements import Statement
from guard.judge.correspondence import Alignment
from guard.judge.outcomes import EditOutcome
from guard.model import Verdict


def back_in_other_words(forms: Alignment, outcome: EditOutcome) -> EditOutcome:
    """The outcome of an edit that took arguments or entries out, revived where the other side's text brings them back.

    A keyword argument and the entry of a dictionary under the same name are two spellings of one thing.
    """
    if outcome.old < 0 or outcome.verdict.is_loss:
        return outcome
    after = _named([forms.side[outcome.new]]) if outcome.new >= 0 else Counter[str]()
    before = forms.base[outcome.old]
    taken_out = _named([before]) - after
    left = _named(forms.side) if taken_out else Counter[str]()
    for name in taken_out:
        spelled = _named(forms.merged)[name] - left[name]
        if spelled <= 0 or _named(forms.other)[name] < _named(forms.base)[name]:
            continue
        other_way = repr(name) not in before.tokens  # as an argument there, so as an entry here; or the other way round
        places = (k for k, s in enumerate(forms.merged) if k in forms.fresh_of_other and _named([s])[name])
        place = next((k for k in places if (repr(name) in forms.merged[k].tokens) is other_way), -1)
        if place >= 0:
            statement = forms.merged[place]
            row = next((r for t, r in zip(statement.tokens, statement.rows, strict=True) if t == repr(name)), 0)
            back = (f"{name}={name}" if repr(name) not in statement.tokens else f"'{name}': …",)
            touched = (name,)
            return EditOutcome(
                Verdict.REVIVED, outcome.old, outcome.new, place, (), back, touched, row, because="respelled"
            )
    return outcome


def _named(statements: Iterable[Statement]) -> Counter[str]:
    """The names of keyword arguments and of a dictionary's entries, by count."""
    found: Counter[str] = Counter()
    for statement in statements:
        words = statement.tokens
        for index in range(1, len(words) - 1):
            if words[index - 1] not in ("(", ",", "{"):
                continue
            if words[index + 1] == "=" and words[index].isidentifier():
                found[words[index]] += 1
            elif words[index + 1] == ":" and words[index][:1] in "'\"":
                found[words[index][1:-1]] += 1
    return found
