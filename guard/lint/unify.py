"""Does a pattern match a syntax tree, and what do its holes stand for."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from guard.lint.facts import FileFacts
from guard.lint.nodes import NodeIndex
from guard.lint.patterns import HOLE, Pattern, any_name, dotted, hole_name

Bindings = dict[str, ast.AST]
_NAMES = (ast.Attribute, ast.Name)
# Parts of torch that hold functions of the same names as others and that do other things: what works in place in
# torch.distributed returns a new tensor with a gradient in torch.distributed.nn.functional.
_OTHER_INTERFACES = frozenset({"nn", "functional", "_functional_collectives"})
_COMMUTING = (ast.Mult, ast.Add, ast.BitAnd, ast.BitOr)
_SKIPPED = frozenset({"ctx", "type_comment", "kind", "lineno", "col_offset", "end_lineno", "end_col_offset"})


def same(left: ast.AST, right: ast.AST) -> bool:
    """Whether two trees read alike."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    for name in left._fields:
        if name in _SKIPPED:
            continue
        one, two = getattr(left, name, None), getattr(right, name, None)
        if isinstance(one, ast.AST):
            if not isinstance(two, ast.AST) or not same(one, two):
                return False
        elif isinstance(one, list):
            if not isinstance(two, list) or len(one) != len(two):
                return False
            for a, b in zip(one, two, strict=True):
                if isinstance(a, ast.AST):
                    if not isinstance(b, ast.AST) or not same(a, b):
                        return False
                elif a != b:
                    return False
        elif one != two or type(one) is not type(two):
            return False
    return True


def named_alike(pattern: str, name: str) -> bool:
    """Whether two qualified names mean one thing: equal, one inside a longer root, or a re-export of one package.

    Whole components are compared, so `a.Ab` is never `a.A`. A re-export is believed where the first component and
    the last one agree and the tree could not tell better.
    """
    if pattern == name or name.endswith("." + pattern) or ("." in name and pattern.endswith("." + name)):
        return True
    left, right = pattern.split("."), name.split(".")
    if left[0] != right[0] or len(left) < 3 or len(right) < 3:
        return False
    if left[0] == "torch" and _OTHER_INTERFACES & set(left) != _OTHER_INTERFACES & set(right):
        return False
    # Class.method keeps two components; anything else is told by its last one.
    tail = 2 if left[-2][:1].isupper() else 1
    return left[-tail:] == right[-tail:]


