"""The book that a survey keeps: bindings, members of classes, options of parsers, names inside strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from guard.documents.expressions import dotted
from guard.documents.outline import (
    Access,
    Binding,
    Call,
    ClassOutline,
    FunctionOutline,
    Import,
    Read,
    Root,
    Segment,
)
from guard.documents.scopes import UNKNOWN, Keep, Scope

_NAMESPACES = {"SimpleNamespace", "Namespace", "Mock", "MagicMock", "AsyncMock", "make_dataclass", "DummyConfig"}
_REGISTERED = {"register_buffer", "register_parameter", "add_module", "register_module", "__setattr__", "setattr"}
_PATCHES = {"patch", "setattr", "delattr", "import_module", "import_string"}
_TARGET = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){2,}")
_SPECIAL = _NAMESPACES | _REGISTERED | _PATCHES | {"add_argument", "getattr", "hasattr", "namedtuple", "update", "vars"}
_LONGEST_TEXT = 300


@dataclass(frozen=True, slots=True)
class Methods:
    """Some methods of a class, surveyed without the rest of it, and what they say of the class.

    Attributes:
        members: names that they bind in the class, with their line.
        asked: names that the class's own body is asked for, by decorators, defaults and annotations.
        stored, types, dynamic: see `ClassOutline`.
    """

    segment: Segment
    members: dict[str, int]
    asked: frozenset[str]
    stored: dict[str, int]
    types: dict[str, str]
    dynamic: bool


Lookup = Callable[[str], Root | None]


class Ledger:
    """Collects the facts of one segment."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: list[bytes] | None = None
        self.keep = Keep()
        self.imports: list[Import] = []
        self.functions: list[FunctionOutline] = []
        self.module_names: set[str] = set()
        self._bindings: list[Binding] = []
        self._classes: list[ClassOutline] = []
        self._attributes: set[str] = set()
        self._options: list[tuple[str, str, int]] = []
        self._option_stores: set[str] = set()
        self._option_classes: set[str] = set()
        self._probed: set[tuple[str, str]] = set()
        self._targets: list[tuple[str, str, int]] = []
        self._repeated: list[tuple[str, str, int]] = []
        self._stored: dict[str, dict[str, int]] = {}
        self._types: dict[str, dict[str, str]] = {}
        self._fields: dict[str, list[tuple[str, bool, int]]] = {}
        self._dynamic: set[str] = set()

    def segment(self, scope: Scope) -> Segment:
        """Everything noted, with what the module's own scope was left with."""
        return Segment(
            tuple(self._bindings),
            tuple(self.imports),
            tuple(Read(*read) for read in scope.reads),
            (*self.keep.accesses, *(Access(*access) for access in scope.accesses)),
            (*self.keep.calls, *(Call(*call) for call in scope.calls)),
            tuple(self.functions),
            tuple(self._classes),
            frozenset(self.module_names | scope.bound.keys()),
            frozenset(self._attributes),
            tuple(self._options),
            frozenset(self._option_stores),
            frozenset(self._option_classes),
            frozenset(self._probed),
            tuple(self._targets),
            tuple(self._repeated),
        )

    def methods(self, scope: Scope, owner: str, members: dict[str, int]) -> Methods:
        """Everything noted of methods of the class `owner`, with what the module's own scope was left with."""
        self._attributes.update(members)
        segment = self.segment(scope)
        return Methods(
            segment,
            members,
            asked_for(segment, owner),
            self._stored.get(owner, {}),
            self._types.get(owner, {}),
            owner in self._dynamic,
        )

    def text_of(self, node: ast.AST) -> str:
        """The source of an expression or statement, on one line and not without end."""
        if isinstance(node, ast.Constant):
            return repr(node.value)[:_LONGEST_TEXT]
        if self._lines is None:
            self._lines = self._text.encode().split(b"\n")
        start, end = node.lineno - 1, node.end_lineno - 1  # type: ignore[attr-defined]
        rows = self._lines[start : end + 1]
        rows[-1] = rows[-1][: node.end_col_offset]  # type: ignore[attr-defined]
        rows[0] = rows[0][node.col_offset :]  # type: ignore[attr-defined]
        return " ".join(b" ".join(rows).decode("utf-8", "replace").split())[:_LONGEST_TEXT]

    def binding(
        self, scope: Scope, block: str, name: str, kind: str, node: ast.stmt, flags: int, text: str | None = None
    ) -> None:
        """A name bound by a statement."""
        said = self.text_of(node) if text is None else text
        self._bindings.append(Binding(scope.qualname, block, name, kind, node.lineno, said, flags))

    # objects

    def store(self, root: Root, path: tuple[str, ...], line: int, lookup: Lookup) -> None:
        """`root.path = …`: the last name becomes an attribute of something."""
        self._attributes.add(path[-1])
        if is_options(path[-2] if len(path) > 1 else root.text):
            self._option_stores.add(path[-1])
        owner = lookup(root.text) if root.kind == "global" and len(path) == 1 else None
        if owner is not None and owner.kind in {"self", "class"}:
            self._stored.setdefault(owner.text, {}).setdefault(path[0], line)

    def typed(self, owner: Root | None, attribute: str, value: Root) -> None:
        """`self.attribute = value`: note the class of what is stored, or that it is not known."""
        if owner is None or owner.kind not in {"self", "class"}:
            return
        types = self._types.setdefault(owner.text, {})
        kind = value.text if value.kind == "instance" else ""
        types[attribute] = kind if types.get(attribute, kind) == kind else ""

    def annotated(self, owner: str, name: str, node: ast.AnnAssign, kind: str) -> None:
        """A field in a class body."""
        value = node.value
        optional = value is not None
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in {"field", "Field", "ib", "attrib"}:
            names = {keyword.arg for keyword in value.keywords}
            optional = bool(names & {"default", "default_factory", "init", "factory"}) or bool(value.args)
        plain = dotted(node.annotation).rpartition(".")[2]
        if isinstance(node.annotation, ast.Subscript):
            plain = dotted(node.annotation.value).rpartition(".")[2]
        if plain != "ClassVar":
            self._fields.setdefault(owner, []).append((name, optional, node.lineno))
        self._types.setdefault(owner, {})[name] = kind

    def class_outline(self, node: ast.ClassDef, scope: Scope, decorators: tuple[str, ...], flags: int) -> None:
        """Close a class: what its body bound, what its methods stored."""
        qualname = scope.qualname
        members: dict[str, int] = {}
        for statement in _flat(node.body):
            for name in _bound_by(statement):
                members.setdefault(name, statement.lineno)
        members = {name: members.get(name, node.lineno) for name in scope.bound}
        for statement in node.body:
            if isinstance(statement, ast.Assign) and dotted(statement.targets[0]) in {"__slots__", "_fields_"}:
                self._attributes.update(_strings(statement.value))
                self._stored.setdefault(qualname, {}).update(dict.fromkeys(_strings(statement.value), statement.lineno))
        self._attributes.update(members)
        dynamic = qualname in self._dynamic or "__getattr__" in members or "__getattribute__" in members
        self._classes.append(
            ClassOutline(
                qualname,
                _bases(node),
                decorators,
                members,
                tuple(self._fields.get(qualname, ())),
                self._stored.get(qualname, {}),
                self._types.get(qualname, {}),
                dynamic,
                node.lineno,
                flags,
            )
        )

    # calls

    def special_call(self, node: ast.Call, root: Root, path: tuple[str, ...], scope: Scope, lookup: Lookup) -> None:
        """Calls that define, ask for or name attributes: setattr, getattr, add_argument, mock.patch and the like."""
        name = path[-1] if path else root.text
        if name not in _SPECIAL and "arg" not in name.lower():
            return
        strings = [a.value if isinstance(a, ast.Constant) and isinstance(a.value, str) else None for a in node.args]
        if name == "add_argument":
            self._option(node, strings, scope)
        elif name in {"getattr", "hasattr"} and len(strings) > 1 and strings[1]:
            self._probed.add((scope.qualname, strings[1]))
        elif name in _NAMESPACES:
            self._attributes.update(keyword.arg for keyword in node.keywords if keyword.arg)
        elif name == "namedtuple" and len(node.args) > 1:
            self._attributes.update(_strings(node.args[1]))
        if name in _REGISTERED and strings:
            self._registered(node, name, strings, path, root, lookup)
        if name in _PATCHES and strings and strings[0] and _TARGET.fullmatch(strings[0]):
            self._targets.append((strings[0], scope.qualname, node.lineno))
        if "arg" in name.lower():
            for argument in node.args:
                said = dotted(argument)
                if said.rpartition(".")[2][:1].isupper():
                    self._option_classes.add(said)
        if name in {"update", "vars"} and (path[-2:-1] == ("__dict__",) or (not path and name == "vars")):
            self._dynamic_owner(root if path else Root("global", dotted(node.args[0]) if node.args else ""), lookup)

    def _registered(
        self, node: ast.Call, name: str, strings: list[str | None], path: tuple[str, ...], root: Root, lookup: Lookup
    ) -> None:
        on_object = name == "setattr" and not path
        position = 1 if on_object else 0
        attribute = strings[position] if len(strings) > position else None
        target = Root("global", dotted(node.args[0])) if on_object else root
        if attribute:
            self.store(target, (attribute,), node.lineno, lookup)
        elif on_object or name == "__setattr__":
            self._dynamic_owner(target, lookup)

    def _dynamic_owner(self, root: Root, lookup: Lookup) -> None:
        owner = lookup(root.text) if root.kind == "global" else None
        if owner is not None and owner.kind in {"self", "class"}:
            self._dynamic.add(owner.text)

    def _option(self, node: ast.Call, strings: list[str | None], scope: Scope) -> None:
        given = next((k.value for k in node.keywords if k.arg == "dest"), None)
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            dest = given.value
        else:
            names = [text for text in strings if text]
            long = [text for text in names if text.startswith("--")] or names
            if not long:
                return
            dest = long[0].lstrip("-").replace("-", "_")
        self._options.append((dest, scope.qualname, node.lineno))
        self._attributes.add(dest)

    # dictionaries

    def known_keys(self, name: str, value: ast.expr, scope: Scope) -> None:
        """`name = {…}` or `name = dict(…)`: remember the keys, for `f(**name)`."""
        keys: tuple[str, ...] | None = None
        if isinstance(value, ast.Dict):
            said = [k.value if isinstance(k, ast.Constant) else None for k in value.keys]
            if all(isinstance(key, str) for key in said):
                keys = tuple(key for key in said if isinstance(key, str))
        elif isinstance(value, ast.Call) and dotted(value.func) == "dict" and not value.args:
            names = [keyword.arg for keyword in value.keywords if keyword.arg]
            keys = tuple(names) if len(names) == len(value.keywords) else None
        scope.keys[name] = keys if name not in scope.keys else None

    def spread(self, node: ast.Call, scope: Scope) -> tuple[str, ...] | None:
        """Names that `**mapping` passes; None where that cannot be told. What is added to it later only adds names."""
        keys: tuple[str, ...] = ()
        for keyword in node.keywords:
            if keyword.arg is None:
                name = keyword.value.id if isinstance(keyword.value, ast.Name) else ""
                known = scope.keys.get(name)
                if known is None:
                    return None
                keys += known
        return keys

    def dict_display(self, node: ast.Dict, scope: Scope) -> None:
        """Keys that one display holds twice: the first value is dead."""
        seen: set[object] = set()
        for key in node.keys:
            if isinstance(key, ast.Constant):
                if key.value in seen:
                    self._repeated.append((repr(key.value), scope.qualname, key.lineno))
                seen.add(key.value)


