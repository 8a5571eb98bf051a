"""The shapes of edits that the rule language can state: each gives clauses to try, the most telling first."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from guard.checks.pinning.sources import EditSource, Unit, inner_statements, target_of, text_of

Clause = dict[str, Any]
Test = dict[str, Any]
_MOST_ANCHORS = 4
_LONGEST = 400  # characters of a statement that a pattern still states


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause to try.

    Attributes:
        shape: what kind of edit it states, in words.
        clause: as it will stand in the YAML file, without its place.
    """

    shape: str
    clause: Clause


def candidates(source: EditSource, unit: Unit) -> Iterator[Candidate]:
    """Clauses that may state one edited statement; whether they hold is for the trial to say."""
    old, new = unit.old, unit.new
    if unit.moved_over is not None:
        yield from _moved(source, unit)
        return
    if old is not None and new is not None:
        yield from _calls(old, new)
        yield from _assigned(old, new)
        yield from _conditions(old, new)
        yield from _expressions(old, new)
    if new is not None:
        yield from _added(source, new)
    if old is not None:
        yield from _exact(old)


def _calls(old: ast.stmt, new: ast.stmt) -> Iterator[Candidate]:
    """An argument added, given another value, or dropped; a callee replaced."""
    before, after = _calls_of(old), _calls_of(new)
    for name, call in after:
        match = next((other for word, other in before if word == name and not _same(other, call)), None)
        if match is None:
            continue
        held = {keyword.arg: keyword.value for keyword in match.keywords if keyword.arg}
        passed = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        for keyword, value in passed.items():
            if keyword not in held:
                yield Candidate("argument added", {"call": [name], "require": [{"passes": [keyword]}]})
            elif not _same(held[keyword], value):
                for test in value_tests(held[keyword], value):
                    required = [{"value": {"argument": [keyword], **test}}]
                    yield Candidate("argument value changed", {"call": [name], "require": required})
        for index, (was, now) in enumerate(zip(match.args, call.args, strict=False)):
            if not _same(was, now):
                pattern = f"$*.{name}({'$_, ' * index}$V, ...)"
                for test in value_tests(was, now):
                    yield Candidate(
                        "argument value changed", {"pattern": [pattern], "require": [{"value": {"of": "V", **test}}]}
                    )
        for keyword in held:
            if keyword not in passed:
                yield Candidate("argument dropped", {"call": [name], "where": [{"passes": [keyword]}]})
    gone = [name for name, _ in before if name not in {word for word, _ in after}]
    for name in dict.fromkeys(gone):
        yield Candidate("call replaced", {"pattern": [f"$*.{name}(...)"]})


def value_tests(old: ast.expr, new: ast.expr) -> Iterator[Test]:
    """Tests that the new value passes and the old one does not: a factor, a divisor, a part, the value itself."""
    had, has = _factors(old), _factors(new)
    extra = [factor for factor in has if not any(_same(factor, other) for other in had)]
    if len(has) > len(had) and extra:
        yield {"factor": [text_of(extra[0])]}
    if isinstance(new, ast.BinOp) and isinstance(new.op, ast.Div):
        old_divisor = old.right if isinstance(old, ast.BinOp) and isinstance(old.op, ast.Div) else None
        if old_divisor is None or not _same(old_divisor, new.right):
            yield {"divisor": [text_of(new.right)]}
    part = _changed_part(old, new)
    if part is not None and part is not new:
        yield {"contains": [text_of(part)]}
    yield {"is": [text_of(new)]}


def _assigned(old: ast.stmt, new: ast.stmt) -> Iterator[Candidate]:
    """Another value for one target, another returned value."""
    if type(old) is not type(new):
        return
    heads = target_of(new)
    if heads is None or target_of(old) is None:
        return
    was, now = getattr(old, "value", None), getattr(new, "value", None)
    if heads != target_of(old) or not isinstance(was, ast.expr) or not isinstance(now, ast.expr):
        return
    for test in value_tests(was, now):
        clause = {"pattern": [f"{heads}$V"], "require": [{"value": {"of": "V", **test}}]}
        yield Candidate("assigned value changed", clause)


def _conditions(old: ast.stmt, new: ast.stmt) -> Iterator[Candidate]:
    """Another condition of an `if` or `while`."""
    if not isinstance(old, ast.If | ast.While) or type(old) is not type(new):
        return
    word = "if" if isinstance(old, ast.If) else "while"
    yield Candidate("condition changed", {"pattern": [f"{word} {text_of(old.test)}:\n    ..."]})
    if isinstance(new, ast.If):
        for body in new.body[:_MOST_ANCHORS]:
            if _simple(body):
                clause = {"pattern": [text_of(body)], "require": [{"under": {"if": [text_of(new.test)]}}]}
                yield Candidate("condition changed", clause)


