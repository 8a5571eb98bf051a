"""Parameters of a function, and whether a call fits them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from guard.documents.outline import Parameter


def parameters(arguments: ast.arguments, text_of: Callable[[ast.expr], str]) -> tuple[Parameter, ...]:
    """The parameters of a function in order, with the text of their defaults."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    found = [
        Parameter(
            argument.arg, "p" if index < len(arguments.posonlyargs) else "a", text_of(default) if default else None
        )
        for index, (argument, default) in enumerate(zip(plain, defaults, strict=True))
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "*", None))
    found.extend(
        Parameter(argument.arg, "k", text_of(default) if default else None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    )
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "**", None))
    return tuple(found)


def misfit(
    signature: Sequence[Parameter], positional: int, keywords: Sequence[str], *, open_ended: bool
) -> tuple[str, str] | None:
    """Why a call does not fit a signature, as Python's own binding would: (what, argument), or None.

    Arguments:
        signature: parameters without `self`.
        positional: number of positional arguments.
        keywords: names passed by keyword.
        open_ended: more may be passed through `*` or `**`, so that nothing can be missing.

    Returns:
        what is one of `too many`, `unknown`, `twice`, `missing`.
    """
    slots = [parameter for parameter in signature if parameter.kind in {"p", "a"}]
    takes_all = any(parameter.kind == "*" for parameter in signature)
    if positional > len(slots) and not takes_all:
        return "too many", str(positional)
    filled = {parameter.name for parameter in slots[:positional]}
    by_name = {parameter.name for parameter in signature if parameter.kind in {"a", "k"}}
    any_name = any(parameter.kind == "**" for parameter in signature)
    for keyword in keywords:
        if keyword in filled and keyword in by_name:
            return "twice", keyword
        if keyword not in by_name and not any_name:
            return "unknown", keyword
    if open_ended:
        return None
    given = filled.union(keywords)
    for parameter in signature:
        if parameter.kind in {"p", "a", "k"} and parameter.default is None and parameter.name not in given:
            return "missing", parameter.name
    return None
