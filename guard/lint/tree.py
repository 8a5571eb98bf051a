"""Questions of rules that look beyond the file: is it anywhere in the tree, is it ever given a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from guard.lint.facts import FileFacts
from guard.lint.language import Defined, Unreferenced
from guard.lint.patterns import Pattern
from guard.lint.unify import Bindings


class TreeQuestions:
    """Asks the project index of one file; a file on its own is its whole tree."""

    def __init__(self, facts: FileFacts) -> None:
        self.facts = facts

    def holds(self, pattern: Pattern) -> bool:
        """Whether every word of a pattern stands together in a file of the tree; a class must be defined there."""
        project, head = self.facts.project, pattern.head
        definition = _definition(head.name) if isinstance(head, ast.ClassDef) else None
        if project is None:
            here = self.facts.text.encode()
            words = all(word in self.facts.text for word in pattern.literals)
            return words and (definition is None or bool(definition.search(here)))
        found = [set(project.holding(word)) for word in sorted(pattern.literals)]
        paths = set.intersection(*found) if found else set()
        if definition is None:
            return bool(paths)
        return any(definition.search(project.data(path) or b"") for path in sorted(paths) if not is_test(path))

    def unreferenced(self, test: Unreferenced, env: Bindings) -> Iterator[Bindings]:
        """Classes that define the method while no other file of the tree, tests aside, says `Class.method`."""
        project = self.facts.project
        if project is None:
            return
        homes: dict[str, set[str]] = {}
        texts: dict[str, bytes] = {}
        for path in project.holding(test.method):
            if is_test(path):
                continue
            texts[path] = project.data(path) or b""
            module = project.module_at(path)
            for name, facts in (module.classes if module is not None else {}).items():
                if test.method in facts.methods:
                    homes.setdefault(name, set()).add(path)
        for name, own in sorted(homes.items()):
            said = re.compile(rb"\b%s\s*\.\s*%s\b" % (name.encode(), test.method.encode()))
            # A class's own file names the method in its messages; that sets nothing.
            if not any(said.search(text) for path, text in texts.items() if path not in own):
                yield {**env, test.bind: ast.Constant(name)}

    def defined(self, test: Defined, node: ast.AST, env: Bindings) -> bool:
        """Whether an attribute read through self is given a value; a base that is not in the tree may always do so."""
        name = env.get(test.attribute)
        word = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
        holder = self.facts.class_(node)
        if word is None or holder is None:
            return True
        for _, facts in self.facts.hierarchy(holder):
            if facts is None or word in facts.fields or word in facts.methods:
                return True
        if self.facts.project is None:
            return bool(_assignment(word).search(self.facts.text.encode()))
        paths = self.facts.project.holding(word) if test.in_ == "tree" else (self.facts.path,)
        return any(_assignment(word).search(self.facts.project.data(path) or b"") for path in paths)


def is_test(path: str) -> bool:
    """Whether a path is that of a test."""
    parts = path.split("/")
    return parts[-1].startswith("test_") or bool({"tests", "test", "testing"} & set(parts[:-1]))


def _definition(name: str) -> re.Pattern[bytes]:
    """A class of this name is defined."""
    return re.compile(rb"^[ \t]*class[ \t]+%s\b" % re.escape(name.encode()), re.MULTILINE)


def _assignment(word: str) -> re.Pattern[bytes]:
    """An attribute of this name is assigned, or is set by name."""
    raw = re.escape(word.encode())
    return re.compile(rb"\.%s\s*(?::[^=\n]+)?=[^=]|setattr\([^,\n]+,\s*['\"]%s['\"]" % (raw, raw))
