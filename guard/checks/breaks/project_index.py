"""One tree, linked: names followed through imports and re-exports, attributes through base classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from guard.checks.breaks.modules import EXTERNAL, UNKNOWN, ModuleIndex, ModuleView, OutlineOf, Target
from guard.documents.outline import ClassOutline, FunctionOutline, Import, Root

if TYPE_CHECKING:
    from guard.checks.breaks.callees import Callee

_DEEPEST = 12
_CONSTANTS = {"None", "True", "False"}


class World:
    """All Python files of one tree. A file is read when it is first asked for."""

    def __init__(self, name: str, paths: Iterable[str], outline_of: OutlineOf) -> None:
        self.name = name
        self.index = ModuleIndex(paths)
        self._outline_of = outline_of
        self._views: dict[str, ModuleView] = {}
        self._orders: dict[tuple[str, str], tuple[tuple[tuple[str, ClassOutline], ...], bool]] = {}
        self._members: dict[tuple[str, str], Target] = {}
        self._resolved: dict[tuple[str, Root, tuple[str, ...]], Target] = {}
        self._asked: set[tuple[Target, str]] = set()
        self.signatures: dict[Target, list[Callee]] = {}  # kept by `guard.checks.breaks.callees`

    def view(self, path: str) -> ModuleView | None:
        """A file of the tree, or None."""
        known = self._views.get(path)
        if known is None and path in self.index.paths:
            known = self._views[path] = ModuleView(path, self._outline_of(path))
        return known

    # modules

    def imported(self, fact: Import, importer: str) -> Target:
        """What an import statement brings."""
        module = self.index.find(fact.module, fact.level, importer)
        if module.kind != "module" or fact.name is None or fact.name == "*":
            return module
        return self.member_of(module, fact.name)

    def member_of(self, module: Target, name: str, depth: int = 0) -> Target:
        """The attribute `name` of a module."""
        found = Target("missing")
        if module.path:
            found = self.member(module.path, name, depth)
            if found.kind not in {"missing", "unknown"}:
                return found
        return self.index.child(module, name) or (found if module.path else Target("missing"))

    def member(self, path: str, name: str, depth: int = 0) -> Target:
        """What the file at `path` gives under a module-level name."""
        key = (path, name)
        known = self._members.get(key)
        if known is None:
            self._members[key] = UNKNOWN  # a cycle of star imports ends here
            known = self._members[key] = self._member(path, name, depth)
        return known

    def _member(self, path: str, name: str, depth: int) -> Target:
        view = self.view(path)
        if view is None or depth > _DEEPEST:
            return UNKNOWN
        kinds = [kind for kind in ("functions", "classes", "imports") if name in getattr(view, kind)]
        if kinds == ["functions"]:
            return Target("function", path, name)
        if kinds == ["classes"]:
            return Target("class", path, name)
        if kinds == ["imports"]:
            return self._through_import(view, view.imports[name], name, depth)
        if kinds:
            return Target("value", path, name)
        alias = view.aliases.get(name)
        if alias and alias.split(".")[0] != name and name not in _CONSTANTS:
            found = self.dotted(path, alias)
            return found if found.kind in {"module", "class", "function"} else Target("value", path, name)
        if name in view.names or name in {"__file__", "__name__", "__doc__", "__path__", "__all__", "__version__"}:
            return Target("value", path, name)
        unknown = view.dynamic
        for star in view.stars:
            module = self.index.find(star.module, star.level, path)
            if module.kind != "module" or not module.path:
                unknown = True
                continue
            found = self.member(module.path, name, depth + 1)
            if found.kind == "unknown":
                unknown = True
            elif found.kind != "missing":
                return found
        return UNKNOWN if unknown else Target("missing")

    def _through_import(self, view: ModuleView, facts: list[Import], name: str, depth: int) -> Target:
        found = EXTERNAL
        for fact in facts:
            module = self.index.find(fact.module, fact.level, view.path)
            if module.kind == "missing":
                found = UNKNOWN  # the import itself is reported where it stands
                continue
            if module.kind != "module":
                continue
            if fact.name is None:
                if fact.bound == fact.module.split(".")[0] and "." in fact.module:
                    return self.index.find(fact.bound, 0, view.path)
                return module
            inner = self.member_of(module, fact.name, depth + 1)
            if inner.kind in {"function", "class", "module", "value"}:
                return inner
            found = UNKNOWN
        return found

    # expressions

    def resolve(self, path: str, root: Root, attributes: tuple[str, ...]) -> Target:
        """What a dotted expression in the file at `path` means."""
        key = (path, root, attributes)
        known = self._resolved.get(key)
        if known is None:
            known = self._resolved[key] = self.follow(self.start(path, root), attributes)
        return known

    def start(self, path: str, root: Root) -> Target:
        """What the first name of a dotted expression means; instances are `object` targets of their class."""
        if root.kind == "global":
            return self.member(path, root.text)
        if root.kind == "import":
            level, module, name = root.text.split("|")
            return self.imported(Import(module, int(level), name or None, "", "", 0, 0), path)
        if root.kind == "instance":
            found = self.instance_of(self.dotted(path, root.text))
            # What a function of a package gives back may be an object of anything: an actor, what was stored.
            is_class = root.text.rpartition(".")[2][:1].isupper()
            return UNKNOWN if found.kind == "external" and not is_class else found
        if root.kind in {"self", "class", "super"}:
            kind = {"self": "object", "class": "class", "super": "super"}[root.kind]
            return Target(kind, path, root.text) if root.text else UNKNOWN
        if root.kind == "member":
            owner, _, attribute = root.text.partition("|")
            return self.follow(Target("object", path, owner), (attribute,))
        if root.kind == "def":
            view = self.view(path)
            if view and root.text in view.functions:
                return Target("function", path, root.text)
        return UNKNOWN

    def dotted(self, path: str, text: str) -> Target:
        """What a dotted text at module level of the file means."""
        first, *rest = text.split(".")
        return self.follow(self.member(path, first), tuple(rest))

    @staticmethod
    def instance_of(target: Target) -> Target:
        """An object of a class; what the class of a package outside the repository gives is not known here."""
        if target.kind == "external":
            return EXTERNAL
        return Target("object", target.path, target.name) if target.kind == "class" else UNKNOWN

    def follow(self, target: Target, attributes: tuple[str, ...]) -> Target:
        """Attributes of a target, one after the other."""
        for name in attributes:
            if target.kind == "module":
                target = self.member_of(target, name)
            elif target.kind in {"class", "object", "super"}:
                target = self._attribute(target, name)
            else:
                return target if target.kind in {"external", "missing"} else UNKNOWN
        return target

    def _attribute(self, owner: Target, name: str) -> Target:
        """An attribute of a class or object. One that is made of itself (`self.options = Runner.options.copy()`, also
        through other classes, bases or modules) is unknown: a question that is being asked is not asked again.
        """
        key = (owner, name)
        if key in self._asked:
            return UNKNOWN
        self._asked.add(key)
        try:
            return self._attribute_of_class(owner, name)
        finally:
            self._asked.discard(key)

    def _attribute_of_class(self, owner: Target, name: str) -> Target:
        order, complete = self.order(owner.path, owner.name)
        for index, (path, kind) in enumerate(order):
            if owner.kind == "super" and index == 0:
                continue
            view = self.view(path)
            qualname = f"{kind.qualname}.{name}"
            if view and qualname in view.functions and name in kind.members:
                decorators = view.functions[qualname][-1].decorators
                if any(said.rpartition(".")[2] in {"property", "cached_property", "setter"} for said in decorators):
                    return self._typed(path, view.functions[qualname][-1])
                static = "staticmethod" in decorators
                by_class = "classmethod" in decorators
                bound = not static and (by_class or owner.kind != "class")
                return Target("function", path, qualname, bound)
            if view and qualname in view.classes:
                return Target("class", path, qualname)
            if name in kind.types:
                said = kind.types[name]
                return self.instance_of(self.dotted(path, said)) if said else UNKNOWN
            if name in kind.members or name in kind.stored:
                return UNKNOWN
        return Target("missing") if complete else EXTERNAL  # a base outside the repository gives it

    @staticmethod
    def _typed(path: str, function: FunctionOutline) -> Target:
        return UNKNOWN

    # classes

    def order(self, path: str, name: str) -> tuple[tuple[tuple[str, ClassOutline], ...], bool]:
        """A class and its bases inside the repository, nearest first; and whether no base is outside it."""
        key = (path, name)
        known = self._orders.get(key)
        if known is None:
            self._orders[key] = ((), False)
            known = self._orders[key] = self._order(path, name)
        return known

    def _order(self, path: str, name: str) -> tuple[tuple[tuple[str, ClassOutline], ...], bool]:
        view = self.view(path)
        kinds = view.classes.get(name) if view else None
        if not kinds:
            return (), False
        found: list[tuple[str, ClassOutline]] = []
        complete = True
        for kind in kinds:
            found.append((path, kind))
            complete = complete and not kind.dynamic
            for base in kind.bases:
                if base in {"object", "ABC", "abc.ABC", "Generic", "Protocol", "typing.Generic", "Enum", "enum.Enum"}:
                    complete = complete and "num" not in base
                    continue
                target = self.dotted(path, base) if base != "?" else UNKNOWN
                if target.kind != "class":
                    complete = False
                    continue
                inner, whole = self.order(target.path, target.name)
                complete = complete and whole
                found.extend(item for item in inner if item not in found)
        return tuple(found), complete

    def functions_of(self, target: Target) -> list[FunctionOutline]:
        """All definitions of a function target (several where they stand in branches)."""
        view = self.view(target.path)
        return view.functions.get(target.name, []) if view else []

    def constructor(self, target: Target) -> Target | None:
        """The `__init__` that a class inside the repository takes; None where it may be somebody else's."""
        for path, kind in self.order(target.path, target.name)[0]:
            if "__init__" in kind.members:
                return Target("function", path, f"{kind.qualname}.__init__", bound=True)
            if any(self._outside(path, base) for base in kind.bases):
                return None
        return None

    def _outside(self, path: str, base: str) -> bool:
        return base != "object" and (base == "?" or self.dotted(path, base).kind != "class")

    def subclasses(self, paths: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
        """(path, class, base path, base class) of all classes of the files that have a base in the repository."""
        for path in paths:
            view = self.view(path)
            for kinds in view.classes.values() if view else ():
                for kind in kinds:
                    for base in kind.bases:
                        target = self.dotted(path, base) if base != "?" else UNKNOWN
                        if target.kind == "class":
                            yield path, kind.qualname, target.path, target.name
