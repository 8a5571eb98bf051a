"""The rule language as dataclasses: what a YAML rule may say. The loader and the published schema both read these.

A trailing underscore of a field is dropped in YAML (`is_` is written `is`). Where a list is meant, one item may stand
alone. Patterns are Python with holes: `$X` binds an expression, `$_` takes any, `...` takes any further arguments or
statements, `$*.name` is a callee or value by its last name however it was imported. A dotted name without a hole is
compared as a qualified name, through imports and re-exports. `$MATCH` is what a value test last matched, `$FUNCTION`
the name of the nearest function.
"""

# ruff: noqa: RUF009 (the fields are made by a function that keeps their sentence for the schema)

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from guard.lint.patterns import Pattern
from guard.model import Severity


def said(text: str, default: Any = ()) -> Any:
    """A field with its sentence for the schema."""
    return field(default=default, metadata={"doc": text})


def needed(text: str) -> Any:
    """A field without default, with its sentence for the schema."""
    return field(metadata={"doc": text})


@functools.cache
def _any_of(globs: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    """Matches a path with any of some globs."""
    return re.compile("|".join(fnmatch.translate(form) for glob in globs for form in (glob, f"*/{glob}"))).match


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a tree a clause applies. Globs; any one of a list is enough, every key given must hold."""

    path: tuple[str, ...] = said("globs over the file's path")
    not_path: tuple[str, ...] = said("globs over paths to leave out")
    function: tuple[str, ...] = said("globs over the name of an enclosing function")
    not_function: tuple[str, ...] = said("globs over names of enclosing functions to leave out")
    class_: tuple[str, ...] = said("globs over the name of the enclosing class or of one of its bases")

    def takes(self, path: str) -> bool:
        """Whether a file's path is one of the place; a glob may start at any folder."""
        if self.path and not _any_of(self.path)(path):
            return False
        return not (self.not_path and _any_of(self.not_path)(path))


@dataclass(frozen=True, slots=True)
class ValueTest:
    """A value, followed through locals, tuple unpacking, attributes of self and reshapes, and what it is made of."""

    of: str | None = said("the hole whose value is tested", None)
    argument: tuple[str, ...] = said(
        "the argument whose value is tested; of several, the first that is passed counts; its name is `$ARGUMENT`"
    )
    is_: tuple[Pattern, ...] = said("the value, or what it was assigned from, matches one of these")
    factor: tuple[Pattern, ...] = said("the value is a product that carries one of these, in any order or spelling")
    divisor: tuple[Pattern, ...] = said("the value is divided by one of these")
    contains: tuple[Pattern, ...] = said("one of these stands somewhere in the value")
    through: tuple[Pattern, ...] = said("on its way the value went through one of these calls; `$IT` is the value")
    bind: str | None = said("a hole that the value is bound to", None)
    missing: Literal["holds", "fails"] = said("what an argument that is not passed means", "fails")


@dataclass(frozen=True, slots=True)
class Under:
    """Statements around the match."""

    if_: tuple[Pattern, ...] = said("an enclosing `if` whose test contains one of these")
    branch: Literal["then", "else", "any"] = said("on which arm of it the match stands", "then")
    with_: tuple[Pattern, ...] = said("an enclosing `with` that enters one of these")
    for_: tuple[Pattern, ...] = said("an enclosing `for` over one of these")
    while_: tuple[Pattern, ...] = said("an enclosing `while` whose test contains one of these")


@dataclass(frozen=True, slots=True)
class Has:
    """Something that stands in the surroundings of the match."""

    pattern: tuple[Pattern, ...] = needed("one of these is there")
    in_: Literal["arm", "function", "class", "module", "tree"] = said("how far to look", "function")


@dataclass(frozen=True, slots=True)
class Named:
    """The text of a bound expression."""

    of: str = needed("the hole")
    like: str = needed("a regular expression that its source text contains")


@dataclass(frozen=True, slots=True)
class Defined:
    """Whether anything gives an attribute a value."""

    attribute: str = needed("the hole bound to the attribute's name as a string")
    in_: Literal["class", "tree"] = said("look in the class and its bases, or for any assignment in the tree", "class")


@dataclass(frozen=True, slots=True)
class Then:
    """Something that follows in the same block while a bound expression keeps its value."""

    pattern: tuple[Pattern, ...] = needed("one of these follows")
    keeps: str = needed("the hole that is not assigned in between")


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """A method that classes of the tree define and that nothing of the tree refers to through one of them."""

    method: str = needed("the method's name")
    bind: str = needed("the hole for the name of the class that is left out")


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; exactly one key."""

    passes: tuple[str, ...] = said("the call passes one of these arguments, and not as None")
    accepts: tuple[str, ...] = said("the callee's signature has one of these parameters")
    held: tuple[str, ...] = said("the caller has a parameter or local of one of these names")
    value: ValueTest | None = said("what a value is made of", None)
    before: tuple[Pattern, ...] = said("one of these comes earlier in the function, on a path to the match")
    after: tuple[Pattern, ...] = said("one of these comes later in the function")
    earlier: tuple[Pattern, ...] = said("one of these stands earlier in the function, on a path or not")
    then: Then | None = said("something that follows while a value is kept", None)
    reaches: Then | None = said("something later in the function in which a name still holds what was matched", None)
    parameter: str | None = said("the hole is a parameter of the nearest function", None)
    unreferenced: Unreferenced | None = said("a class whose method nothing refers to", None)
    arms: tuple[str, ...] = said(
        "the matched `if` calls on both arms for one result, and an argument of these that one arm passes and the "
        "other's callee accepts is passed on both"
    )
    under: Under | None = said("statements around the match", None)
    has: Has | None = said("something in the surroundings", None)
    named: Named | None = said("the text of a bound expression", None)
    defined: Defined | None = said("an attribute that is given a value", None)
    dropped: bool | None = said("the matched call is a whole statement: its result is not used", None)
    any_: tuple[Condition, ...] = said("one of these holds")
    all_: tuple[Condition, ...] = said("all of these hold")
    not_: tuple[Condition, ...] = said("not all of these hold")


def flat(conditions: tuple[Condition, ...]) -> Iterator[Condition]:
    """All conditions, those inside `any`, `all` and `not` included."""
    for condition in conditions:
        yield condition
        yield from flat((*condition.any_, *condition.all_, *condition.not_))


@dataclass(frozen=True, slots=True)
class Clause:
    """One way in which the rule can be broken: what is looked at, when, and what must hold there."""

    call: tuple[str, ...] = said("callees: a qualified name, `Class.method` over the class hierarchy, or a last name")
    pattern: tuple[Pattern, ...] = said("patterns of an expression or of statements")
    parameters: tuple[str, ...] = said("positional parameters of the callee, for where its signature is not found")
    in_: Place | None = said("where in a tree the clause applies", None)
    where: tuple[Condition, ...] = said("when the clause applies; holes bound here may be used below")
    require: tuple[Condition, ...] = said("what must hold; without it every match is a finding")
    words: tuple[str, ...] = said(
        "a file without any of these words is not looked at; needed where the patterns hold no rare word themselves"
    )
    text: str | None = said("a file in whose text this regular expression is not found is not looked at", None)
    message: str | None = said("instead of the rule's message", None)
    at: str | None = said("the name of the hole where the finding stands, instead of the whole match", None)
    subject: str | None = said("the identifier that the finding is about", None)
    severity: Severity | None = said("instead of the rule's severity", None)
    once: bool = said("only the first place in a function", False)


@dataclass(frozen=True, slots=True)
class ArgumentFix:
    """Pass an argument, or pass it another value."""

    name: tuple[str, ...] = needed("the argument; of several, the first that is passed, else the first")
    value: str = needed("an expression; holes are filled in, `$VALUE` is what is passed now")


@dataclass(frozen=True, slots=True)
class Fix:
    """A safe edit. It is made only where every hole is bound and the edited file differs as stated and compiles."""

    of: str | None = said("the hole that is edited, instead of the match", None)
    replace: str | None = said("what it becomes", None)
    argument: ArgumentFix | None = said("an argument of the call", None)
    keeps: str | None = said("what the edit leaves as it was, in words; shown with the rule", None)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, complete in itself."""

    id: str = needed("GRD1xx, or GRD5xx for a pin")
    name: str = needed("readable name, as in `# guard: allow[name] reason`")
    severity: Severity = needed("error, warning or note")
    status: Literal["stable", "preview", "deprecated"] = needed("life cycle")
    summary: str = needed("what it does, in a line")
    why: str = needed("what goes wrong otherwise")
    message: str = needed("the finding's text; holes are filled in")
    match: tuple[Clause, ...] = needed("the clauses; each stands alone")
    bad: tuple[str, ...] = needed("programs in which the rule finds something")
    good: tuple[str, ...] = needed("programs in which it finds nothing")
    origin: tuple[int, ...] = said("numbers of the pull requests that it comes from")
    numeric: bool = said("whether it is about a computed number", True)
    in_: Place | None = said("where in a tree the rule applies at all", None)
    fix: Fix | None = said("a safe edit", None)
