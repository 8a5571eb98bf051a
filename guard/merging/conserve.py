"""The proof by counting: a joined text has what both sides put in and has not what they took out, token by token."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from guard.documents.statements import type_of_definition
from guard.judge.tokens import edits
from guard.merging.syntax import Block


def unaccounted(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], joined: Sequence[str]
) -> tuple[str, ...]:
    """The tokens whose count in the joined text is not explained by what the sides did.

    Each token's count must differ from the base's by the sum of both sides' differences. Where both sides put in (or
    took out) the same token, that may be one change made twice, which stands once.

    Arguments:
        base, ours, theirs, joined: canonical tokens (names, numbers, operators; brackets and commas do not count).
    """
    counts = [Counter(tokens) for tokens in (base, ours, theirs, joined)]
    put_in, taken_out = [], []
    for side in (ours, theirs):
        added, removed = _turnover(base, side)
        put_in.append(added)
        taken_out.append(removed)
    wrong = []
    for token in set().union(*counts):
        before, mine, yours, now = (count[token] for count in counts)
        wanted = mine + yours - before
        least = wanted - min(put_in[0][token], put_in[1][token])
        most = wanted + min(taken_out[0][token], taken_out[1][token])
        if not least <= now <= most and token not in _SILENT:
            wrong.append(token)
    return tuple(sorted(wrong))


_SILENT = frozenset(["(", ")", "[", "]", "{", "}", ",", ":", "pass"])


def _turnover(base: Sequence[str], side: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    added: Counter[str] = Counter()
    removed: Counter[str] = Counter()
    for edit in edits(base, side):
        removed.update(base[edit.start : edit.end])
        added.update(side[edit.new_start : edit.new_end])
    return added, removed


def bound_twice(ours: Block, theirs: Block, joined: Block) -> list[str]:
    """Names that the joined file defines, imports or sets as a field more often, or as more things, than either side.

    Assignments inside functions do not count: there a name is rightly set again.
    """
    counts = [Counter(_bindings(form)) for form in (ours, theirs, joined)]
    wrong = [key for key, count in counts[2].items() if count > max(counts[0][key], counts[1][key])]
    things = [_imported(form) for form in (ours, theirs, joined)]
    wrong += [
        (*key, "")
        for key, sources in things[2].items()
        if len(sources) > 1 and not any(sources <= form.get(key, frozenset()) for form in things[:2])
    ]
    return sorted({".".join(key[:2]).lstrip(".") for key in wrong})


def _bindings(block: Block) -> Iterator[tuple[str, str, str]]:
    """(scope, name, what is bound) of definitions, imports and fields."""
    for node in block.nodes:
        for statement in node.statements:
            yield from _bound_by(statement, "", fields=True)


def _bound_by(statement: ast.stmt, scope: str, *, fields: bool) -> Iterator[tuple[str, str, str]]:
    if isinstance(statement, type_of_definition):
        roles = "".join(ast.unparse(decorator) for decorator in statement.decorator_list)
        yield scope, statement.name, f"definition {roles if '.' in roles or 'overload' in roles else ''}"
        inner = f"{scope}.{statement.name}"
        for child in statement.body:
            yield from _bound_by(child, inner, fields=isinstance(statement, ast.ClassDef))
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        module = f"{statement.level} {statement.module}" if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            yield scope, alias.asname or alias.name, f"import {module} {alias.name}"
    elif fields and isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield scope, ast.unparse(target), "field"
    for name in ("body", "orelse", "finalbody", "handlers"):
        for child in getattr(statement, name, ()):
            if isinstance(child, ast.ExceptHandler):
                for inner_statement in child.body:
                    yield from _bound_by(inner_statement, scope, fields=fields)
            elif isinstance(child, ast.stmt):
                yield from _bound_by(child, scope, fields=fields)


def _imported(block: Block) -> dict[tuple[str, str], frozenset[str]]:
    """The things that each imported name stands for, by scope and name."""
    found: dict[tuple[str, str], set[str]] = {}
    for scope, name, what in _bindings(block):
        if what.startswith("import"):
            found.setdefault((scope, name), set()).add(what)
    return {key: frozenset(sources) for key, sources in found.items()}
