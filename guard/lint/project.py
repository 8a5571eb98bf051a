"""The tree around a file: modules found by name, re-exports followed, classes with their bases, words searched.

Works over a `read(path)` function and a list of paths, so that a directory and a git tree are alike. Every answer
notes what it depended on, so that a cache can tell whether a result still stands.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

from guard.documents.decoding import decode
from guard.documents.kinds import is_python
from guard.errors import NotAnalysedError
from guard.lint.directory import python_files
from guard.lint.modules import ClassFacts, ModuleFacts, candidate_paths, module_facts, module_of

Read = Callable[[str], bytes | None]
Def = ast.FunctionDef | ast.AsyncFunctionDef


class Blob(Protocol):
    """What a git tree has at a path."""

    @property
    def sha(self) -> str:
        """The object's name."""


def digest(data: bytes | None) -> str:
    """Content hash of a file, or `-` where there is none."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest() if data is not None else "-"


class ProjectIndex:
    """Questions about the modules of one tree, and of installed packages by reading their files.

    Args:
        paths: the tree's Python files, with forward slashes.
        read: the bytes of a path, None where there is none. It must also work in a forked process.
        installed: directories of installed packages, read only where the tree has no such module.
    """

    def __init__(self, paths: Iterable[str], read: Read, installed: Sequence[Path] = ()) -> None:
        self._read = read
        self._installed = tuple(installed)
        self._listing = paths
        self._modules: dict[str, ModuleFacts | None] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        self._states: dict[str, str] = {}
        self.touched: set[str] = set()

    @classmethod
    def of_directory(cls, root: Path, installed: Sequence[Path] = ()) -> ProjectIndex:
        """The index of a directory: its files are listed when the first question needs them, and read on demand."""
        known: dict[str, bytes | None] = {}

        def read(path: str) -> bytes | None:
            if path not in known:
                try:
                    # A pipe or a link to a device has no end.
                    known[path] = (root / path).read_bytes() if (root / path).is_file() else None
                except OSError:
                    known[path] = None
            return known[path]

        return cls(python_files(root), read, installed)

    @classmethod
    def of_tree(cls, entries: Mapping[str, Blob], blob: Callable[[str], bytes]) -> ProjectIndex:
        """The index of a git tree.

        Args:
            entries: path to what the tree has there.
            blob: bytes of an object by SHA.
        """
        return cls(entries, lambda path: blob(entries[path].sha) if path in entries else None)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The tree's Python files."""
        return tuple(path for path in self._listing if is_python(path))

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for path in self.paths:
            table.setdefault(module_of(path)[0].rpartition(".")[2], []).append(path)
        return table

    def data(self, path: str) -> bytes | None:
        """Bytes of a file of the tree or, for an absolute path, of an installed package."""
        if path.startswith("/"):
            try:
                return Path(path).read_bytes()
            except OSError:
                return None
        return self._read(path)

    def locate(self, module: str) -> str | None:
        """Path of a module: an exact one, else the shortest that ends in it, else that of an installed package."""
        self.touched.add(f"module:{module}")
        tail = module.rpartition(".")[2]
        suffix = "." + module
        best: str | None = None
        for path in self._by_tail.get(tail, ()):
            name = module_of(path)[0]
            if name == module:
                return path
            if name.endswith(suffix) and (best is None or len(path) < len(best)):
                best = path
        if best is not None:
            return best
        for root in self._installed:
            for candidate in candidate_paths(module):
                place = root / candidate
                if place.is_file():
                    return place.as_posix()
        return None

    def module(self, module: str) -> ModuleFacts | None:
        """Facts of a module, None where it is not found or does not parse."""
        path = self.locate(module)
        return self.module_at(path, module) if path is not None else None

    def module_at(self, path: str, module: str | None = None) -> ModuleFacts | None:
        """Facts of the module at a path."""
        self.touched.add(f"file:{path}")
        if path not in self._modules:
            name, package = module_of(path)
            data = self.data(path)
            facts: ModuleFacts | None = None
            if data is not None:
                try:
                    facts = module_facts(ast.parse(decode(data).text), module or name, package)
                except (NotAnalysedError, SyntaxError, ValueError, RecursionError, MemoryError):
                    facts = None
            self._modules[path] = facts
        return self._modules[path]

    def canonical(self, name: str, depth: int = 8) -> str:
        """Follow re-exports: the name under which the thing is defined, as far as the tree tells."""
        owner, _, member = name.rpartition(".")
        if not owner or depth == 0:
            return name
        facts = self.module(owner)
        if facts is None:
            above = self.canonical(owner, depth - 1)
            return f"{above}.{member}" if above != owner else name
        if member in facts.functions or member in facts.classes:
            return f"{facts.module}.{member}"
        if member in facts.imports and facts.imports[member] != name:
            return self.canonical(facts.imports[member], depth - 1)
        for star in facts.stars:
            found = self.canonical(f"{star}.{member}", depth - 1)
            if self.function(found) is not None or self.class_(found) is not None:
                return found
        return name

    def function(self, name: str) -> Def | None:
        """The definition of a top-level function, or of a method named through its class."""
        owner, _, member = name.rpartition(".")
        if not owner:
            return None
        facts = self.module(owner)
        if facts is not None:
            return facts.functions.get(member)
        holder = self.class_(owner)
        return self.method(owner, member) if holder is not None else None

    def class_(self, name: str) -> ClassFacts | None:
        """A top-level class by canonical name."""
        owner, _, member = name.rpartition(".")
        facts = self.module(owner) if owner else None
        return facts.classes.get(member) if facts is not None else None

    def bases(self, name: str) -> Iterator[tuple[str, ClassFacts | None]]:
        """A class and all its bases, nearest first; None where a base is not in the tree."""
        seen: set[str] = set()
        queue = [name]
        while queue:
            current = self.canonical(queue.pop(0))
            if current in seen:
                continue
            seen.add(current)
            facts = self.class_(current)
            yield current, facts
            if facts is None:
                continue
            home = self.module(current.rpartition(".")[0])
            queue.extend(_seen_from(home, base) for base in facts.bases)

    def method(self, class_name: str, member: str) -> Def | None:
        """A method by the order of bases."""
        for _, facts in self.bases(class_name):
            if facts is not None and member in facts.methods:
                return facts.methods[member]
        return None

    def holding(self, word: str) -> tuple[str, ...]:
        """Paths of the tree whose bytes hold a word."""
        self.touched.add(f"word:{word}")
        if word not in self._found:
            needle = word.encode()
            hits = []
            for path in self.paths:
                data = self._read(path)
                if data is not None and needle in data:
                    hits.append(path)
            self._found[word] = tuple(hits)
        return self._found[word]

    def state(self, dependency: str) -> str:
        """What a dependency noted in `touched` looks like: equal strings mean equal answers."""
        if dependency not in self._states:
            self._states[dependency] = self._state(dependency)
        return self._states[dependency]

    def _state(self, dependency: str) -> str:
        kind, _, key = dependency.partition(":")
        if kind == "module":
            return self.locate(key) or "-"
        if kind == "file":
            return digest(self.data(key))
        parts = [f"{path}={digest(self._read(path))}" for path in self.holding(key)]
        return digest("\n".join(parts).encode("utf-8", "backslashreplace"))


def _seen_from(home: ModuleFacts | None, name: str) -> str:
    """A name as a module's imports and own definitions qualify it."""
    if home is None:
        return name
    root, _, rest = name.partition(".")
    if root in home.imports:
        return home.imports[root] + (f".{rest}" if rest else "")
    return f"{home.module}.{name}"
