"""What stands around a match: statements above it, calls before and after it, the arms of branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase

from guard.lint.definitions import Definitions, parameter_names
from guard.lint.facts import FileFacts
from guard.lint.language import Place, Then, Under
from guard.lint.nodes import NodeIndex, descend
from guard.lint.patterns import Pattern, dotted
from guard.lint.unify import Bindings, Unifier, same


def position(node: ast.AST) -> tuple[int, int]:
    """Line and column, for order."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _arm(branch: ast.If | ast.IfExp, inside: ast.AST) -> str:
    """On which arm of a branch a direct part of it stands; empty for the test itself."""
    if isinstance(branch, ast.IfExp):
        return "then" if inside is branch.body else "else" if inside is branch.orelse else ""
    return "then" if inside in branch.body else "else" if inside in branch.orelse else ""


def _heads(above: ast.AST, inside: ast.AST, test: Under) -> Iterator[tuple[Pattern, ast.AST]]:
    """What a test asks of a `with` or of a loop, in whose body a direct part of it stands, and where to look."""
    if isinstance(above, ast.With | ast.AsyncWith):
        yield from ((pattern, item.context_expr) for pattern in test.with_ for item in above.items)
    elif isinstance(above, ast.For | ast.AsyncFor):
        yield from ((pattern, above.iter) for pattern in test.for_)
    elif isinstance(above, ast.While) and inside in above.body:
        yield from ((pattern, above.test) for pattern in test.while_)


class Surroundings:
    """Questions about one file's statements around a node."""

    def __init__(self, facts: FileFacts, definitions: Definitions, unifier: Unifier) -> None:
        self.facts = facts
        self.definitions = definitions
        self.unifier = unifier

    def occurrences(self, pattern: Pattern, scope: ast.AST, env: Bindings) -> Iterator[tuple[ast.AST, Bindings]]:
        """Matches of a pattern under a scope."""
        yield from self.unifier.search(pattern, self.facts.index(scope), env)

    def before(self, pattern: Pattern, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Occurrences that come earlier in the function, on a path to the node."""
        for found, bound in self.occurrences(pattern, self.facts.outermost(node), env):
            if position(found) < position(node) and not self._inside(node, found) and not self.apart(found, node):
                yield bound

    def after(self, pattern: Pattern, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Occurrences that come later in the function and that control reaches from the node."""
        for found, bound in self.occurrences(pattern, self.facts.outermost(node), env):
            if position(found) > position(node) and not self._inside(found, node) and not self.apart(node, found):
                yield bound

    def earlier(self, pattern: Pattern, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Occurrences that stand earlier in the function, whether or not a run passes both."""
        for found, bound in self.occurrences(pattern, self.facts.outermost(node), env):
            if position(found) < position(node):
                yield bound

    def then(self, test: Then, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Occurrences in the statements that follow in the same block, up to an assignment of the kept expression."""
        kept = env.get(test.keeps)
        key = dotted(kept) if kept is not None else None
        above = self.facts.parents.get(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if not isinstance(block, list) or node not in block or key is None:
                continue
            for statement in block[block.index(node) + 1 :]:
                binds = key in self.definitions.bound(statement)
                if binds and hasattr(statement, "body"):
                    return  # inside a block the assignment may well come first
                for pattern in test.pattern:
                    for _, bound in self.unifier.search(pattern, self.facts.index(statement), env):
                        yield bound
                if binds:
                    return

    def reaches(self, test: Then, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Later occurrences in the function in which the kept name can still hold what the match assigned."""
        kept, statement = env.get(test.keeps), self.facts.statement(node)
        for pattern in test.pattern:
            for found, bound in self.occurrences(pattern, self.facts.outermost(node), env):
                if position(found) <= position(node) or kept is None:
                    continue
                uses = [part for part in descend(found) if isinstance(part, ast.expr) and same(part, kept)]
                if any(d.statement is statement for use in uses[:1] for d in self.definitions.of(use)):
                    yield bound

    def is_parameter(self, node: ast.AST, value: ast.AST | None) -> bool:
        """Whether a name is a parameter of the nearest function around a node."""
        function = self.facts.function(node)
        return isinstance(value, ast.Name) and function is not None and value.id in parameter_names(function)

    def candidates_before(self, pattern: Pattern, node: ast.expr) -> list[ast.AST]:
        """Calls of the pattern's shape that can come before the use of an expression."""
        limit = position(node)
        scope = self.facts.outermost(node)
        return [
            found
            for found in self.facts.index(scope).for_pattern(pattern)
            if position(found) < limit and not self.apart(found, node)
        ]

    def _inside(self, node: ast.AST, other: ast.AST) -> bool:
        return other in self.facts.ancestors(node)

    def apart(self, one: ast.AST, two: ast.AST) -> bool:
        """Whether two nodes stand on different arms of one `if`, so that no run passes both."""
        arms = self._arms(one)
        return any(branch in arms and arms[branch] != arm for branch, arm in self._arms(two).items())

    def _arms(self, node: ast.AST) -> dict[ast.AST, bool]:
        found: dict[ast.AST, bool] = {}
        current = node
        for above in self.facts.ancestors(node):
            if isinstance(above, ast.If):
                if current in above.body:
                    found[above] = True
                elif current in above.orelse:
                    found[above] = False
            current = above
        return found

    def arm(self, node: ast.AST) -> list[NodeIndex]:
        """Nodes of the statements of the branch arm or block that a node stands in."""
        current: ast.AST = self.facts.statement(node) or node
        above = self.facts.parents.get(current)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if isinstance(block, list) and current in block:
                return [self.facts.index(statement) for statement in block]
        return [self.facts.index(current)]

    def under(self, test: Under, node: ast.AST, env: Bindings) -> Iterator[Bindings]:
        """Enclosing statements that the test asks for."""
        current: ast.AST = node
        for above in self.facts.ancestors(node):
            if isinstance(above, ast.If | ast.IfExp) and test.if_:
                arm = _arm(above, current)
                if arm and test.branch in {arm, "any"}:
                    for pattern in test.if_:
                        for _, bound in self.unifier.search(pattern, self.facts.index(above.test), env):
                            yield bound
            for pattern, looked_at in _heads(above, current, test):
                for _, bound in self.unifier.search(pattern, self.facts.index(looked_at), env):
                    yield bound
            current = above

    def held(self, names: tuple[str, ...], node: ast.AST) -> bool:
        """Whether the functions around a node have a parameter or an earlier local of one of the names."""
        for above in self.facts.ancestors(node):
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                if any(name in names for name in parameter_names(above)):
                    return True
                if isinstance(above, ast.Lambda):
                    continue
                for statement in above.body:
                    if position(statement) < position(node) and self.definitions.bound(statement) & set(names):
                        return True
        return False

    def in_place(self, place: Place, node: ast.AST) -> bool:
        """Whether a clause's place, its paths aside, holds at a node."""
        if place.function or place.not_function:
            around = [node, *self.facts.ancestors(node)]
            functions = [a.name for a in around if isinstance(a, ast.FunctionDef | ast.AsyncFunctionDef)]
            if place.function and not any(fnmatchcase(f, g) for f in functions for g in place.function):
                return False
            if any(fnmatchcase(f, g) for f in functions for g in place.not_function):
                return False
        if place.class_:
            holder = self.facts.class_(node)
            rows = self.facts.hierarchy(holder) if holder is not None else []
            lasts = [name.rpartition(".")[2] for name, _ in rows]
            return any(fnmatchcase(last, g) for last in lasts for g in place.class_)
        return True
