"""What a function does with one of its parameters, where it does no more than hand it on."""

from __future__ import annotations

import ast
import warnings

from guard.documents.decoding import decode


def handed_on(data: bytes, line: int, parameter: str) -> tuple[str, ...] | None:
    """The callees that a function hands a parameter on to, under the parameter's own name.

    Arguments:
        data: the file.
        line: 1-based line of the definition: of its `def`, or of its first decorator.
        parameter: its name.

    Returns:
        Dotted names, each once; empty where the body never reads the parameter. None where the body does anything
        else with it, or there is no such function.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(decode(data).text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if line in {node.lineno, *(decorator.lineno for decorator in node.decorator_list)}:
            return _in_body(node, parameter)
    return None


def _in_body(function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> tuple[str, ...] | None:
    callees: dict[str, None] = {}
    passed = reads = 0
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name):
            if node.id in {"locals", "vars"}:
                return None
            reads += node.id == parameter
        elif isinstance(node, ast.Call) and any(_hands(keyword, parameter) for keyword in node.keywords):
            passed += 1
            callees[ast.unparse(node.func)] = None
    return tuple(callees) if passed == reads else None


def _hands(keyword: ast.keyword, parameter: str) -> bool:
    return keyword.arg == parameter and isinstance(keyword.value, ast.Name) and keyword.value.id == parameter
