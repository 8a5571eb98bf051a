"""One tree as Python modules: which file an import means, and what a file gives to those who import it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from guard.documents.kinds import is_python
from guard.documents.outline import ClassOutline, FunctionOutline, Import, ModuleOutline

_DOTTED = re.compile(r"[A-Za-z_][\w.]*")

OutlineOf = Callable[[str], ModuleOutline]


class ModuleView:
    """What a file binds at module level, by name. Lines are lines of the file."""

    __slots__ = (
        "__weakref__",
        "_lines",
        "aliases",
        "classes",
        "dynamic",
        "functions",
        "imports",
        "names",
        "outline",
        "path",
        "stars",
    )

    def __init__(self, path: str, outline: ModuleOutline) -> None:
        self.path = path
        self.outline = outline
        self._lines: dict[int, int] | None = None
        self.names: set[str] = set()
        self.imports: dict[str, list[Import]] = {}
        self.functions: dict[str, list[FunctionOutline]] = {}
        self.classes: dict[str, list[ClassOutline]] = {}
        self.stars: list[Import] = []
        self.aliases: dict[str, str] = {}
        for _, segment in outline.parts:
            self.names |= segment.module_names
            for fact in segment.imports:
                if not fact.scope:
                    if fact.name == "*":
                        self.stars.append(fact)
                    else:
                        self.imports.setdefault(fact.bound, []).append(fact)
            for binding in segment.bindings:
                if binding.kind == "assign" and not binding.scope:
                    said = binding.text.partition("=")[2].strip()
                    plain = said if _DOTTED.fullmatch(said) and binding.name not in self.aliases else ""
                    self.aliases[binding.name] = plain
            for function in segment.functions:
                self.functions.setdefault(function.qualname, []).append(function)
            for kind in segment.classes:
                self.classes.setdefault(kind.qualname, []).append(kind)
        self.dynamic = "__getattr__" in self.names or bool(outline.error)

    def line_of(self, item: FunctionOutline | ClassOutline) -> int:
        """The line of a definition in the file."""
        if self._lines is None:
            self._lines = {}
            for offset, segment in self.outline.parts:
                held: Iterable[FunctionOutline | ClassOutline] = (*segment.functions, *segment.classes)
                self._lines.update((id(one), offset + one.line) for one in held)
        return self._lines.get(id(item), item.line)


@dataclass(frozen=True, slots=True)
class Target:
    """What a name means: `kind` is `module`, `function`, `class`, `value`, `external`, `missing` or `unknown`.

    Attributes:
        path: the file that defines it.
        name: qualified name in that file; empty for a module.
        bound: the function is reached through an object, so that its first argument is filled already.
    """

    kind: str
    path: str = ""
    name: str = ""
    bound: bool = False


EXTERNAL = Target("external")
UNKNOWN = Target("unknown")


class ModuleIndex:
    """Python files of one tree by the names they can be imported under."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(path for path in paths if is_python(path))
        self._directories: set[str] = set()
        packages = {posixpath.dirname(path) for path in self.paths if posixpath.basename(path) == "__init__.py"}
        for path in self.paths:
            directory = posixpath.dirname(path)
            while directory and directory not in self._directories:
                self._directories.add(directory)
                directory = posixpath.dirname(directory)
        # A directory that holds a package and is none itself is where imports may start (src layouts, sub-projects).
        roots = {posixpath.dirname(package) for package in packages if posixpath.dirname(package) not in packages}
        self._roots = ("", *sorted(root for root in roots if root))
        self._found: dict[tuple[str, int, str], Target] = {}

    def find(self, module: str, level: int, importer: str) -> Target:
        """The module that an import statement of the file `importer` names.

        Returns:
            `module` with its path (empty for a namespace package, then `name` is the directory), `missing` where
            the repository holds the package but not this module, `external` for everything else.
        """
        key = (module, level, posixpath.dirname(importer))
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._find(*key)
        return known

    def _find(self, module: str, level: int, here: str) -> Target:
        parts = module.replace(".", "/")
        if level:
            for _ in range(level - 1):
                here = posixpath.dirname(here)
            return self._at(posixpath.join(here, parts) if parts else here) or Target("missing")
        found = self._under(self._roots, parts) or self._at(posixpath.join(here, parts))
        if found:
            return found
        top = parts.split("/", 1)[0]
        inside = "/" in parts and any(self._package(posixpath.join(root, top)) for root in self._roots)
        return Target("missing") if inside else EXTERNAL

    def child(self, target: Target, name: str) -> Target | None:
        """The submodule `name` of a package."""
        if target.path:
            if posixpath.basename(target.path) != "__init__.py":
                return None
            return self._at(posixpath.join(posixpath.dirname(target.path), name))
        return self._at(posixpath.join(target.name, name))

    def _under(self, roots: Iterable[str], parts: str) -> Target | None:
        for root in roots:
            found = self._at(f"{root}/{parts}" if root else parts)
            if found:
                return found
        return None

    def _at(self, stem: str) -> Target | None:
        for path in (f"{stem}/__init__.py" if stem else "__init__.py", f"{stem}.py"):
            if path in self.paths:
                return Target("module", path)
        return Target("module", "", stem) if stem in self._directories else None

    def _package(self, stem: str) -> bool:
        return f"{stem}/__init__.py" in self.paths
