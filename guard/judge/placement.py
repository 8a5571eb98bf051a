"""Where a statement stands: in which block, and before or after what it depends on.

Merged may have a statement's text and not its effect: back inside the loop that a side had taken it out of, in the
branch that the other side made, behind the call that it had to precede.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from guard.documents.statements import Statement
from guard.judge.correspondence import Alignment, Statements, pairs_of

_NAME = re.compile(r"[A-Za-z_]\w*$")
_PASSIVE = frozenset({"print", "log", "debug", "info", "warning", "warn", "error", "log_rank_0", "print_rank_0"})


def block_lost(forms: Alignment, j: int, k: int, partners: dict[int, int]) -> str:
    """The block that keeps statement `j` of the side from acting as the side has it, where merged has it as `k`.

    Arguments:
        partners: which statement of the base became which of the side, beyond those that are equal.

    Returns:
        Where it stands, in words; or nothing.
    """
    i = forms.side_base[j]
    if i < 0:
        i = next((old for old, new in partners.items() if new == j), -1)
    if i >= 0 and forms.base_other[i] < 0 and i not in forms.became:
        return ""
    after = {n: _in_base(forms, n, partners) for n in enclosing(forms.side, j)}
    around = set(enclosing(forms.merged, k))
    if i >= 0:
        before = set(enclosing(forms.base, i))
        for header in before - set(after.values()):
            in_side = forms.base_side[header] if forms.base_side[header] >= 0 else partners.get(header, -1)
            if in_side >= 0 and forms.base_merged[header] in around:
                return f"inside `{forms.base[header].text}`"
    else:
        before = set()
    for header, known in after.items():
        if known >= 0 and known in before:
            continue
        place = _in_merged(forms, header, known)
        if place >= 0 and place not in around:
            return f"outside `{forms.side[header].text}`"
    if i < 0 and not after:
        return next((f"inside `{forms.merged[n].text}`" for n in around if forms.merged_side[n] >= 0), "")
    return ""


def order_lost(forms: Alignment, j: int, k: int) -> str:
    """The statement that an added one must precede or follow as the side has it, and does not in merged; or nothing.

    Asked only of statements of the base that all have, in the same block, and only where one of the two reads or sets
    what the other one sets, or where both are calls.
    """
    for n, statement in enumerate(forms.side):
        i, place = forms.side_base[n], forms.side_merged[n]
        if n == j or i < 0 or place < 0 or forms.base_merged[i] != place or forms.base_other[i] < 0:
            continue
        if statement.parent != forms.side[j].parent or forms.merged[place].parent != forms.merged[k].parent:
            continue
        if (n < j) != (place < k) and depend(statement, forms.side[j]):
            return statement.text
    return ""


def depend(one: Statement, other: Statement) -> bool:
    """Whether the order of two statements may matter: one sets what the other names, or both are calls."""
    if one.kind not in ("statement", "header") or other.kind not in ("statement", "header"):
        return False
    first, second = set_by(one.tokens), set_by(other.tokens)
    if overlap(first, second | names_in(other.tokens)) or overlap(second, names_in(one.tokens)):
        return True
    return acts(one) and acts(other)


def enclosing(form: Statements, index: int) -> Iterator[int]:
    """The headers of the blocks around a statement, from the inside out."""
    parent = form[index].parent
    while parent >= 0:
        yield parent
        parent = form[parent].parent


def partners_of(forms: Alignment) -> dict[int, int]:
    """Which statement of the base became which of the side, where both differ but are alike."""
    return pairs_of(forms.base, forms.side, forms.base_side)


def _in_base(forms: Alignment, header: int, partners: dict[int, int]) -> int:
    known = forms.side_base[header]
    return known if known >= 0 else next((old for old, new in partners.items() if new == header), -1)


def _in_merged(forms: Alignment, header: int, known: int) -> int:
    """The header of merged that a header of the side is, where that is no guess."""
    place = forms.side_merged[header]
    if known >= 0:
        return place if place == forms.base_merged[known] else -1
    return place


def set_by(tokens: Sequence[str]) -> set[str]:
    """The names and attributes that a statement assigns."""
    depth, found, start = 0, set(), 0
    for index, token in enumerate(tokens):
        if token in ("(", "[", "{"):
            depth += 1
        elif token in (")", "]", "}"):
            depth -= 1
        elif depth == 0 and (token == "=" or (token.endswith("=") and token not in ("==", "!=", "<=", ">="))):
            found |= names_in(tokens[start:index])
            start = index + 1
    return found


def names_in(tokens: Sequence[str]) -> set[str]:
    """The dotted names in a run of tokens, without what is called."""
    found: set[str] = set()
    path: list[str] = []
    for index, token in enumerate([*tokens, ""]):
        follows = index > 0 and tokens[index - 1] == "."
        if _NAME.match(token) and (not path or follows):
            path.append(token)
        elif token != "." or not path:
            if path and token != "(":
                found.add(".".join(path))
            elif len(path) > 1:
                found.add(".".join(path[:-1]))
            path = [token] if _NAME.match(token) else []
    return found


def overlap(one: set[str], other: set[str]) -> bool:
    """Whether a name of one set is one of the other, or an attribute of one."""
    return any(a == b or a.startswith(b + ".") or b.startswith(a + ".") for a in one for b in other)


def acts(statement: Statement) -> bool:
    """Whether a statement is a call for its effect, and not for what it prints."""
    tokens = statement.tokens
    if "(" not in tokens or statement.kind != "statement":
        return False
    head = tokens[: tokens.index("(")]
    if not head:  # `(a, b) = pair(x)`, or a call of what stands in brackets
        return False
    plain = all(token == "." or _NAME.match(token) for token in head)
    return plain and head[0] not in ("return", "raise", "assert", "del", "import", "from") and head[-1] not in _PASSIVE
