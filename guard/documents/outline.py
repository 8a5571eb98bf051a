"""Facts about one Python file that linking needs: what it binds, imports, defines, reads and calls.

Lines are 1-based and count from the start of the segment that a fact stands in (see `guard.documents.segments`); the
qualified name of a scope is dotted, without `<locals>`, and empty at module level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Flag:
    """Under which circumstances a fact holds: bits of a plain integer, since millions of them are combined."""

    NONE = 0
    GUARD_IMPORT = 1  # a handler around it catches a failing import
    TYPING = 2  # in an annotation, or under `if TYPE_CHECKING`
    CONDITIONAL = 4  # inside `if`, `try`, a loop or `with`
    STATEMENT = 8  # the call is a statement of its own
    GUARD_NAME = 16  # a handler around it catches NameError
    GUARD_ATTRIBUTE = 32  # a handler around it catches AttributeError
    GUARD_CALL = 64  # a handler around it catches TypeError
    CALLED = 128  # the attribute is what a call calls
    USED = 256  # the call's result is computed with, read from, iterated or compared where it stands
    AWAITED = 512  # the call is awaited


class Root(NamedTuple):
    """Where the first name of a dotted expression comes from.

    `kind` is one of: `global` (a name of the module or a builtin), `import` (a function-level import; `text` is
    `level|module|name`), `instance` (a local that holds an object of the class or the result of the function `text`),
    `self` and `class` (first argument of a method of the class `text`), `def` (a nested function or class `text`),
    `member` (a local that holds an attribute: `class|attribute`), `super` (`super()` in a method of the class `text`),
    `local` (any other local, by name), `value` (no name at all).
    """

    kind: str
    text: str


class Read(NamedTuple):
    """A name that no function or class of the segment binds."""

    name: str
    scope: str
    line: int
    flags: int


class Access(NamedTuple):
    """A chain of attribute loads, `root.path[0].path[1]…`."""

    root: Root
    path: tuple[str, ...]
    scope: str
    line: int
    flags: int


class Call(NamedTuple):
    """A call. `positional` holds the last name of each positional argument, or an empty string.

    `open_ended` tells of `*args` or of a `**kwargs` whose keys are not known; `unpacked` counts the targets that the
    result is unpacked to (0: it is not unpacked).
    """

    root: Root
    path: tuple[str, ...]
    scope: str
    line: int
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    open_ended: bool
    unpacked: int
    flags: int


class Import(NamedTuple):
    """One imported name. `name` is None for `import module`; `*` for a star import."""

    module: str
    level: int
    name: str | None
    bound: str
    scope: str
    line: int
    flags: int


class Binding(NamedTuple):
    """A name bound in a block of a module, class or function.

    `block` tells blocks of one scope apart; `text` is the statement's own text, for comparison.
    """

    scope: str
    block: str
    name: str
    kind: str
    line: int
    text: str
    flags: int


class Parameter(NamedTuple):
    """A parameter; `kind` is `p` (positional only), `a` (either), `k` (keyword only), `*` or `**`."""

    name: str
    kind: str
    default: str | None


@dataclass(frozen=True, slots=True)
class FunctionOutline:
    """A function or method.

    Attributes:
        owner: qualified name of the class it is a method of, or empty.
        returns: how many values each `return` hands back: the length of a tuple display, 1 for another value, 0 for
            none, -1 where it cannot be told.
        generator: a statement of it yields.
        coroutine: it is an `async def`.
    """

    qualname: str
    owner: str
    parameters: tuple[Parameter, ...]
    decorators: tuple[str, ...]
    line: int
    returns: tuple[int, ...]
    flags: int
    generator: bool = False
    coroutine: bool = False


@dataclass(frozen=True, slots=True)
class ClassOutline:
    """A class.

    Attributes:
        bases: dotted base expressions; `?` for one that is no plain name.
        members: names bound in the class body, with their line.
        fields: annotated names in order: name, whether it has a default, line.
        stored: names assigned on `self` in methods, with the first line.
        types: class expressions of attributes, as far as assignments and annotations tell.
        dynamic: attributes may come from somewhere else (`__getattr__`, `setattr` with a variable, `__dict__`).
    """

    qualname: str
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    members: dict[str, int]
    fields: tuple[tuple[str, bool, int], ...]
    stored: dict[str, int]
    types: dict[str, str]
    dynamic: bool
    line: int
    flags: int

    def fields_without_lines(self) -> tuple[tuple[str, bool], ...]:
        """Fields and whether each has a default: what makes two versions of a class take the same arguments."""
        return tuple((name, optional) for name, optional, _ in self.fields)


@dataclass(frozen=True, slots=True)
class Segment:
    """The facts of one top-level definition, or of a run of other top-level statements."""

    bindings: tuple[Binding, ...] = ()
    imports: tuple[Import, ...] = ()
    reads: tuple[Read, ...] = ()
    accesses: tuple[Access, ...] = ()
    calls: tuple[Call, ...] = ()
    functions: tuple[FunctionOutline, ...] = ()
    classes: tuple[ClassOutline, ...] = ()
    module_names: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()  # names given to objects: stores, fields, methods, options, namespaces
    options: tuple[tuple[str, str, int], ...] = ()  # destination of an argparse option, scope, line
    option_stores: frozenset[str] = frozenset()  # names assigned on an object that is called args or options
    option_classes: frozenset[str] = frozenset()  # classes named in a function that fills a parser
    probed: frozenset[tuple[str, str]] = frozenset()  # (scope, attribute) asked for by hasattr or getattr
    targets: tuple[tuple[str, str, int], ...] = ()  # dotted names in strings that mock.patch and the like resolve
    repeated_keys: tuple[tuple[str, str, int], ...] = ()  # keys that one dict display holds twice: key, scope, line


@dataclass(frozen=True, slots=True)
class ModuleOutline:
    """All segments of a file with the line that each starts at (0-based offset to add to its lines)."""

    parts: tuple[tuple[int, Segment], ...] = ()
    error: str | None = None
    error_line: int = 0
    words: frozenset[str] = field(default_factory=frozenset)
