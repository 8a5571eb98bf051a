"""One form for statements that compute the same: commuted operands, negations, keyword order, older type names.

The canonical tokens of a statement are parsed again, its tree is rewritten, and equal trees mean an equal effect. What
cannot be rebuilt from tokens (a pattern) has no normal form, and nothing is said of it.
"""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Sequence

from guard.documents.statements import Statement

_BUILTIN_OF = {
    "Dict": "dict", "List": "list", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type",
}  # fmt: skip
_NEGATED: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_MIRRORED: dict[type, type] = {ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_COMMUTES = (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor, ast.Add)
_IN_ANY_ORDER = frozenset({"max", "min", "maximum", "minimum", "gcd", "lcm"})
_OPERATORS: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "multiply": ast.Mult, "div": ast.Div, "divide": ast.Div,
    "true_divide": ast.Div, "pow": ast.Pow,
}  # fmt: skip


def equivalent(one: Statement, other: Statement) -> bool:
    """Whether two statements compute the same in other words."""
    if one.kind != other.kind:
        return False
    if one.text == other.text:
        return True
    form = normal_form(one.kind, one.tokens)
    return form is not None and form == normal_form(other.kind, other.tokens)


def permuted(one: Statement, other: Statement) -> bool:
    """Whether two statements have the same tokens by count and yet compute something else."""
    if one.text == other.text or sorted(one.tokens) != sorted(other.tokens):
        return False
    forms = normal_form(one.kind, one.tokens), normal_form(other.kind, other.tokens)
    return None not in forms and forms[0] != forms[1]


@functools.lru_cache(maxsize=50_000)
def normal_form(kind: str, tokens: tuple[str, ...]) -> str | None:
    """The normal form of a statement, as text; None where its tokens are no source text."""
    tree = normal_tree(kind, tokens)
    return None if tree is None else ast.dump(tree)


def normal_tree(kind: str, tokens: Sequence[str]) -> ast.Module | None:
    """The rewritten tree of a statement."""
    source = _source(kind, tokens)
    if source is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _Normal().visit(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Module) else None