def asked_for(segment: Segment, scope: str) -> frozenset[str]:
    """Names that code of a scope itself reads and that nothing around it binds."""
    return frozenset(read.name for read in segment.reads if read.scope == scope)


def _bases(node: ast.ClassDef) -> tuple[str, ...]:
    """Dotted bases of a class; its metaclass `ABCMeta` counts as the base that has it."""
    bases = [dotted(base.value if isinstance(base, ast.Subscript) else base) or "?" for base in node.bases]
    metas = [dotted(keyword.value) for keyword in node.keywords if keyword.arg == "metaclass"]
    return (*bases, *("abc.ABC" for meta in metas if meta.rpartition(".")[2] == "ABCMeta"))


def is_options(name: str) -> bool:
    """Whether an object of this name holds the options of a command line."""
    return name.lower().rstrip("_").endswith(("args", "opts", "options", "namespace"))


def value_root(value: ast.expr, lookup: Lookup) -> Root:
    """What a local that is assigned this expression stands for, as far as one can tell without running it."""
    if isinstance(value, ast.Call):
        name = dotted(value.func)
        if name and lookup(name.split(".", 1)[0]) is None:
            return Root("instance", name)
    elif isinstance(value, ast.Name):
        return lookup(value.id) or UNKNOWN
    elif isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        owner = lookup(value.value.id)
        if owner is not None and owner.kind == "self":
            return Root("member", f"{owner.text}|{value.attr}")
    return UNKNOWN


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            if isinstance(statement, ast.If | ast.Try | ast.With):
                yield from _flat(getattr(statement, part, []))


def _bound_by(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    return []


def _strings(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return node.value.replace(",", " ").split() if isinstance(node.value, str) else []
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [text for item in node.elts for text in _strings(item)]
    if isinstance(node, ast.Dict):
        return [text for key in node.keys if key for text in _strings(key)]
    return []


def arity(value: ast.expr | None) -> int:
    """How many values a `return` of an expression gives (see `FunctionOutline.returns`)."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return 0
    if isinstance(value, ast.Tuple):
        return -1 if any(isinstance(item, ast.Starred) for item in value.elts) else len(value.elts)
    return 1 if isinstance(value, ast.Constant | ast.JoinedStr | ast.Compare | ast.Dict) else -1
