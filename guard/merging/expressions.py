"""Join what both sides changed inside one statement or header, by its syntax.

One side's text is the host; what the other side did is made in it: a part that only the other changed is put in place
of the host's, and members of keyed lists (keyword arguments, dict items, imported names, parameters) are put in and
taken out. The result is parsed and must be exactly the tree that was meant.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from guard.merging.hunks import Lines
from guard.merging.members import Member, Refused, TextEdit, edited, merge_keyed, replace_members

_NOWHERE = ((0, 0), (0, 0))
_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(eq=False)
class Source:
    """The text that syntax was parsed from.

    Attributes:
        lines: all lines of the file.
        offset: lines before the piece that was parsed.
    """

    lines: Lines
    offset: int

    def at(self, line: int, column: int) -> tuple[int, int]:
        """A position of the syntax (1-based line, column in UTF-8 bytes) as index of the line and of the character."""
        index = line + self.offset - 1
        text = self.lines[index]
        return index, column if text.isascii() else len(text.encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where a node stands."""
        found: Any = node
        return self.at(found.lineno, found.col_offset), self.at(found.end_lineno, found.end_col_offset)

    def text(self, start: tuple[int, int], end: tuple[int, int]) -> str:
        """The text between two positions."""
        if start[0] == end[0]:
            return self.lines[start[0]][start[1] : end[1]]
        middle = "".join(self.lines[start[0] + 1 : end[0]])
        return self.lines[start[0]][start[1] :] + middle + self.lines[end[0]][: end[1]]


def dump(node: Any) -> str:
    """What a piece of syntax says; equal for equal trees."""
    if isinstance(node, list):
        return "[" + ",".join(map(dump, node)) + "]"
    return ast.dump(node) if isinstance(node, ast.AST) else repr(node)


@dataclass
class Joiner:
    """Makes the guest's edits in the host's text.

    Attributes:
        edits: what is to be changed in the host's text.
    """

    host: Source
    guest: Source
    edits: list[TextEdit] = field(default_factory=list)

    def join(self, base: _Node, host: _Node, guest: _Node) -> _Node:
        """The tree with the edits of both.

        Raises:
            Refused: both changed the same thing, or it cannot be told where an edit belongs.
        """
        forms = dump(base), dump(host), dump(guest)
        if forms[2] in forms[:2]:
            return host
        if forms[0] == forms[1]:
            return self._replaced(host, guest)
        if not type(base) is type(host) is type(guest):
            raise Refused("both sides replaced the same expression")
        special = _SPECIAL.get(type(host))
        if special is not None:
            joined: _Node = special(self, base, host, guest)
            return joined
        return self._fields(base, host, guest)

    def _replaced(self, host: _Node, guest: _Node) -> _Node:
        if not hasattr(host, "end_lineno") or not hasattr(guest, "end_lineno"):
            raise Refused("the place of an edit is not known")
        text = self.guest.text(*self.guest.span(guest))
        if isinstance(guest, ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.UnaryOp) and not _bracketed(
            self.host, host
        ):
            raise Refused("an operation was put into an operation")
        self.edits.append(TextEdit(*self.host.span(host), text))
        return guest

    def _fields(self, base: _Node, host: _Node, guest: _Node, skip: Sequence[str] = ()) -> _Node:
        joined = copy.copy(host)
        for name in host._fields:
            if name in skip:
                continue
            forms: list[Any] = [getattr(node, name, None) for node in (base, host, guest)]
            texts = [dump(form) for form in forms]
            if texts[2] in texts[:2]:
                continue
            if all(isinstance(form, ast.AST) for form in forms):
                setattr(joined, name, self.join(*forms))
            elif all(isinstance(form, list) for form in forms) and len({len(form) for form in forms}) == 1:
                parts = zip(*forms, strict=True)
                setattr(joined, name, [self.join(*three) for three in parts])
            elif texts[0] == texts[1]:
                raise Refused("an edit has no place in the other side's form")
            else:
                raise Refused("both sides replaced the same thing")
        return joined

    def members(
        self,
        base: Sequence[Member],
        host: Sequence[Member],
        guest: Sequence[Member],
        both_put_in: Callable[[Member, Member], bool],
    ) -> list[Member]:
        """Join keyed lists; makes the edits and gives the members that are meant."""
        plan = merge_keyed(base, host, guest, both_put_in, self._member)
        self.edits += replace_members(self.host, self.guest, host, plan)
        return [entry.member for entry in plan if entry.member is not None]

    def _member(self, base: Member, host: Member, guest: Member) -> Member:
        """One member that both sides changed."""
        if base.value is None or host.value is None or guest.value is None or not base.name:
            raise Refused("one key has two values")
        if not base.rest == host.rest == guest.rest:
            raise Refused("both sides changed one member")
        value = self.join(base.value, host.value, guest.value)
        made = copy.copy(host.node)
        made.value = value
        return Member(host.key, made, host.start, host.end, host.name, value, host.rest)


