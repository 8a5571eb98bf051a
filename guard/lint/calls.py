"""Calls: which callee a call means, and which of its arguments meets which parameter of the real signature."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import IntEnum

from guard.lint.definitions import Definitions
from guard.lint.facts import FileFacts
from guard.lint.patterns import dotted
from guard.lint.unify import named_alike


class Certainty(IntEnum):
    """How sure it is that a call means the callee of a rule."""

    NO = 0
    MAYBE = 1
    YES = 2


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a callee in positional order, keyword-only ones after them, and whether more are taken."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    more_keywords: bool

    def accepts(self, name: str) -> bool:
        """Whether a parameter of this name stands in the signature itself."""
        return name in self.positional or name in self.keyword_only


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of one call by parameter name; `hidden` where `*args` or `**kwargs` may carry more."""

    given: dict[str, ast.expr]
    hidden: bool

    def passed(self, name: str) -> ast.expr | None:
        """The value passed for a parameter, None where it is not passed or is passed as None."""
        value = self.given.get(name)
        return None if isinstance(value, ast.Constant) and value.value is None else value


class Calls:
    """Answers about calls of one file."""

    def __init__(self, facts: FileFacts, definitions: Definitions) -> None:
        self.facts = facts
        self.definitions = definitions
        self._signatures: dict[ast.Call, Signature | None] = {}

    def means(self, call: ast.Call, spec: str) -> Certainty:
        """Whether a call means a callee.

        Args:
            call: the call.
            spec: a last name; `pkg.module.function`; or `Class.method`, the class by its last or its qualified name.
        """
        func = call.func
        owner, _, member = spec.rpartition(".")
        name = self.facts.qualified(func)
        last = (name or dotted(func) or "").rpartition(".")[2]
        if isinstance(func, ast.Attribute):
            last = func.attr if name is None else last
        if last != member:
            return Certainty.NO
        if not owner:
            return Certainty.YES
        if name is not None and (named_alike(spec, name) or named_alike(spec, self.facts.canonical(func) or name)):
            return Certainty.YES
        if not owner.rpartition(".")[2][:1].isupper():
            return Certainty.NO if name is not None or isinstance(func, ast.Name) else Certainty.MAYBE
        if not isinstance(func, ast.Attribute):
            return Certainty.NO
        return self._of_class(func.value, owner, member)

    def _of_class(self, receiver: ast.expr, owner: str, member: str) -> Certainty:
        names = self.classes_of(receiver)
        if names is None:
            return Certainty.MAYBE
        short = owner.rpartition(".")[2]
        unknown = False
        for name, known in names:
            if name.rpartition(".")[2] == short and (owner == short or named_alike(owner, name)):
                return Certainty.YES
            unknown = unknown or not known
        return Certainty.MAYBE if unknown and self._is_self(receiver) else Certainty.NO

    @staticmethod
    def _is_self(receiver: ast.expr) -> bool:
        return isinstance(receiver, ast.Name) and receiver.id in {"self", "cls"}

    def classes_of(self, receiver: ast.expr) -> list[tuple[str, bool]] | None:
        """Qualified names of the receiver's class and its bases, with whether each is known; None if unknown."""
        inherited = isinstance(receiver, ast.Call) and dotted(receiver.func) == "super"
        if inherited or self._is_self(receiver):
            holder = self.facts.class_(receiver)
            return self._hierarchy(holder) if holder is not None else None
        name = self.facts.canonical(receiver)
        if name is not None and name.rpartition(".")[2][:1].isupper():
            return self._bases(name)
        for definition in self.definitions.of(receiver):
            value = definition.value
            if isinstance(value, ast.Call):
                made = self.facts.canonical(value.func)
                if made is not None and made.rpartition(".")[2][:1].isupper():
                    return self._bases(made)
        return None

    def _hierarchy(self, holder: ast.ClassDef) -> list[tuple[str, bool]]:
        return [(name, facts is not None) for name, facts in self.facts.hierarchy(holder)]

    def _bases(self, name: str) -> list[tuple[str, bool]]:
        if self.facts.project is None:
            return [(name, False)]
        return [(base, facts is not None) for base, facts in self.facts.project.bases(name)]

    def signature(self, call: ast.Call) -> Signature | None:
        """The callee's real signature from this file, the tree or an installed package; None where it is not found."""
        if call not in self._signatures:
            self._signatures[call] = self._signature(call)
        return self._signatures[call]

    def _signature(self, call: ast.Call) -> Signature | None:
        func = call.func
        facts, project = self.facts, self.facts.project
        if isinstance(func, ast.Name):
            local = self._nested(func)
            if local is not None:
                return _read(local, bound=False)
        if isinstance(func, ast.Attribute) and self._is_self(func.value):
            return self._method_of_self(func)
        name = facts.canonical(func)
        if name is None:
            return self._method_of_object(func) if isinstance(func, ast.Attribute) else None
        owner, _, member = name.rpartition(".")
        if owner in {facts.module, ""}:
            if member in facts.names.functions:
                return _read(facts.names.functions[member], bound=False)
            made = facts.names.classes.get(member)
            if made is not None:
                return self._constructor(name)
        held = facts.names.classes.get(owner.rpartition(".")[2]) if owner.startswith(facts.module) else None
        if held is not None and member in held.methods:
            return _read(held.methods[member], bound=True)
        if project is None:
            return None
        if project.class_(name) is not None:
            return self._constructor(name)
        found = project.function(name)
        if found is None:
            return None
        return _read(found, bound=project.class_(owner) is not None)

    def _nested(self, func: ast.Name) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        around = self.facts.function(func)
        while around is not None:
            for statement in around.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == func.id:
                    return statement
            around = self.facts.function(around)
        return None

    def _method_of_self(self, func: ast.Attribute) -> Signature | None:
        holder = self.facts.class_(func)
        if holder is None:
            return None
        for _, facts in self.facts.hierarchy(holder):
            if facts is not None and func.attr in facts.methods:
                return _read(facts.methods[func.attr], bound=True)
        return None

    def _method_of_object(self, func: ast.Attribute) -> Signature | None:
        names = self.classes_of(func.value)
        project = self.facts.project
        for name, _ in names or []:
            local = self.facts.names.classes.get(name.rpartition(".")[2])
            if local is not None and func.attr in local.methods:
                return _read(local.methods[func.attr], bound=True)
            found = project.class_(name) if project is not None else None
            if found is not None and func.attr in found.methods:
                return _read(found.methods[func.attr], bound=True)
        return None

    def _constructor(self, name: str) -> Signature | None:
        project = self.facts.project
        rows = [(name, self.facts.names.classes.get(name.rpartition(".")[2]))]
        if project is not None:
            rows = [*project.bases(name)] or rows
        for _, facts in rows:
            if facts is None:
                return None
            if "__init__" in facts.methods:
                return _read(facts.methods["__init__"], bound=True)
            if facts.dataclass:
                return Signature(facts.fields, (), False)
        return None

    def _spelled(self, value: ast.expr) -> dict[str, ast.expr] | None:
        """What `**value` passes where the dictionary is written out here, on any way; None where it cannot be told."""
        if self._filled(value):
            return None
        definitions = self.definitions.of(value)
        options = [d.value for d in definitions] if definitions else [value]
        merged: dict[str, ast.expr] = {}
        for option in options:
            for arm in [option.body, option.orelse] if isinstance(option, ast.IfExp) else [option]:
                literal = _literal(arm) if arm is not None else None
                if literal is None:
                    return None
                merged.update(literal)
        return merged

    def _filled(self, value: ast.expr) -> bool:
        """Whether the function around adds keys to a dictionary after it was written out."""
        key = dotted(value)
        if key is None:
            return False
        for node in ast.walk(self.facts.outermost(value)):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and dotted(node.value) == key:
                return True
            adds = isinstance(node, ast.Attribute) and node.attr in {"update", "setdefault"}
            if adds and isinstance(node, ast.Attribute) and dotted(node.value) == key:
                return True
        return False

    def arguments(self, call: ast.Call, fallback: tuple[str, ...]) -> Arguments:
        """Arguments by parameter name.

        Args:
            call: the call.
            fallback: positional parameters where the signature is not found.
        """
        signature = self.signature(call)
        positional = signature.positional if signature is not None else fallback
        given: dict[str, ast.expr] = {}
        hidden = False
        for i, value in enumerate(call.args):
            if isinstance(value, ast.Starred):
                hidden = True
                break
            if i < len(positional):
                given[positional[i]] = value
        for keyword in call.keywords:
            if keyword.arg is None:
                spelled = self._spelled(keyword.value)
                hidden = hidden or spelled is None
                given.update(spelled or {})
            else:
                given[keyword.arg] = keyword.value
        return Arguments(given, hidden)


def _literal(value: ast.expr) -> dict[str, ast.expr] | None:
    """Keys and values of a dictionary written out, None for anything else."""
    if isinstance(value, ast.Call) and dotted(value.func) == "dict" and not value.args:
        named = {k.arg: k.value for k in value.keywords if k.arg is not None}
        return named if len(named) == len(value.keywords) else None
    if not isinstance(value, ast.Dict):
        return None
    found: dict[str, ast.expr] = {}
    for key, item in zip(value.keys, value.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        found[key.value] = item
    return found


def _read(function: ast.FunctionDef | ast.AsyncFunctionDef, bound: bool) -> Signature:
    """A signature; the first parameter of a bound method is left out unless it is static."""
    arguments = function.args
    positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
    static = any(dotted(d) == "staticmethod" for d in function.decorator_list)
    if bound and positional and not static:
        positional = positional[1:]
    return Signature(tuple(positional), tuple(a.arg for a in arguments.kwonlyargs), arguments.kwarg is not None)
