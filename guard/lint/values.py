"""What a value is made of: products and quotients in any spelling, and the way a value came."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from guard.lint.definitions import Definitions
from guard.lint.facts import FileFacts
from guard.lint.patterns import Pattern, dotted
from guard.lint.unify import Bindings, Unifier

DEPTH = 14
_SAME_NUMBER = frozenset(
    {
        "to",
        "float",
        "double",
        "half",
        "bfloat16",
        "int",
        "long",
        "bool",
        "type",
        "type_as",
        "view",
        "reshape",
        "contiguous",
        "clone",
        "detach",
        "item",
        "squeeze",
        "unsqueeze",
        "flatten",
        "cuda",
        "cpu",
        "expand",
        "expand_as",
        "requires_grad_",
        "transpose",
        "permute",
        "tolist",
        "view_as",
    }
)
_SAME_FUNCTIONS = frozenset({"float", "int", "tensor", "as_tensor", "squeeze", "unsqueeze", "reshape", "flatten"})
_PRODUCTS = frozenset({"mul", "mul_", "multiply", "multiply_"})
_QUOTIENTS = frozenset({"div", "div_", "divide", "divide_", "true_divide", "floor_divide"})
_BOUNDS = frozenset({"clamp", "clamp_", "clamp_min", "clamp_min_", "clip", "maximum", "max", "minimum", "nan_to_num"})
_OPERATORS = frozenset({"torch", "math", "numpy", "np"})


def operation(call: ast.Call) -> tuple[str, ast.expr, list[ast.expr]] | None:
    """Name, first operand and further operands of `torch.f(x, …)` or `x.f(…)`; None for other calls."""
    func = call.func
    if isinstance(func, ast.Name):
        return (func.id, call.args[0], call.args[1:]) if call.args else None
    if not isinstance(func, ast.Attribute):
        return None
    if isinstance(func.value, ast.Name) and func.value.id in _OPERATORS:
        return (func.attr, call.args[0], call.args[1:]) if call.args else None
    return func.attr, func.value, call.args


class Values:
    """Follows values in one file. Every question is existential: is there a way on which it holds."""

    def __init__(self, facts: FileFacts, definitions: Definitions, unifier: Unifier, tick: Callable[[], None]) -> None:
        self.facts = facts
        self.definitions = definitions
        self.unifier = unifier
        self.tick = tick

    def strip(self, node: ast.expr) -> ast.expr:
        """Take off what does not change the number: casts, reshapes, clones."""
        while isinstance(node, ast.Call) and (parts := operation(node)) is not None:
            name, first, _ = parts
            method = isinstance(node.func, ast.Attribute)
            if name not in (_SAME_NUMBER if method else _SAME_FUNCTIONS) and not (method and name in _SAME_FUNCTIONS):
                break
            node = first
        return node

    def sources(self, node: ast.expr) -> list[ast.expr]:
        """Values one step back: the assignments that reach a name, the arms of a conditional expression."""
        self.tick()
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.NamedExpr):
            return [node.value]
        if isinstance(node, ast.BoolOp):
            return list(node.values)
        if isinstance(node, ast.Name | ast.Attribute):
            return [d.value for d in self.definitions.of(node) if d.value is not None]
        return []

    def _here(self, pattern: Pattern, node: ast.expr, env: Bindings) -> Iterator[Bindings]:
        found = self.unifier.match(pattern, node, env)
        if found is not None:
            found["MATCH"] = node
            yield found

    def is_(self, node: ast.expr, pattern: Pattern, env: Bindings, depth: int = DEPTH) -> Iterator[Bindings]:
        """The value, or something it was assigned from, matches."""
        yield from self._here(pattern, node, env)
        if depth:
            inner = self.strip(node)
            following = [inner] if inner is not node else self.sources(node)
            for source in following:
                yield from self.is_(source, pattern, env, depth - 1)

    def factor(self, node: ast.expr, pattern: Pattern, env: Bindings, depth: int = DEPTH) -> Iterator[Bindings]:
        """The product carries a factor that matches (numerator)."""
        yield from self._part(node, pattern, env, depth, True)

    def divisor(self, node: ast.expr, pattern: Pattern, env: Bindings, depth: int = DEPTH) -> Iterator[Bindings]:
        """The quotient carries a divisor that matches."""
        yield from self._part(node, pattern, env, depth, False)

    def _part(self, node: ast.expr, pattern: Pattern, env: Bindings, depth: int, up: bool) -> Iterator[Bindings]:
        if up:
            yield from self._here(pattern, node, env)
        if not depth:
            return
        pieces = self._pieces(node)
        if pieces is not None:
            above, below = pieces
            for part in above:
                yield from self._part(part, pattern, env, depth - 1, up)
            for part in below:
                yield from self._part(part, pattern, env, depth - 1, not up)
            return
        inner = self.strip(node)
        for source in [inner] if inner is not node else self.sources(node):
            yield from self._part(source, pattern, env, depth - 1, up)

    def _pieces(self, node: ast.expr) -> tuple[list[ast.expr], list[ast.expr]] | None:
        """Factors and divisors of one step of a product, None where the node is none."""
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mult):
                return [node.left, node.right], []
            if isinstance(node.op, ast.Div | ast.FloorDiv):
                return [node.left], [node.right]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return [node.operand], []
        if isinstance(node, ast.Call) and (parts := operation(node)) is not None and parts[2]:
            if parts[0] in _PRODUCTS:
                return [parts[1], parts[2][0]], []
            if parts[0] in _QUOTIENTS:
                return [parts[1]], [parts[2][0]]
        if isinstance(node, ast.Call) and (parts := operation(node)) is not None and parts[0] in {"sum", "mean"}:
            return ([parts[1]], []) if parts[1] is not node else None
        return None

    def contains(self, node: ast.expr, pattern: Pattern, env: Bindings, depth: int = 6) -> Iterator[Bindings]:
        """Something inside the value, or inside what it was assigned from, matches."""
        seen: set[ast.AST] = set()
        queue: list[tuple[ast.expr, int]] = [(node, depth)]
        while queue:
            current, left = queue.pop(0)
            for part in ast.walk(current):
                if part in seen or not isinstance(part, ast.expr):
                    continue
                seen.add(part)
                self.tick()
                yield from self._here(pattern, part, env)
                if left and isinstance(part, ast.Name | ast.Attribute):
                    queue.extend((source, left - 1) for source in self.sources(part))

    def chain(self, node: ast.expr) -> list[ast.expr]:
        """Everything a value was on its way here: names, casts, bounds, elements and the calls that made it."""
        found: list[ast.expr] = []
        seen: set[ast.AST] = set()
        queue = [node]
        while queue and len(found) < 200:
            current = queue.pop(0)
            if current in seen:
                continue
            seen.add(current)
            found.append(current)
            queue.extend(self.sources(current))
            if isinstance(current, ast.Subscript):
                queue.append(current.value)
            elif isinstance(current, ast.Call) and (parts := operation(current)) is not None:
                if parts[0] in _SAME_NUMBER | _SAME_FUNCTIONS | _BOUNDS and dotted(parts[1]) != "torch":
                    queue.append(parts[1])
                    queue.extend(p for p in parts[2][:1] if parts[0] in _BOUNDS)
            elif isinstance(current, ast.UnaryOp):
                queue.append(current.operand)
        return found

    def through(
        self, node: ast.expr, pattern: Pattern, env: Bindings, calls: Callable[[Pattern, ast.expr], list[ast.AST]]
    ) -> Iterator[Bindings]:
        """On its way the value was the result of a call that matches, or was `$IT` in one that came before its use.

        Args:
            calls: occurrences of a pattern's kind that can come before the use of an expression.
        """
        chain = self.chain(node)
        for link in chain:
            trial = {**env, "IT": link}
            for fixed in (env, trial):
                found = self.unifier.match(pattern, link, fixed)
                if found is not None:
                    found.pop("IT", None)
                    yield found
                    break
        for candidate in calls(pattern, node) if "$IT" in pattern.text else ():
            for link in chain:
                if isinstance(link, ast.Name | ast.Attribute | ast.Subscript):
                    found = self.unifier.match(pattern, candidate, {**env, "IT": link})
                    if found is not None:
                        found.pop("IT", None)
                        yield found
