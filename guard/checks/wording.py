"""The sentence of a finding about changes: what is missing or back, whose it was, what that does."""

from __future__ import annotations

from collections.abc import Sequence

from guard.documents.unread import as_written
from guard.judge.changes import JudgedChange
from guard.model import Verdict

MOST_SHOWN = 3  # statements or runs of tokens that a message spells out


def message_of(group: Sequence[JudgedChange], verdict: Verdict, tests_there: Sequence[str] = ()) -> str:
    """One sentence for changes of one side to one definition.

    Arguments:
        tests_there: tests of the commit that still stand in merged.
    """
    first = group[0]
    whose = "ours'" if first.side.value == "ours" else "theirs'"
    placed = [(text, piece.where) for c in group for piece in c.pieces if piece.where for text in piece.missing]
    missing = [text for change in group for piece in change.pieces if not piece.where for text in piece.missing]
    back = [text for change in group for piece in change.pieces for text in piece.back]
    parts = []
    if verdict is Verdict.TWICE:
        return f"{_listed(back)} are both in merged, of which each side has one: it is done twice"
    if verdict is Verdict.DEAD and not missing and not back:
        parts.append(f"{whose} change of `{first.subject}` is there and does nothing: {first.reason}")
    for where in dict.fromkeys(where for _, where in placed):
        parts.append(f"{whose} {_listed([text for text, known in placed if known == where])} {where} in merged")
    if missing:
        count = "is" if len(missing) == 1 else "are"
        parts.append(f"{whose} {_listed(missing)} {count} not in merged")
    if back:
        count = "is" if len(back) == 1 else "are"
        end = "back" if missing else "back in merged"
        parts.append(f"{_listed(back)}, which {first.side.value} had removed, {count} {end}")
    if verdict is Verdict.REVIVED:
        parts.reverse()
    if first.reason and parts and (missing or back):
        parts.append(first.reason)
    if first.elsewhere not in ("", first.source.path) and missing:
        parts.append(f"{first.elsewhere} has something like it")
    text = "; ".join(parts)
    if first.origins:
        origin = first.origins[0]
        text += f" ({f'#{origin.pr}' if origin.pr else origin.commit[:10]})"
    if tests_there and missing:
        text += f"; its test {tests_there[0]} is still there"
    return text


def _listed(texts: Sequence[str]) -> str:
    told = ", ".join(f"`{_short(text)}`" for text in texts[:MOST_SHOWN])
    return told if len(texts) <= MOST_SHOWN else f"{told} and {len(texts) - MOST_SHOWN} more"


def _short(text: str) -> str:
    text = as_written(text)
    return text if len(text) <= 80 else text[:77] + "…"