def _bracketed(source: Source, node: ast.AST) -> bool:
    """Whether what surrounds an expression holds it together: brackets, commas, an equals sign, the end of a line."""
    start, end = source.span(node)
    before = source.lines[start[0]][: start[1]].rstrip()[-1:]
    after = source.lines[end[0]][end[1] :].lstrip()[:1]
    return (before in "([{,=" or not before) and (after in ")]},#" or not after)


def _positional(owner: Source, nodes: Sequence[ast.expr]) -> list[Member]:
    return [Member(dump(node), node, *owner.span(node)) for node in nodes]


def _arguments(owner: Source | None, node: ast.Call) -> list[Member]:
    """The keyword arguments as members; the positional ones only say where those stand."""
    found = []
    for index, argument in enumerate(node.args):
        found.append(Member(f"\0{index}", argument, *(owner.span(argument) if owner else _NOWHERE)))
    for keyword in node.keywords:
        key = keyword.arg or f"**{dump(keyword.value)}"
        span = owner.span(keyword) if owner else _NOWHERE
        found.append(Member(key, keyword, *span, keyword.arg or "", keyword.value))
    return found


def _call(self: Joiner, base: ast.Call, host: ast.Call, guest: ast.Call) -> ast.Call:
    joined = copy.copy(host)
    joined.func = self.join(base.func, host.func, guest.func)
    positional = [dump(node.args) for node in (base, host, guest)]
    if positional[2] not in positional[:2]:
        if len({len(node.args) for node in (base, host, guest)}) > 1 or any(
            isinstance(argument, ast.Starred) for argument in (*base.args, *host.args, *guest.args)
        ):
            raise Refused("positional arguments would shift")
        joined.args = [self.join(*three) for three in zip(base.args, host.args, guest.args, strict=True)]
    if dump(guest.keywords) not in (dump(base.keywords), dump(host.keywords)):
        forms = _arguments(None, base), _arguments(self.host, host), _arguments(self.guest, guest)
        made = self.members(*forms, lambda _one, _other: True)
        joined.keywords = [member.node for member in made if isinstance(member.node, ast.keyword)]
    return joined


def _bare(nodes: Sequence[ast.AST]) -> list[Member]:
    return [Member(dump(node), node, *_NOWHERE) for node in nodes]


def _sequence(self: Joiner, base: Any, host: Any, guest: Any) -> Any:
    """A list, tuple or set: by member where all are texts or names, else only place by place."""
    if all(_is_name(item) for node in (base, host, guest) for item in node.elts):
        joined = copy.copy(host)
        made = self.members(
            _bare(base.elts),
            _positional(self.host, host.elts),
            _positional(self.guest, guest.elts),
            lambda one, other: isinstance(one.node, ast.Constant) and isinstance(other.node, ast.Constant),
        )
        joined.elts = [member.node for member in made]
        return joined
    return self._fields(base, host, guest)


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _dict(self: Joiner, base: ast.Dict, host: ast.Dict, guest: ast.Dict) -> ast.Dict:
    if any(key is None for node in (base, host, guest) for key in node.keys):
        return self._fields(base, host, guest)

    def members(owner: Source | None, node: ast.Dict) -> list[Member]:
        found = []
        for key, value in zip(node.keys, node.values, strict=True):
            assert key is not None
            start, end = (owner.span(key)[0], owner.span(value)[1]) if owner else _NOWHERE
            entry = ast.keyword(arg=dump(key), value=value)
            entry.key = key  # type: ignore[attr-defined]
            found.append(Member(dump(key), entry, start, end, dump(key), value))
        return found

    made = self.members(members(None, base), members(self.host, host), members(self.guest, guest), lambda *_: True)
    joined = copy.copy(host)
    joined.keys = [member.node.key for member in made]
    joined.values = [member.node.value for member in made]
    return joined


