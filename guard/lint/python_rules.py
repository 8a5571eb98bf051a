"""Rules written in Python: a visitor over LibCST, or a walk over guard's own facts, where YAML cannot say it.

A rule is a subclass of `PythonRule`. The built-in ones stand in `rules/*.py`, those of an installed package are named
by the entry point group `guard.rules`. The code of a repository under analysis is never imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from guard.errors import ConfigError
from guard.lint.definitions import Definition, Definitions
from guard.lint.facts import FileFacts
from guard.lint.language import Place, Rule
from guard.model import Severity

if TYPE_CHECKING:
    import libcst

GROUP = "guard.rules"
TESTS = ("tests/*", "test/*", "test_*.py", "*_test.py", "conftest.py")


@dataclass(frozen=True, slots=True)
class Found:
    """A place where a rule does not hold.

    Attributes:
        at: the node of the file's `ast` where the finding stands.
        message: what is wrong there.
        severity: instead of the rule's own.
        subject: the identifier that it is about.
    """

    at: ast.AST
    message: str
    severity: Severity | None = None
    subject: str | None = None


class RuleFile:
    """One file as a rule in Python sees it: both syntax trees, names through imports, values through assignments."""

    def __init__(self, facts: FileFacts, tick: Callable[[], None] = lambda: None) -> None:
        self.facts = facts
        self.tick = tick

    @cached_property
    def definitions(self) -> Definitions:
        """Which assignments reach a use."""
        return Definitions(self.facts)

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every `def` of the file, the nested ones too."""
        return [n for n in self.facts.parents if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the file's `ast`, in order of place where it has one."""
        return sorted(self.facts.parents, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0)))

    def qualified(self, node: ast.AST | libcst.CSTNode) -> str:
        """The qualified name of a name or attribute chain through imports, else the chain as written, else ''."""
        if isinstance(node, ast.AST):
            return self.facts.qualified(node) or _chain(node)
        from libcst.helpers import get_full_name_for_node

        written = get_full_name_for_node(node) or ""
        root, dot, rest = written.partition(".")
        return f"{self.facts.names.imports.get(root, root)}{dot}{rest}"

    def values(self, node: ast.expr, depth: int = 6) -> Iterator[ast.expr]:
        """The expression and every expression that it can have been assigned from, nearest first."""
        self.tick()
        yield node
        if depth and isinstance(node, ast.Name | ast.Attribute):
            for definition in self.reaching(node):
                if definition.value is not None and definition.value is not node:
                    yield from self.values(definition.value, depth - 1)

    def reaching(self, node: ast.expr) -> tuple[Definition, ...]:
        """The assignments that can reach a name or attribute."""
        return self.definitions.of(node)

    @cached_property
    def module(self) -> libcst.Module:
        """The file as LibCST parses it; only a rule that asks pays for it."""
        import libcst

        return libcst.parse_module(self.facts.text)

    @cached_property
    def _places(self) -> Any:
        from libcst.metadata import MetadataWrapper, PositionProvider

        return MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider)

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], list[ast.AST]]:
        table: dict[tuple[int, int], list[ast.AST]] = {}
        lines = self.facts.text.split("\n")
        for node in self.facts.parents:
            if isinstance(node, ast.expr | ast.stmt):
                line, column = node.lineno, node.col_offset
                if not lines[line - 1].isascii():
                    column = len(lines[line - 1].encode()[:column].decode())
                table.setdefault((line, column), []).append(node)
        return table

    def node(self, cst: libcst.CSTNode) -> ast.AST:
        """The `ast` node that begins and ends where a LibCST node does, else the outermost that begins there.

        The positions of a module are computed once, when the first rule asks for one.
        """
        place = self._places[cst]
        here = self._by_place.get((place.start.line, place.start.column), [])
        lines = self.facts.text.split("\n")
        for node in here:
            last: int = node.end_lineno  # type: ignore[attr-defined]
            end = len(lines[last - 1].encode()[: node.end_col_offset].decode())  # type: ignore[attr-defined]
            if (last, end) == (place.end.line, place.end.column):
                return node
        return here[0] if here else self.facts.tree