def negation(test: ast.expr) -> ast.expr:
    """The opposite of a test in normal form, in normal form."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _NEGATED:
        return ast.Compare(test.left, [_NEGATED[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.BoolOp):
        turned = ast.Or() if isinstance(test.op, ast.And) else ast.And()
        return ast.BoolOp(turned, [negation(value) for value in test.values])
    return ast.UnaryOp(ast.Not(), test)


def _source(kind: str, tokens: Sequence[str]) -> str | None:
    if not tokens:
        return None
    if 'f"' in tokens:
        tokens = _without_placeholders(tokens)
    words = [")" if token == ",)" else token for token in tokens]
    text = " ".join(f", {word}" if token == ",)" else word for token, word in zip(tokens, words, strict=True))
    if kind == "header":
        if tokens[0] not in ("if", "elif", "while", "for", "with"):
            return None
        return f"{text.removeprefix('el')}: pass"
    if kind == "parameter":
        return f"def f({text}): pass" if tokens[0] not in ("*", "/", "**") else None
    if kind == "returns":
        return f"def f() {text}: pass"
    if kind in ("decorator", "base"):
        return f"({text.removeprefix('@')})"
    return text


def _without_placeholders(tokens: Sequence[str]) -> list[str]:
    """The tokens with each text that has placeholders as one plain text of all its tokens."""
    out: list[str] = []
    inside: list[str] = []
    depth = 0
    for token in tokens:
        depth += token == 'f"'
        (inside if depth else out).append(token)
        if token == '"' and depth:
            depth -= 1
            if not depth:
                out.append(repr(" ".join(inside)))
                inside = []
    return out


class _Normal(ast.NodeTransformer):
    """Rewrites from the leaves up."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_BUILTIN_OF.get(node.id, node.id), node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in ("typing", "t") and node.attr in _BUILTIN_OF:
            return ast.Name(_BUILTIN_OF[node.attr], ast.Load())
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
        if name == "Optional":
            return _operation(ast.BitOr(), node.slice, ast.Constant(None))
        if name == "Union" and isinstance(node.slice, ast.Tuple) and node.slice.elts:
            return functools.reduce(lambda one, two: _operation(ast.BitOr(), one, two), node.slice.elts)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return negation(_tested(node.operand)) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        operator, left, right = node.ops[0], node.left, node.comparators[0]
        if type(operator) in _MIRRORED:
            return ast.Compare(right, [_MIRRORED[type(operator)]()], [left])
        if isinstance(operator, ast.Eq | ast.NotEq) and ast.dump(left) > ast.dump(right):
            return ast.Compare(right, [operator], [left])
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        return ast.BoolOp(node.op, [_tested(value) for value in node.values])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _operation(node.op, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _IN_ANY_ORDER:
            node.args.sort(key=ast.dump)
        node.keywords.sort(key=lambda keyword: (keyword.arg is None, keyword.arg or "", ast.dump(keyword.value)))
        if name == "dict" and not node.args and all(keyword.arg for keyword in node.keywords):
            keys: list[ast.expr | None] = [ast.Constant(keyword.arg) for keyword in node.keywords]
            return ast.Dict(keys, [keyword.value for keyword in node.keywords])
        return _arithmetic(node, name) or node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        self.generic_visit(node)
        if all(isinstance(key, ast.Constant) for key in node.keys):
            pairs = sorted(zip(node.keys, node.values, strict=True), key=lambda pair: ast.dump(pair[0] or ast.Pass()))
            return ast.Dict([key for key, _ in pairs], [value for _, value in pairs])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        return _assigned(node.target, node.op, node.value)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """`x.mul_(y)` changes `x` as `x = x * y` does."""
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            operator = _OPERATORS.get(call.func.attr[:-1]) if call.func.attr.endswith("_") else None
            if operator is not None and not call.keywords:
                return _assigned(call.func.value, operator(), call.args[0])
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = _tested(node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        node.test = _tested(node.test)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.generic_visit(node)
        node.test = _tested(node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        node.test = _tested(node.test)
        return node


def _tested(test: ast.expr) -> ast.expr:
    """A test of which only the truth counts: `x == False` is `not x`, `bool(x)` is `x`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq):
        for this, that in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            if isinstance(this, ast.Constant) and isinstance(this.value, bool):
                same = this.value is isinstance(test.ops[0], ast.Eq)
                return that if same else negation(that)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool":
        return test.args[0] if len(test.args) == 1 and not test.keywords else test
    return test


def _operation(operator: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr:
    """An operation, the operands of one that commutes in a fixed order. Texts and lists are joined in their order."""
    if not isinstance(operator, _COMMUTES):
        return ast.BinOp(left, operator, right)
    parts = [*_operands(operator, left), *_operands(operator, right)]
    joined = isinstance(operator, ast.Add) and any(_is_sequence(part) for part in parts)
    ordered = parts if joined else sorted(parts, key=ast.dump)
    return functools.reduce(lambda one, two: ast.BinOp(one, operator, two), ordered)


def _operands(operator: ast.operator, node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and type(node.op) is type(operator):
        return [*_operands(operator, node.left), *_operands(operator, node.right)]
    return [node]


def _is_sequence(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _arithmetic(node: ast.Call, name: str) -> ast.expr | None:
    """`torch.mul(x, y)` and `x.mul(y)` as `x * y`."""
    operator = _OPERATORS.get(name)
    if operator is None or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    module = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy", "jnp")
    operands = node.args if module else [node.func.value, *node.args]
    return _operation(operator(), *operands) if len(operands) == 2 else None


def _assigned(target: ast.expr, operator: ast.operator, value: ast.expr) -> ast.Assign:
    """`x = x op value`, of a target in any context."""
    read = ast.parse(ast.unparse(ast.fix_missing_locations(ast.Expression(_loaded(target)))), mode="eval").body
    stored = ast.parse(f"{ast.unparse(ast.fix_missing_locations(target))} = 0").body[0]
    assert isinstance(stored, ast.Assign)
    return ast.Assign(stored.targets, _operation(operator, read, value))


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        target.ctx = ast.Load()
    return target
