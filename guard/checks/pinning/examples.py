"""The examples of a pin: the definition before and after the fix, as little of it as shows the difference."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from guard.checks.pinning.sources import EditSource, Owner

Finds = Callable[[str], bool]


def examples(source: EditSource, before: bytes, after: bytes, finds: Finds) -> tuple[str, str] | None:
    """(bad, good) programs of one definition, the shortest pair of which the rule finds the first and not the second.

    Arguments:
        before, after: the file in the parent and in the fix.
        finds: whether the rule finds something in a program at the pin's path.
    """
    for bad, good in _pairs(source, before, after):
        if finds(bad) and not finds(good):
            return bad, good
    return None


def _pairs(source: EditSource, before: bytes, after: bytes) -> Iterator[tuple[str, str]]:
    if source.old is not None and source.new is not None:
        for full in (False, True):
            bad, good = _reduced(source, source.old, full=full), _reduced(source, source.new, full=full)
            if bad and good:
                yield bad, good
    yield before.decode("utf-8", "replace"), after.decode("utf-8", "replace")


def _reduced(source: EditSource, owner: Owner, *, full: bool) -> str | None:
    """A definition inside the classes around it; its body cut to what the fix touched, unless `full`."""
    if isinstance(owner, ast.Module):
        return None if full else _module(source, owner)
    touched = {id(node) for unit in source.units for node in (unit.old, unit.new) if node is not None}
    copy = owner if full else _cut(owner, touched)
    lines = ast.unparse(copy).split("\n")
    for name in reversed(source.edit.symbol.split(".")[:-1]):
        kind = "class" if name[:1].isupper() else "def"
        head = f"{kind} {name}:" if kind == "class" else f"def {name}():"
        lines = [head, *("    " + line for line in lines)]
    return "\n".join(lines) + "\n"


def _module(source: EditSource, owner: ast.Module) -> str | None:
    touched = {id(node) for unit in source.units for node in (unit.old, unit.new) if node is not None}
    body = [node for node in owner.body if any(id(part) in touched for part in ast.walk(node))]
    return "\n".join(ast.unparse(node) for node in body) + "\n" if body else None


def _cut(owner: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, touched: set[int]) -> ast.stmt:
    """The definition with the direct statements that hold an edit, and their neighbours."""
    body = [node for node in owner.body if not _is_text(node)]
    marked = [index for index, node in enumerate(body) if any(id(part) in touched for part in ast.walk(node))]
    kept = {i for index in marked for i in range(index - 1, index + 2)} or set(range(len(body)))
    fields = {name: value for name, value in ast.iter_fields(owner) if name != "body"}
    chosen = [node for index, node in enumerate(body) if index in kept] or [ast.Pass()]
    copy = type(owner)(**{**fields, "body": chosen, "decorator_list": []})
    return ast.fix_missing_locations(ast.copy_location(copy, owner))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