def _chain(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class PythonRule:
    """One rule in Python, complete in itself.

    Give it `visit_<Node>` and `leave_<Node>` methods over LibCST nodes, which call `report`; or replace `check`, where
    guard's facts over `ast` say it shorter. A `visit_` method that returns False leaves out what is inside.

    Attributes:
        code: GRD1xx, GRD5xx for a package's own.
        name: readable name, as in `# guard: allow[name] reason`.
        severity, status: as in a YAML rule.
        summary: what it asks, in a line.
        why: what goes wrong otherwise.
        origin: numbers of the pull requests that it comes from.
        bad, good: programs in which the rule finds something, and nothing. They run as tests.
        words: of each group a file has to hold one literal; others are not looked at.
        text: a file in which this regular expression is not found (`^` begins a line) is not looked at: parsing costs.
        place: where in a tree the rule applies.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Literal["error", "warning", "note"]]
    status: ClassVar[Literal["stable", "preview", "deprecated"]] = "preview"
    summary: ClassVar[str]
    why: ClassVar[str]
    origin: ClassVar[tuple[int, ...]] = ()
    bad: ClassVar[tuple[str, ...]]
    good: ClassVar[tuple[str, ...]]
    words: ClassVar[tuple[tuple[str, ...], ...]]
    text: ClassVar[str | None] = None
    place: ClassVar[Place | None] = Place(not_path=TESTS)

    def __init__(self, file: RuleFile) -> None:
        self.file = file
        self._found: list[tuple[libcst.CSTNode, str, Severity | None, str | None]] = []

    def report(
        self, at: libcst.CSTNode, message: str, severity: Severity | None = None, subject: str | None = None
    ) -> None:
        """Note that the rule does not hold at a node."""
        self._found.append((at, message, severity, subject))

    def check(self) -> Iterable[Found]:
        """Every place of the file where the rule does not hold."""
        _walk(self, self.file.module)
        for at, message, severity, subject in self._found:
            yield Found(self.file.node(at), message, severity, subject)


def _walk(rule: PythonRule, node: libcst.CSTNode) -> None:
    """Call the rule's methods for a node and for all below it, in the order of the source."""
    kind = type(node).__name__
    enter, leave = getattr(rule, f"visit_{kind}", None), getattr(rule, f"leave_{kind}", None)
    if enter is None or enter(node) is not False:
        for child in _children(node):
            _walk(rule, child)
    if leave is not None:
        leave(node)


_LAYOUT = ("whitespace", "leading", "trailing", "lines", "lpar", "rpar", "comma", "semicolon", "header", "footer")
_fields: dict[type, tuple[str, ...]] = {}


def _children(node: libcst.CSTNode) -> Iterator[libcst.CSTNode]:
    """The nodes right below one, those of layout aside.

    `CSTNode.children` copies the node to find them, which costs more than all that a rule does with them.
    """
    import libcst

    kind = type(node)
    names = _fields.get(kind)
    if names is None:
        every = (field.name for field in fields(kind))
        names = _fields[kind] = tuple(name for name in every if not any(word in name for word in _LAYOUT))
    for name in names:
        value = getattr(node, name)
        if isinstance(value, libcst.CSTNode):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, libcst.CSTNode))


@dataclass(frozen=True, slots=True)
class CodeRule(Rule):
    """A rule in Python as the rest of guard sees it: metadata like a YAML rule's, a class instead of clauses."""

    visitor: type[PythonRule] = PythonRule

    @property
    def words(self) -> tuple[tuple[bytes, ...], ...]:
        """What a file has to hold: one literal of each group."""
        return tuple(tuple(word.encode() for word in group) for group in self.visitor.words)

    def holds(self, file: RuleFile) -> Iterator[Found]:
        """Every place where the rule does not hold, each once."""
        seen: set[int] = set()
        for found in self.visitor(file).check():
            if id(found.at) not in seen:
                seen.add(id(found.at))
                yield found


def code_rule(visitor: type[PythonRule], origin: str) -> CodeRule:
    """The rule that a class describes.

    Raises:
        ConfigError: something is missing or is not what it has to be, with the place.
    """
    needed = ("code", "name", "severity", "summary", "why", "bad", "good", "words")
    missing = [name for name in needed if not getattr(visitor, name, None)]
    if missing:
        raise ConfigError(f"{origin}: {visitor.__name__} has no {', '.join(missing)}")
    try:
        severity = Severity(visitor.severity)
    except ValueError:
        raise ConfigError(f"{origin}: {visitor.__name__}.severity: {visitor.severity!r} is no severity") from None
    for name in ("bad", "good", "words"):
        if not isinstance(getattr(visitor, name), tuple):
            raise ConfigError(f"{origin}: {visitor.__name__}.{name} is no tuple")
    return CodeRule(
        id=visitor.code,
        name=visitor.name,
        severity=severity,
        status=visitor.status,
        summary=visitor.summary,
        why=visitor.why,
        message=visitor.summary,
        match=(),
        bad=visitor.bad,
        good=visitor.good,
        origin=visitor.origin,
        in_=visitor.place,
        visitor=visitor,
    )


def read_module(path: Path) -> list[tuple[CodeRule, str]]:
    """The rules of one module of the built-in rules, in order of their lines.

    Raises:
        ConfigError: the module does not run, or a rule of it is incomplete.
    """
    name = f"guard_rules_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}:1: cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        trace, line = problem.__traceback__, getattr(problem, "lineno", None)
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                line = trace.tb_lineno
            trace = trace.tb_next
        raise ConfigError(f"{path}:{line or 1}: {type(problem).__name__}: {problem}") from None
    own = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == name and _is_rule(c)]
    if not own:
        raise ConfigError(f"{path}:1: defines no rule")
    return [(code_rule(c, f"{path}:{_line(c, path)}"), str(path)) for c in own]


def _is_rule(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, PythonRule) and not thing.__name__.startswith("_")


def _line(visitor: type, path: Path) -> int:
    head = re.compile(rf"class {re.escape(visitor.__name__)}\b")
    return next((i for i, line in enumerate(path.read_text().splitlines(), 1) if head.match(line)), 1)


def installed_rules(entries: Sequence[metadata.EntryPoint] | None = None) -> list[tuple[CodeRule, str]]:
    """The rules that installed packages name under the entry point group `guard.rules`, each a class.

    Raises:
        ConfigError: one does not load.
    """
    rules = []
    for entry in entries if entries is not None else metadata.entry_points(group=GROUP):
        origin = f"entry point {entry.name} = {entry.value}"
        try:
            loaded = entry.load()
        except Exception as problem:
            raise ConfigError(f"{origin}: {type(problem).__name__}: {problem}") from None
        if not _is_rule(loaded):
            raise ConfigError(f"{origin}: is no subclass of PythonRule")
        rules.append((code_rule(loaded, origin), origin))
    return rules


def digest_of(rule: CodeRule, origin: str) -> bytes:
    """What a kept result of the rule depends on besides the file: the source of its module."""
    file = Path(getattr(sys.modules.get(rule.visitor.__module__), "__file__", None) or origin)
    return hashlib.sha256(file.read_bytes() if file.is_file() else origin.encode()).digest()
