"""Python with holes: the pattern part of the rule language, compiled to syntax trees."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

HOLE = "hole_of_pattern_"
ANY_ROOT = "any_root_of_pattern_"
ANYTHING = HOLE + "_"

_HOLE = re.compile(r"\$([A-Za-z_]\w*)")
_ANY = re.compile(r"\$\*\.")
_TOO_COMMON = frozenset({"self", "torch", "None", "True", "False"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        text: as written.
        nodes: one expression, or the statements.
        is_expression: whether it is matched against expressions.
        literals: words that a file must hold for the pattern to match in it.
        name: last name of the callee, attribute or name that is looked for, None where that is open.
    """

    text: str
    nodes: tuple[ast.AST, ...]
    is_expression: bool
    literals: frozenset[str]
    name: str | None

    @property
    def head(self) -> ast.AST:
        """The node whose type a candidate must have."""
        return self.nodes[0]


def hole_name(node: ast.AST | None) -> str | None:
    """The name of the hole that a pattern node is, or None."""
    if isinstance(node, ast.Name) and node.id.startswith(HOLE):
        return node.id[len(HOLE) :]
    return None


def any_name(node: ast.AST) -> str | None:
    """The name in `$*.name`, or None."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == ANY_ROOT:
        return node.attr
    return None


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of a chain of attributes over a plain name, or None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def compile_pattern(text: str) -> Pattern:
    """Compile one pattern.

    Raises:
        ValueError: the pattern is no Python once its holes are filled, or is empty.
    """
    source = _HOLE.sub(lambda found: HOLE + found.group(1), _ANY.sub(ANY_ROOT + ".", textwrap.dedent(text).strip()))
    try:
        body = ast.parse(source).body
    except SyntaxError as problem:
        raise ValueError(f"pattern is no Python: {problem.msg}: {text.strip()!r}") from None
    if not body:
        raise ValueError("empty pattern")
    first = body[0]
    expression = len(body) == 1 and isinstance(first, ast.Expr)
    nodes: tuple[ast.AST, ...] = (first.value,) if expression and isinstance(first, ast.Expr) else tuple(body)
    return Pattern(text.strip(), nodes, expression, frozenset(_literals(nodes)), _head_name(nodes[0]))


def _head_name(head: ast.AST) -> str | None:
    target = head.func if isinstance(head, ast.Call) else head
    if isinstance(target, ast.Attribute):
        return None if target.attr.startswith(HOLE) else target.attr
    if isinstance(target, ast.Name):
        return None if target.id.startswith(HOLE) else target.id
    return None


def _literals(nodes: tuple[ast.AST, ...]) -> set[str]:
    """Identifiers and string constants that any match must hold; of a qualified name only the last part."""
    found: set[str] = set()
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        name = dotted(node) if isinstance(node, ast.Attribute | ast.Name) else None
        if name is not None:
            if not name.startswith(HOLE) or "." in name:
                found.add(name.rpartition(".")[2])
            continue
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
        stack.extend(ast.iter_child_nodes(node))
    return {word for word in found if word not in _TOO_COMMON and not word.startswith(HOLE)}
