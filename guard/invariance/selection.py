"""`-k EXPR` as pytest means it: words with `and`, `or`, `not` and brackets, a word being part of a case's name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

_WORD = re.compile(r"[^\s()]+")
_OPERATORS = {"and", "or", "not"}


class SelectionError(ValueError):
    """The expression cannot be read."""


def compile_expression(expression: str) -> Callable[[Iterable[str]], bool]:
    """A predicate over the words that describe a case (its name, family, tier, cuts).

    Raises:
        SelectionError: if the expression is no boolean expression of words.
    """
    words: list[str] = []

    def take(match: re.Match[str]) -> str:
        word = match.group()
        if word in _OPERATORS:
            return word
        words.append(word.lower())
        return f"_{len(words) - 1}"

    source = _WORD.sub(take, expression)
    try:
        tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        raise SelectionError(f"cannot read the expression {expression!r}") from error

    def holds(node: ast.expr, texts: list[str]) -> bool:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return all(holds(value, texts) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                return any(holds(value, texts) for value in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not holds(operand, texts)
            case ast.Name(id=name):
                return any(words[int(name[1:])] in text for text in texts)
        raise SelectionError(f"cannot read the expression {expression!r}")

    holds(tree, [])
    return lambda texts: holds(tree, [text.lower() for text in texts])