def _imports(self: Joiner, base: Any, host: Any, guest: Any) -> Any:
    if getattr(base, "module", None) != host.module or host.module != guest.module or base.level != host.level:
        raise Refused("both sides changed where a name is imported from")

    def members(owner: Source | None, node: ast.ImportFrom) -> list[Member]:
        return [
            Member(f"{alias.name} {alias.asname}", alias, *(owner.span(alias) if owner else _NOWHERE))
            for alias in node.names
        ]

    made = self.members(members(None, base), members(self.host, host), members(self.guest, guest), lambda *_: True)
    joined = copy.copy(host)
    joined.names = [member.node for member in made]
    bound = [alias.asname or alias.name for alias in joined.names]
    if len(set(bound)) < len(bound):
        raise Refused("one name is imported from two places")
    return joined


def parameters_of(owner: Source | None, arguments: ast.arguments) -> list[Member]:
    """The parameters of a function as members; what stands behind the default is no part of the key."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    kinds = ["/"] * len(arguments.posonlyargs) + [""] * len(arguments.args)
    found = [(kind, a, d) for kind, a, d in zip(kinds, plain, defaults, strict=True)]
    if arguments.vararg:
        found.append(("*args", arguments.vararg, None))
    found += [("*", a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        found.append(("**", arguments.kwarg, None))
    members = []
    for kind, argument, default in found:
        start, end = _NOWHERE
        if owner:
            start, end = owner.span(argument)
            end = owner.span(default)[1] if default is not None else end
        entry = ast.keyword(arg=argument.arg, value=default)  # type: ignore[arg-type]
        entry.argument, entry.kind = argument, kind  # type: ignore[attr-defined]
        rest = f"{kind} {dump(argument)}"
        members.append(Member(argument.arg, entry, start, end, argument.arg, default, rest, kind))
    return members


def _parameters(self: Joiner, base: ast.arguments, host: ast.arguments, guest: ast.arguments) -> ast.arguments:
    def free(one: Member, other: Member) -> bool:
        return all(member.value is not None or member.node.kind == "*" for member in (one, other))

    made = self.members(
        parameters_of(None, base), parameters_of(self.host, host), parameters_of(self.guest, guest), free
    )
    joined = ast.arguments(posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[])
    for member in made:
        kind, argument, default = member.node.kind, member.node.argument, member.node.value
        if kind == "*args":
            joined.vararg = argument
        elif kind == "**":
            joined.kwarg = argument
        elif kind == "*":
            joined.kwonlyargs.append(argument)
            joined.kw_defaults.append(default)
        else:
            (joined.posonlyargs if kind else joined.args).append(argument)
            if default is not None:
                joined.defaults.append(default)
            elif joined.defaults:
                raise Refused("a parameter without a default would follow one with a default")
    return joined


def _import_names(self: Joiner, base: ast.Import, host: ast.Import, guest: ast.Import) -> ast.Import:
    raise Refused("both sides changed one import")


_SPECIAL: dict[type[ast.AST], Callable[[Joiner, Any, Any, Any], Any]] = {
    ast.Call: _call,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.ImportFrom: _imports,
    ast.Import: _import_names,
    ast.arguments: _parameters,
}

__all__ = ["Joiner", "Refused", "Source", "dump", "edited", "parameters_of"]
