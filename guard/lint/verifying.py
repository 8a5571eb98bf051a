"""Is an edited file what its edits say: parsed again, compiled, and different at their places alone."""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
import warnings
from collections import Counter

from guard.documents.decoding import decode
from guard.lint.facts import FileFacts
from guard.lint.nodes import descend
from guard.lint.rewriting import Edits, Replacement, place
from guard.lint.surroundings import Surroundings, position


def difference(before: bytes, after: bytes, edits: Edits) -> str | None:
    """Why an edited file is not what was meant, None where it is.

    Its syntax tree must be that of the old file with each edited node, and nothing else, replaced by the stated code;
    it must compile, and no comment may be lost.

    Args:
        before: the file.
        after: the file with the edits.
        edits: what was to be changed.
    """
    text, edited = decode(before).text, decode(after).text
    try:
        stated = _stated(ast.parse(text), text, edits)
        found = ast.parse(edited)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(after, "<edited>", "exec", dont_inherit=True)
        if stated is None or ast.dump(stated) != ast.dump(found):
            return "the edited file would differ in more than the edit"
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        return f"the edited file would not compile: {problem}"
    if _comments(text) - _comments(edited):
        return "a comment stands inside what is replaced"
    return None


def _stated(tree: ast.Module, text: str, edits: Edits) -> ast.Module | None:
    """The tree with the edits made in it, None where one has no place there."""
    lines = {(key[0], key[2]) for key in edits}
    left = dict(edits)

    class Editor(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            self.generic_visit(node)
            if (getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)) not in lines:
                return node
            key = place(node, text)
            edit = left.get(key)
            if edit is None or not isinstance(node, ast.stmt if edit.statement else ast.expr):
                return node
            made = _made(node, edit)
            if made is None:
                return node
            del left[key]
            return made

    edited = Editor().visit(tree)
    return edited if not left and isinstance(edited, ast.Module) else None


def _made(node: ast.AST, edit: Replacement) -> ast.AST | None:
    body = ast.parse(edit.code if edit.statement else f"({edit.code})").body
    if len(body) != 1:
        return None
    if edit.statement:
        return body[0]
    value = body[0].value if isinstance(body[0], ast.Expr) else None
    if value is None:
        return None
    if edit.keyword is None:
        # The same expression stands where a value is read; a place that is written to is no place for one.
        return value if isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else None
    if not isinstance(node, ast.Call) or any(k.arg == edit.keyword for k in node.keywords):
        return None
    node.keywords.append(ast.keyword(edit.keyword, value))
    return node


def _comments(text: str) -> Counter[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return Counter()
    return Counter(token.string.strip() for token in tokens if token.type == tokenize.COMMENT)


def unknown_name(code: str, target: ast.AST, facts: FileFacts, around: Surroundings) -> str | None:
    """A name that new code reads and that has no value at its place, None where all have one.

    Args:
        code: the source of an expression or statement.
        target: the node that it stands for or in.
    """
    said = {node.id for node in descend(target) if isinstance(node, ast.Name)}
    read = {n.id for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for name in sorted(read - said):
        held = around.held((name,), target)
        if held and name in facts.names.imports:
            return name  # the function has another thing of that name
        if held or hasattr(builtins, name):
            continue
        top = [s for s in facts.tree.body if position(s) < position(target) or facts.function(target) is not None]
        if not any(name in around.definitions.bound(statement) for statement in top):
            return name
    return None
