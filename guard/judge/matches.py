"""Where an edit that merged has in no obvious form may stand all the same: every such reading, by name, in one list.

The judge of statements compares tokens. What it calls lost is looked at once more here; the first reading that holds
says what became of the edit, and its name is the `because` that `guard explain` prints.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.correspondence import Alignment, Statements
from guard.judge.normal_form import equivalent, negation, normal_tree
from guard.judge.outcomes import EditOutcome
from guard.judge.registry import Heuristic, is_on
from guard.model import Verdict

_NAME = re.compile(r"[A-Za-z_]\w*$")
_LEAVES = frozenset({"return", "raise", "continue", "break"})
_SPEAKS = frozenset({
    "print", "log", "debug", "info", "warning", "warn", "error", "critical", "exception", "log_rank_0",
    "log_single_rank", "print_rank_0", "warn_once", "info_once", "warning_once", "raise", "assert", "fail", "skip",
})  # fmt: skip
Holds = Callable[[Alignment, EditOutcome], bool]


@dataclass(frozen=True, slots=True)
class Match:
    """A reading of a lost edit.

    Attributes:
        verdict: what became of the edit where the reading holds.
        holds: whether it does.
    """

    heuristic: Heuristic
    verdict: Verdict
    holds: Holds


def looked_at_again(forms: Alignment, outcome: EditOutcome) -> EditOutcome:
    """The outcome of an edit, or what the first reading that holds makes of it."""
    if not outcome.verdict.is_loss or outcome.where or outcome.new < 0:
        return outcome
    for match in MATCHES:
        if is_on(match.heuristic) and match.holds(forms, outcome):
            name = match.heuristic.name
            return EditOutcome(match.verdict, outcome.old, outcome.new, outcome.merged, because=name)
    return outcome


def _same_effect(forms: Alignment, outcome: EditOutcome) -> bool:
    side = forms.side[outcome.new]
    if outcome.merged >= 0:
        return equivalent(side, forms.merged[outcome.merged])
    return any(equivalent(side, forms.merged[k]) for k in forms.fresh if forms.merged[k].kind == side.kind)


def _alias(forms: Alignment, outcome: EditOutcome) -> bool:
    if outcome.merged < 0:
        return False
    side, merged = forms.side[outcome.new], forms.merged[outcome.merged]
    known = {**_aliases(forms.side), **_aliases(forms.merged)}
    if not known:
        return False
    want, have = Counter(_expanded(side, known)), Counter(_expanded(merged, known))
    lost = Counter(outcome.touched)
    return bool(lost) and not (want - have) and not ((have - want) & lost)


def _early_exit(forms: Alignment, outcome: EditOutcome) -> bool:
    opposite = _opposite(forms.side[outcome.new])
    if opposite is None:
        return False
    return any(
        statement.kind == "header" and _test(statement) == opposite and _leaves(forms.merged, k)
        for k, statement in enumerate(forms.merged)
    )


def _folded_guard(forms: Alignment, outcome: EditOutcome) -> bool:
    opposite = _opposite(forms.side[outcome.new])
    if opposite is None:
        return False
    asserted = (s for s in forms.merged if s.kind == "statement" and s.tokens[0] == "assert" and "or" in s.tokens)
    return any(opposite in _alternatives(statement) for statement in asserted)


def _names_taken_out(forms: Alignment, outcome: EditOutcome) -> bool:
    names = {token for token in outcome.touched if _NAME.match(token)}
    if not names or outcome.merged < 0 or outcome.back:
        return False
    before, other, merged = (_free_names(form) for form in (forms.base, forms.other, forms.merged))
    gone = before - other - merged
    touched = set(outcome.touched) - {"."}
    return all(token in gone or not tokens.is_content(token) for token in touched) and bool(names & gone)


def _reworded(forms: Alignment, outcome: EditOutcome) -> bool:
    words = [token for token in outcome.touched if tokens.is_content(token)]
    if not words or outcome.merged < 0 or not all(token[:1] in "'\"" or token == 'f"' for token in words):
        return False
    side, merged = forms.side[outcome.new], forms.merged[outcome.merged]
    return bool(_SPEAKS & set(side.tokens[: side.tokens.index("(")] if "(" in side.tokens else side.tokens[:1])) and (
        side.tokens[0] == merged.tokens[0]
    )


MATCHES: tuple[Match, ...] = (
    Match(
        Heuristic("same-effect", "merged says the same in other words: `not x` for `x == False`, `dict` for `Dict`"),
        Verdict.EQUIVALENT,
        _same_effect,
    ),
    Match(
        Heuristic("alias", "merged reads the same object by another name: `config`, where `config = self.config`"),
        Verdict.EQUIVALENT,
        _alias,
    ),
    Match(
        Heuristic("early-exit", "merged leaves the function in the opposite case, in the place of the side's `if`"),
        Verdict.EQUIVALENT,
        _early_exit,
    ),
    Match(
        Heuristic("folded-guard", "merged asserts the opposite of the side's `if` or what stood under it"),
        Verdict.EQUIVALENT,
        _folded_guard,
    ),
    Match(
        Heuristic("names-taken-out", "all that is missing are names that the other side took out of the definition"),
        Verdict.SUPERSEDED,
        _names_taken_out,
    ),
    Match(
        Heuristic("reworded", "merged words a printed text otherwise"),
        Verdict.SUPERSEDED,
        _reworded,
    ),
)  # fmt: skip


def _opposite(statement: Statement) -> str | None:
    """The opposite of the test of an `if`, in normal form; None for anything else."""
    tree = normal_tree(statement.kind, statement.tokens) if statement.kind == "header" else None
    node = tree.body[0] if tree is not None and tree.body else None
    return ast.dump(negation(node.test)) if isinstance(node, ast.If) else None


def _test(statement: Statement) -> str | None:
    tree = normal_tree(statement.kind, statement.tokens)
    node = tree.body[0] if tree is not None and tree.body else None
    return ast.dump(node.test) if isinstance(node, ast.If) else None


def _alternatives(statement: Statement) -> Iterator[str]:
    """The operands of an asserted `or`, in normal form."""
    tree = normal_tree(statement.kind, statement.tokens)
    node = tree.body[0] if tree is not None and tree.body else None
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
        yield from map(ast.dump, node.test.values)


def _leaves(form: Statements, header: int) -> bool:
    return any(s.parent == header and s.kind == "statement" and s.tokens[0] in _LEAVES for s in form)


def _aliases(form: Statements) -> dict[str, tuple[str, ...]]:
    """Names that a definition binds once, to an attribute of the same name: `config = self.config`."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in form:
        words = statement.tokens
        bound = statement.kind == "statement" and len(words) >= 5 and words[1] == "=" and words[-2:] == (".", words[0])
        if bound and all(word == "." or _NAME.match(word) for word in words[2:]):
            found[words[0]] = words[2:]
    return found


def _expanded(statement: Statement, aliases: dict[str, tuple[str, ...]]) -> Sequence[str]:
    """The tokens of a statement with each alias written out."""
    out: list[str] = []
    words = statement.tokens
    for index, word in enumerate(words):
        attribute = index > 0 and words[index - 1] == "."
        keyword = index + 1 < len(words) and words[index + 1] == "="
        out += (word,) if attribute or keyword or word not in aliases else aliases[word]
    return out


def _free_names(form: Statements) -> set[str]:
    return functools.reduce(lambda found, s: found | _free(s.tokens), form, set[str]())


@functools.lru_cache(maxsize=20_000)
def _free(words: tuple[str, ...]) -> frozenset[str]:
    """The names and attributes that a statement speaks of, the keywords of its arguments aside."""
    return frozenset(
        word
        for index, word in enumerate(words)
        if _NAME.match(word)
        and not (words[index + 1 : index + 2] == ("=",) and index and words[index - 1] in ("(", ","))
    )