def _expressions(old: ast.stmt, new: ast.stmt) -> Iterator[Candidate]:
    """The very expression that the fix rewrote must not be back."""
    pairs = list(_expression_pairs(old, new))
    for was, now in pairs:
        part = _changed_part(now, was)
        for form in (part, was):
            if isinstance(form, ast.expr) and not isinstance(form, ast.Name | ast.Constant):
                yield Candidate("expression rewritten", {"pattern": [text_of(form)]})


def _added(source: EditSource, new: ast.stmt) -> Iterator[Candidate]:
    """A statement or guard that must stand beside what was there before."""
    if source.old is None or source.new is None:
        return
    known = {text_of(node) for node in inner_statements(source.old) if _simple(node)}
    if isinstance(new, ast.If):
        for inner in inner_statements(new):
            if _simple(inner) and text_of(inner) in known:
                required = [{"under": {"if": [text_of(new.test)], "branch": "any"}}]
                yield Candidate("guard added", {"pattern": [text_of(inner)], "require": required})
    form = _form(new)
    if form is None:
        return
    order = list(inner_statements(source.new))
    place = order.index(new) if new in order else 0
    later = [node for node in order[place + 1 :] if _simple(node) and text_of(node) in known][:_MOST_ANCHORS]
    earlier = [node for node in order[:place][::-1] if _simple(node) and text_of(node) in known][:_MOST_ANCHORS]
    for where, anchors in (("before", later), ("after", earlier)):
        for anchor in anchors:
            yield Candidate("statement added", {"pattern": [text_of(anchor)], "require": [{where: [form]}]})
    for anchor in (*later, *earlier):
        required = [{"has": {"pattern": [form], "in": "function"}}]
        yield Candidate("statement added", {"pattern": [text_of(anchor)], "require": required})


def _moved(source: EditSource, unit: Unit) -> Iterator[Candidate]:
    """A statement that must come before, or after, another one."""
    if unit.new is None or source.new is None or source.old is None or not _simple(unit.new):
        return
    text = text_of(unit.new)
    before = [text_of(node) for node in inner_statements(source.old) if _simple(node)]
    after = [text_of(node) for node in inner_statements(source.new) if _simple(node)]
    if before.count(text) != 1 or after.count(text) != 1:
        return
    was, now = before.index(text), after.index(text)
    for other in after:
        if before.count(other) == after.count(other) == 1 and other != text:
            passed = (before.index(other) < was) is not (after.index(other) < now)
            if passed:
                where = "before" if after.index(other) < now else "after"
                yield Candidate("statement moved", {"pattern": [text], "require": [{where: [other]}]})


def _exact(old: ast.stmt) -> Iterator[Candidate]:
    """The very statement before the fix must not be back."""
    form = _form(old)
    if form is not None:
        yield Candidate("statement rewritten", {"pattern": [form]})


def _form(node: ast.stmt) -> str | None:
    """A pattern of a statement; of a compound one its header."""
    if isinstance(node, ast.If | ast.While):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {text_of(node.test)}:\n    ..."
    if isinstance(node, ast.For):
        return f"for {text_of(node.target)} in {text_of(node.iter)}:\n    ..."
    if isinstance(node, ast.With):
        return f"with {', '.join(text_of(item) for item in node.items)}:\n    ..."
    return text_of(node) if _simple(node) else None


def _simple(node: ast.stmt) -> bool:
    """Whether a statement says something by itself and can stand as a pattern."""
    if isinstance(node, ast.Pass | ast.Break | ast.Continue | ast.Global | ast.Nonlocal | ast.Import | ast.ImportFrom):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    return not hasattr(node, "body") and len(text_of(node)) <= _LONGEST


def _calls_of(node: ast.stmt) -> list[tuple[str, ast.Call]]:
    found = []
    for part in _header_expressions(node):
        for inner in ast.walk(part):
            if isinstance(inner, ast.Call):
                name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
                if name:
                    found.append((name, inner))
    return found


def _expression_pairs(old: ast.stmt, new: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    yield from zip(_header_expressions(old), _header_expressions(new), strict=False)


def _header_expressions(node: ast.stmt) -> list[ast.expr]:
    """The expressions of a statement; of a compound one those of its header."""
    found: list[ast.expr] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, ast.withitem):
            found.append(child.context_expr)
    return found


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _changed_part(old: ast.expr, new: ast.expr) -> ast.expr | None:
    """The smallest expression of `new` that holds all that differs from `old`, or None where nothing does."""
    if _same(old, new):
        return None
    if type(old) is type(new):
        ones, others = list(ast.iter_child_nodes(old)), list(ast.iter_child_nodes(new))
        if len(ones) == len(others):
            differing = [(one, other) for one, other in zip(ones, others, strict=True) if not _same(one, other)]
            if len(differing) == 1:
                one, other = differing[0]
                if isinstance(one, ast.keyword) and isinstance(other, ast.keyword):
                    one, other = one.value, other.value
                if isinstance(one, ast.expr) and isinstance(other, ast.expr):
                    return _changed_part(one, other)
    return new


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)
