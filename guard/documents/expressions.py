"""Small questions to an expression: its dotted name, the class that an annotation means."""

from __future__ import annotations

import ast


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a name or a chain of attributes of one, else an empty string."""
    names = []
    current: ast.expr = node
    while isinstance(current, ast.Attribute):
        names.append(current.attr)
        current = current.value
    if not isinstance(current, ast.Name):
        return ""
    names.append(current.id)
    return ".".join(reversed(names))


def last_name(node: ast.expr) -> str:
    """The last name of a name or attribute, or of what a `partial` wraps; else an empty string."""
    if isinstance(node, ast.Call) and node.args and dotted(node.func).rpartition(".")[2] == "partial":
        return last_name(node.args[0])
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def decorator_name(node: ast.expr) -> str:
    """The dotted name of a decorator, called or not."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def class_of(node: ast.expr) -> str:
    """The class that an annotation names: `C`, `Optional[C]`, `C | None`, `"C"`; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.strip()
        return text if text.replace(".", "_").isidentifier() else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [
            side for side in (node.left, node.right) if not (isinstance(side, ast.Constant) and side.value is None)
        ]
        return class_of(sides[0]) if len(sides) == 1 else ""
    if isinstance(node, ast.Subscript) and dotted(node.value).rpartition(".")[2] == "Optional":
        return class_of(node.slice)
    return dotted(node)
