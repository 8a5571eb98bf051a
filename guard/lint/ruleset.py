"""Rules from directories: the built-in ones and the user's, checked as a whole."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import guard
from guard.codes import CODES
from guard.config import read_regular
from guard.errors import ConfigError
from guard.lint.expressions import Expression, ExpressionError
from guard.lint.holes import unbound
from guard.lint.language import Clause, Rule, flat
from guard.lint.python_rules import CodeRule, digest_of, installed_rules, read_module
from guard.lint.schema import load_yaml

_ID = re.compile(r"GRD[15]\d\d(?:-[A-Za-z0-9]+)?")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Loaded rules in order of id, and a digest of their text and of the linter itself.

    `complete` says that these are all the rules there are, so that a name which none of them has is a typing error.
    """

    rules: tuple[Rule, ...]
    digest: str
    files: tuple[tuple[str, str], ...] = ()
    complete: bool = False

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def find(self, key: str) -> Rule | None:
        """The rule of this id or name."""
        wanted = key.strip().lower()
        return next((rule for rule in self.rules if wanted in {rule.id.lower(), rule.name}), None)

    def file_of(self, rule: Rule) -> str:
        """The file that a rule was read from."""
        return dict(self.files).get(rule.id, "")

    def only(self, select: Sequence[str], ignore: Sequence[str]) -> RuleSet:
        """The rules whose id starts with, or whose name is, one of `select` (all if empty) and none of `ignore`."""

        def named(rule: Rule, keys: Sequence[str]) -> bool:
            return any(rule.id.startswith(key.upper()) or rule.name == key for key in keys)

        kept = tuple(r for r in self.rules if (not select or named(r, select)) and not named(r, ignore))
        if kept == self.rules:
            return self
        digest = hashlib.sha256((self.digest + "\0".join(rule.id for rule in kept)).encode()).hexdigest()
        return RuleSet(kept, digest, self.files)


def builtin_rules_directory() -> Path:
    """Where the shipped rules are: inside the installed package, else beside it in a source tree."""
    inside = Path(guard.__file__).parent / "rules"
    return inside if inside.is_dir() else Path(guard.__file__).parent.parent / "rules"


def load_rules(directories: Sequence[Path] = (), *, builtin: bool = True) -> RuleSet:
    """Read the built-in rules and those of the given directories (each `*.yaml` in them, not below them) or files.

    A place that is given twice counts once. An id or name that stands in two rules is an error. With the built-in rules
    come those in Python: the shipped ones and those of installed packages. No code is read from the given places.

    Raises:
        ConfigError: a file that does not load, with file, line and breadcrumb; a duplicate; a place that is not there.
    """
    digest = hashlib.sha256(_engine().encode())
    seen: dict[str, str] = {}
    loaded: list[tuple[Rule, str]] = []
    places = [builtin_rules_directory()] if builtin else []
    for place in dict.fromkeys(path.resolve() for path in [*places, *directories]):
        if not place.exists():
            raise ConfigError(f"{place}:1: no such directory or file of rules")
        for path in sorted(place.glob("*.yaml")) if place.is_dir() else [place]:
            rule = load_yaml(Rule, path)
            _check(rule, str(path))
            digest.update(read_regular(path))
            loaded.append((rule, str(path)))
    for code, origin in _in_python() if builtin else ():
        digest.update(digest_of(code, origin))
        loaded.append((code, origin))
    for rule, origin in loaded:
        for key in (rule.id, rule.name):
            if key in seen:
                raise ConfigError(f"{origin}:1: {key!r} is also in {seen[key]}")
            seen[key] = origin
    loaded.sort(key=lambda pair: pair[0].id)
    return RuleSet(tuple(r for r, _ in loaded), digest.hexdigest(), tuple((r.id, p) for r, p in loaded), builtin)


def _in_python() -> list[tuple[CodeRule, str]]:
    """The shipped rules in Python and those of installed packages.

    Raises:
        ConfigError: one does not load.
    """
    shipped = [row for path in sorted(builtin_rules_directory().glob("*.py")) for row in read_module(path)]
    rows = [*shipped, *installed_rules()]
    for rule, origin in rows:
        _check_names(rule, origin)
    return rows


@functools.cache
def _engine() -> str:
    """Version and content of the linter itself, so that no kept result outlives the code that made it."""
    content = hashlib.sha256(guard.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()


def _check(rule: Rule, origin: str) -> None:
    """What the types do not say.

    Raises:
        ConfigError: naming the file and the key.
    """
    _check_names(rule, origin)
    if not rule.match:
        raise ConfigError(f"{origin}:1: match: no clause")
    for i, clause in enumerate(rule.match):
        for label, expression in _expressions(clause):
            try:
                Expression(expression)
            except ExpressionError as problem:
                raise ConfigError(f"{origin}:1: match[{i}].{label}: {problem}") from None
        if bool(clause.call) == bool(clause.pattern):
            raise ConfigError(f"{origin}:1: match[{i}]: exactly one of 'call' and 'pattern' is meant")
    for key, hole in unbound(rule):
        raise ConfigError(f"{origin}:1: {key}: nothing gives ${hole} a value")
    if rule.fix is not None and (rule.fix.replace is None) == (rule.fix.argument is None):
        raise ConfigError(f"{origin}:1: fix: exactly one of 'replace' and 'argument' is meant")


def _check_names(rule: Rule, origin: str) -> None:
    if not _ID.fullmatch(rule.id):
        raise ConfigError(f"{origin}:1: id: {rule.id!r} is no GRD1xx or GRD5xx")
    if not _NAME.fullmatch(rule.name):
        raise ConfigError(f"{origin}:1: name: {rule.name!r} is not lower-case words joined by hyphens")
    reserved = {**{code: code for code in CODES}, **{name: code for code, (name, _) in CODES.items()}}
    for key in (rule.id, rule.name):
        if key in reserved:
            raise ConfigError(f"{origin}:1: {key!r} is guard's own {reserved[key]}: take another")


def _expressions(clause: Clause) -> Iterator[tuple[str, str]]:
    """Every regular expression of a clause, with the key it stands under."""
    if clause.text is not None:
        yield "text", clause.text
    for condition in flat((*clause.where, *clause.require)):
        if condition.named is not None:
            yield "named.like", condition.named.like
