"""Rules that pin a fix, at the places that a tree has them at now: they follow a rename of file, class or function."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from guard.checks.pinning.content import without_place
from guard.checks.pinning.places import PinPlaces
from guard.documents.definitions import MODULE, Definition, parse
from guard.errors import NotAnalysedError
from guard.globs import path_matches
from guard.lint.language import Clause, Place, Rule
from guard.model import Finding

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A pin's rule as it applies to one tree, and what it says of places that the tree has not."""

    rule: Rule
    without_place: tuple[Finding, ...]


def at_its_places(rule: Rule, tree: PinPlaces, paths: Sequence[str]) -> PlacedRule:
    """Follow the places of a pin's clauses; a clause that names no one file is left as it is.

    Arguments:
        paths: all Python files of the tree.
    """
    clauses: list[Clause] = []
    homeless: dict[tuple[str, str], Finding] = {}
    forms = list(_examples(rule))
    for clause in rule.match:
        place = clause.in_
        if place is None or not place.path:
            clauses.append(clause)
            continue
        symbol = ".".join([*place.class_[:1], *place.function[:1]]) or MODULE
        if len(place.path) > 1 or _GLOB & set(place.path[0]) or _GLOB & set(symbol):
            there = any(path_matches(path, place.path) for path in paths)
            found = [place] if there else []
        else:
            found = list(_followed(place, symbol, tree, forms))
        clauses += [replace(clause, in_=one) for one in found]
        if not found:
            lost = without_place(rule.name, rule.id, place.path[0], symbol, numeric=rule.numeric)
            homeless[place.path[0], symbol] = lost
    return PlacedRule(replace(rule, match=tuple(clauses)), tuple(homeless.values()))


def speaks_of(rule: Rule, path: str) -> bool:
    """Whether a clause of the rule applies to a file at all."""
    return any(
        clause.in_ is None or not clause.in_.path or path_matches(path, clause.in_.path) for clause in rule.match
    )


def _followed(place: Place, symbol: str, tree: PinPlaces, forms: Sequence[Definition]) -> Iterator[Place]:
    wanted = [form for form in forms if form.last_name == symbol.rsplit(".", 1)[-1]]
    try:
        found = tree.of(place.path[0], symbol, wanted)
    except NotAnalysedError:  # lint names the file that it cannot read
        yield place
        return
    for path, definition in found:
        owner, _, last = definition.name.rpartition(".")
        names = {"function": (last,)} if place.function else {}
        if place.class_:
            names["class_"] = (owner.rpartition(".")[2] if place.function else last,)
        yield replace(place, path=(path,), **names)


def _examples(rule: Rule) -> Iterator[Definition]:
    """The definitions of the rule's own examples."""
    for text in (*rule.good, *rule.bad):
        try:
            file = parse(textwrap.dedent(text).encode("utf-8", "surrogatepass"))
        except NotAnalysedError:
            continue
        yield from (definition for definition in file.definitions.values() if definition.name != MODULE)
