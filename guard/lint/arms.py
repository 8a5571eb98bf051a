"""Two arms of one `if` that compute one result by different callees: do both get what both accept."""

from __future__ import annotations

import ast

from guard.lint.calls import Calls
from guard.lint.patterns import dotted


def _results(block: list[ast.stmt]) -> dict[str, ast.Call]:
    """The call behind each name assigned, or returned, at the top of a block."""
    found: dict[str, ast.Call] = {}
    for statement in block:
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Call):
            found["return"] = statement.value
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            for target in statement.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                found[", ".join(dotted(part) or "_" for part in parts)] = statement.value
    return found


def agree(branch: ast.If, names: tuple[str, ...], calls: Calls) -> bool:
    """Whether an argument that one arm passes, and the other arm's callee accepts, is passed on both."""
    left, right = _results(branch.body), _results(branch.orelse)
    for key in left.keys() & right.keys():
        for one, two in ((left[key], right[key]), (right[key], left[key])):
            signature = calls.signature(two)
            given, other = calls.arguments(one, ()), calls.arguments(two, ())
            if signature is None or other.hidden:
                continue
            if any(given.passed(n) is not None and signature.accepts(n) and n not in other.given for n in names):
                return False
    return True