class Unifier:
    """Matches patterns in one file."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts

    def match(self, pattern: Pattern, node: ast.AST, env: Bindings) -> Bindings | None:
        """Match one pattern against a node; for several statements the first of them is given.

        Returns:
            the bindings, extended, or None.
        """
        trial = dict(env)
        if pattern.is_expression or len(pattern.nodes) == 1:
            return trial if self._node(pattern.head, node, trial) else None
        block = self._block_from(node)
        return trial if block is not None and self._statements(pattern.nodes, block, trial, open_end=True) else None

    def search(self, pattern: Pattern, index: NodeIndex, env: Bindings) -> Iterator[tuple[ast.AST, Bindings]]:
        """Every match of a pattern among the nodes of a scope."""
        for node in index.for_pattern(pattern):
            found = self.match(pattern, node, env)
            if found is not None:
                yield node, found

    def _block_from(self, node: ast.AST) -> list[ast.stmt] | None:
        above = self.facts.parents.get(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if isinstance(block, list) and node in block:
                return block[block.index(node) :]
        return None

    def _node(self, pattern: ast.AST, node: ast.AST, env: Bindings) -> bool:
        return _way(pattern)(self, pattern, node, env)

    def _hole(self, pattern: ast.Name, node: ast.AST, env: Bindings) -> bool:
        return self._fill(pattern.id[len(HOLE) :], node, env)

    def _any_of_name(self, pattern: ast.Attribute, node: ast.AST, _env: Bindings) -> bool:
        return self._last_name(node) == pattern.attr

    def _anything(self, _pattern: ast.AST, _node: ast.AST, _env: Bindings) -> bool:
        return True

    def _string(self, pattern: ast.Constant, node: ast.AST, _env: Bindings) -> bool:
        return isinstance(node, ast.Constant) and bool(node.value == pattern.value)

    def _expression(self, pattern: ast.Expr, node: ast.AST, env: Bindings) -> bool:
        return self._node(pattern.value, node.value if isinstance(node, ast.Expr) else node, env)

    def _fill(self, hole: str, node: ast.AST, env: Bindings) -> bool:
        if hole == "_":
            return True
        known = env.get(hole)
        if known is not None:
            if isinstance(known, ast.Constant) and isinstance(node, ast.Name):
                return known.value == node.id
            return same(known, node)
        env[hole] = node
        return True

    def _last_name(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Attribute):
            return node.attr
        if isinstance(node, ast.Name):
            origin = self.facts.names.imports.get(node.id)
            return origin.rpartition(".")[2] if origin is not None else node.id
        return None

    def _name(self, pattern: ast.Attribute | ast.Name, node: ast.AST, env: Bindings) -> bool:
        text = _spelt(pattern)
        if text is None:
            return (
                isinstance(pattern, ast.Attribute)
                and isinstance(node, ast.Attribute)
                and self._word(pattern.attr, node.attr, env)
                and self._node(pattern.value, node.value, env)
            )
        # Under whatever name a thing was imported, the last part of an attribute stays.
        if not isinstance(node, _NAMES) or (isinstance(node, ast.Attribute) and not text.endswith(node.attr)):
            return False
        if dotted(node) == text:
            return True
        name = self.facts.qualified(node) if "." in text else None
        if name is None:
            return False
        if named_alike(text, name):
            return True
        # A re-export keeps the last name; only then is it worth asking the tree.
        if text.rpartition(".")[2] != name.rpartition(".")[2]:
            return False
        return named_alike(text, self.facts.canonical(node) or name)

    def _word(self, pattern: str, word: str, env: Bindings) -> bool:
        if pattern.startswith(HOLE):
            return self._fill(pattern[len(HOLE) :], ast.Constant(word), env)
        return pattern == word

    def _call(self, pattern: ast.Call, node: ast.AST, env: Bindings) -> bool:
        if not isinstance(node, ast.Call) or not self._node(pattern.func, node.func, env):
            return False
        wanted = list(pattern.args)
        rest = bool(wanted) and isinstance(wanted[-1], ast.Constant) and wanted[-1].value is ...
        if rest:
            wanted.pop()
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        if len(node.args) < len(wanted) or (not rest and len(node.args) > len(wanted)):
            return False
        for one, two in zip(wanted, node.args, strict=False):
            if not self._node(one, two, env):
                return False
        for keyword in pattern.keywords:
            if keyword.arg not in keywords or not self._node(keyword.value, keywords.pop(keyword.arg), env):
                return False
        return rest or not (keywords or any(k.arg is None for k in node.keywords))

    def _binary(self, pattern: ast.BinOp, node: ast.AST, env: Bindings) -> bool:
        if not isinstance(node, ast.BinOp) or type(pattern.op) is not type(node.op):
            return False
        trial = dict(env)
        if self._node(pattern.left, node.left, trial) and self._node(pattern.right, node.right, trial):
            env.update(trial)
            return True
        if isinstance(pattern.op, _COMMUTING):
            trial = dict(env)
            if self._node(pattern.left, node.right, trial) and self._node(pattern.right, node.left, trial):
                env.update(trial)
                return True
        return False

    def _fields(self, pattern: ast.AST, node: ast.AST, env: Bindings) -> bool:
        if type(pattern) is not type(node):
            return False
        for name in _compared(pattern):
            one, two = getattr(pattern, name, None), getattr(node, name, None)
            if isinstance(one, list):
                if not isinstance(two, list):
                    return False
                if name in {"body", "orelse", "finalbody"} and not (isinstance(pattern, ast.Lambda)):
                    if not self._statements(one, two, env, open_end=False):
                        return False
                elif not self._sequence(one, two, env):
                    return False
            elif isinstance(one, ast.AST):
                if not isinstance(two, ast.AST) or not self._node(one, two, env):
                    return False
            elif isinstance(one, str) and isinstance(two, str):
                if not self._word(one, two, env):
                    return False
            elif one != two:
                return False
        return True

    def _definition(self, pattern: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST, env: Bindings) -> bool:
        """A function; annotations, defaults and decorators that the pattern does not write are not asked about."""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or type(node) is not type(pattern):
            return False
        if not self._word(pattern.name, node.name, env) or not self._parameters(pattern.args, node.args, env):
            return False
        if pattern.returns is not None and (node.returns is None or not self._node(pattern.returns, node.returns, env)):
            return False
        if pattern.decorator_list and not self._sequence(list(pattern.decorator_list), list(node.decorator_list), env):
            return False
        return self._statements(pattern.body, node.body, env, open_end=False)

    def _parameters(self, wanted: ast.arguments, given: ast.arguments, env: Bindings) -> bool:
        """Parameters in order; `*$_` and `**$_` stand for any further ones."""
        rest = wanted.vararg is not None and wanted.vararg.arg == HOLE + "_"
        more = wanted.kwarg is not None and wanted.kwarg.arg == HOLE + "_"
        ours, theirs = [*wanted.posonlyargs, *wanted.args], [*given.posonlyargs, *given.args]
        if len(theirs) < len(ours) or (len(theirs) > len(ours) and not rest):
            return False
        if not all(self._parameter(a, b, env) for a, b in zip(ours, theirs, strict=False)):
            return False
        if not rest and not self._optional(wanted.vararg, given.vararg, env):
            return False
        if not more and not self._optional(wanted.kwarg, given.kwarg, env):
            return False
        named = {arg.arg: arg for arg in given.kwonlyargs}
        for arg in wanted.kwonlyargs:
            found = named.pop(arg.arg, None)
            if found is None or not self._parameter(arg, found, env):
                return False
        if named and not more:
            return False
        ours_default, theirs_default = wanted.defaults, given.defaults[len(given.defaults) - len(wanted.defaults) :]
        return len(ours_default) <= len(given.defaults) and all(
            self._node(a, b, env) for a, b in zip(ours_default, theirs_default, strict=False)
        )

    def _optional(self, wanted: ast.arg | None, given: ast.arg | None, env: Bindings) -> bool:
        if wanted is None or given is None:
            return wanted is given
        return self._parameter(wanted, given, env)

    def _parameter(self, wanted: ast.arg, given: ast.arg, env: Bindings) -> bool:
        if not self._word(wanted.arg, given.arg, env):
            return False
        if wanted.annotation is None:
            return True
        return given.annotation is not None and self._node(wanted.annotation, given.annotation, env)

    def _class(self, pattern: ast.ClassDef, node: ast.AST, env: Bindings) -> bool:
        """A class; bases and decorators that the pattern does not write are not asked about."""
        if not isinstance(node, ast.ClassDef) or not self._word(pattern.name, node.name, env):
            return False
        if pattern.bases and not self._sequence(list(pattern.bases), list(node.bases), env):
            return False
        if pattern.keywords and not self._sequence(list(pattern.keywords), list(node.keywords), env):
            return False
        if pattern.decorator_list and not self._sequence(list(pattern.decorator_list), list(node.decorator_list), env):
            return False
        return self._statements(pattern.body, node.body, env, open_end=False)

    def _sequence(self, wanted: list[ast.AST], given: list[ast.AST], env: Bindings) -> bool:
        if wanted and isinstance(wanted[-1], ast.Constant) and wanted[-1].value is ...:
            wanted, given = wanted[:-1], given[: len(wanted) - 1]
        return len(wanted) == len(given) and all(self._node(a, b, env) for a, b in zip(wanted, given, strict=True))

    def _statements(self, wanted: Sequence[ast.AST], given: Sequence[ast.AST], env: Bindings, open_end: bool) -> bool:
        """Match statements in order; a statement `...` stands for any number of them."""
        if not wanted:
            return open_end or not given
        first = wanted[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is ...:
            if len(wanted) == 1:
                return True
            for i in range(len(given) + 1):
                trial = dict(env)
                if self._statements(wanted[1:], given[i:], trial, open_end):
                    env.update(trial)
                    return True
            return False
        if not given:
            return False
        trial = dict(env)
        if self._node(first, given[0], trial) and self._statements(wanted[1:], given[1:], trial, open_end):
            env.update(trial)
            return True
        return False


@functools.cache
def _compared(pattern: ast.AST) -> tuple[str, ...]:
    """Fields of a pattern's node that a match compares."""
    return tuple(name for name in pattern._fields if name not in _SKIPPED)


@functools.cache
def _spelt(pattern: ast.AST) -> str | None:
    """The dotted name that a pattern asks for, None where a part of it is open. Patterns live as long as rules."""
    text = dotted(pattern)
    return None if text is None or HOLE in text else text


@functools.cache
def _way(pattern: ast.AST) -> Callable[[Unifier, Any, ast.AST, Bindings], bool]:
    """How a node of a pattern is compared: looked up for every node that it meets, so told once."""
    if hole_name(pattern) is not None:
        return Unifier._hole
    if any_name(pattern) is not None:
        return Unifier._any_of_name
    if isinstance(pattern, ast.Constant) and pattern.value is ...:
        return Unifier._anything
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
        return Unifier._string
    ways: dict[type[ast.AST], Callable[[Unifier, Any, ast.AST, Bindings], bool]] = {
        ast.Attribute: Unifier._name,
        ast.Name: Unifier._name,
        ast.Call: Unifier._call,
        ast.Expr: Unifier._expression,
        ast.BinOp: Unifier._binary,
        ast.FunctionDef: Unifier._definition,
        ast.AsyncFunctionDef: Unifier._definition,
        ast.ClassDef: Unifier._class,
    }
    return ways.get(type(pattern), Unifier._fields)
