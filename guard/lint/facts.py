"""One parsed file: parents, statements, scopes and the names that its imports bring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from guard.errors import NotAnalysedError
from guard.lint.modules import ClassFacts, ModuleFacts, module_facts, module_of
from guard.lint.nodes import NodeIndex, descend, parents_of
from guard.lint.patterns import dotted
from guard.lint.project import ProjectIndex

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Deeper trees than any hand-written code; the recursive part of matching stays far below Python's own limit.
MAX_DEPTH = 220


class FileFacts:
    """Facts of one file, computed once for all rules.

    Args:
        path: path inside the tree.
        text: decoded source with newlines.
        project: the tree around it, or None for a file on its own.

    Raises:
        NotAnalysedError: the text is no Python, or is nested more deeply than any hand-written program.
    """

    def __init__(self, path: str, text: str, project: ProjectIndex | None) -> None:
        try:
            self.tree = ast.parse(text)
        except SyntaxError as problem:
            raise NotAnalysedError(f"line {problem.lineno or 1}: {problem.msg}") from None
        except RecursionError as problem:
            raise NotAnalysedError(f"nested too deeply: {problem}") from None
        except (ValueError, MemoryError) as problem:
            raise NotAnalysedError(f"cannot be parsed: {problem or type(problem).__name__}") from None
        self.path = path
        self.text = text
        self.project = project
        self.module, self.package = module_of(path)
        parents = parents_of(self.tree, MAX_DEPTH)
        if parents is None:
            raise NotAnalysedError(f"nested more than {MAX_DEPTH} levels deep")
        self.parents = parents
        self._indexes: dict[ast.AST, NodeIndex] = {}
        self._adopted: dict[ast.AST, ast.stmt] = {}

    def index(self, scope: ast.AST) -> NodeIndex:
        """The nodes under a scope; a scope is made once."""
        found = self._indexes.get(scope)
        if found is None:
            nodes = [scope, *self.parents] if scope is self.tree else descend(scope)
            found = self._indexes[scope] = NodeIndex(nodes, self.names.imports)
        return found

    @cached_property
    def names(self) -> ModuleFacts:
        """Imports and top-level definitions of this file."""
        return module_facts(self.tree, self.module, self.package)

    def adopt(self, node: ast.AST, statement: ast.stmt) -> None:
        """Note from which statement a made-up node is to be read."""
        for part in ast.walk(node):
            if part not in self.parents:
                self._adopted[part] = statement

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The smallest statement that a node is part of."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            if current in self._adopted:
                return self._adopted[current]
            current = self.parents.get(current)
        return current

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        start: ast.AST = self._adopted.get(node, node)
        if start is not node:
            yield start
        current = self.parents.get(start)
        while current is not None:
            yield current
            current = self.parents.get(current)

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """Everything around a node, nearest first."""
        return list(self._around(node))

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The nearest `def` around a node."""
        for above in self._around(node):
            if isinstance(above, _DEFS):
                return above
        return None

    def outermost(self, node: ast.AST) -> ast.AST:
        """The outermost function around a node, else the module: the scope in which order of calls is judged."""
        best: ast.AST = self.tree
        for above in self.ancestors(node):
            if isinstance(above, _DEFS):
                best = above
        return best

    def class_(self, node: ast.AST) -> ast.ClassDef | None:
        """The nearest class around a node."""
        return next((above for above in self._around(node) if isinstance(above, ast.ClassDef)), None)

    def symbol(self, node: ast.AST) -> str:
        """Dotted name, inside the file, of the smallest definition around a node; `<module>` at top level."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        around = [node, *self.ancestors(node)]
        return ".".join(reversed([above.name for above in around if isinstance(above, kinds)])) or "<module>"

    def qualified(self, node: ast.AST) -> str | None:
        """The qualified name of a name or attribute chain through imports and this file's own definitions."""
        text = dotted(node)
        if text is None:
            return None
        root, _, rest = text.partition(".")
        origin = self.names.imports.get(root)
        if origin is None and (root in self.names.functions or root in self.names.classes):
            origin = f"{self.module}.{root}" if self.module else root
        if origin is None:
            return None
        return f"{origin}.{rest}" if rest else origin

    def canonical(self, node: ast.AST) -> str | None:
        """The same, with re-exports followed where the tree has them."""
        name = self.qualified(node)
        if name is None or self.project is None:
            return name
        return self.project.canonical(name)

    def hierarchy(self, node: ast.ClassDef) -> list[tuple[str, ClassFacts | None]]:
        """A class of this file and its bases: qualified names, with facts where the tree has them."""
        own = self.names.classes.get(node.name)
        rows: list[tuple[str, ClassFacts | None]] = [(f"{self.module}.{node.name}", own)]
        for base in node.bases:
            name = self.canonical(base) or dotted(base)
            if name is None:
                continue
            if self.project is not None:
                rows.extend(self.project.bases(name))
            else:
                local = self.names.classes.get(name.rpartition(".")[2])
                rows.append((name, local))
                rows.extend(self.hierarchy(local.node) if local is not None and local.node is not node else [])
        return rows
