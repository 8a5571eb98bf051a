"""Definitions that one side gave another name, while the other side went on with them under the old one."""

from __future__ import annotations

from collections.abc import Iterable

from guard.documents.definitions import Definition
from guard.judge.definition_index import shared
from guard.judge.forms import FileForms
from guard.model import Side

RECAST = 0.6  # share of a definition's statements below which it was written anew
HOLLOW = 0.25  # share of the base's statements below which a definition is only a shell of what it was
SUBSTANTIAL = 8  # statements from which on the content of a definition tells where it went
TOUCHED = 0.75  # similarity from which on a definition was only touched


def rename_candidates(forms: FileForms, side: Side) -> list[Definition]:
    """The base's definitions that the other side has and whose name the side and merged gave to nothing like them."""
    other = forms.of(side.other).definitions
    return [before for key, before in forms.base.definitions.items() if key in other and _left(forms, side, before)]


def old_name(forms: FileForms, side: Side, after: Definition, candidates: Iterable[Definition]) -> Definition | None:
    """The base's definition that a side gave a new name, which merged has too, while the other side has not.

    Arguments:
        after: the side's definition of the new name.
        candidates: what `abandoned` tells of the side.
    """
    if after.key in forms.of(side.other).definitions or after.key not in forms.merged.definitions:
        return None
    alike = (before for before in candidates if before.kind == after.kind)
    likely = max(alike, key=lambda before: shared(before, after), default=None)
    return likely if likely is not None and shared(likely, after) >= TOUCHED else None


def renamed_by(forms: FileForms, side: Side, before: Definition) -> bool:
    """Whether a side gave the base's definition another name, which merged has, and its old name to something else."""
    known, merged = forms.base.definitions, forms.merged.definitions
    return _left(forms, side, before) and any(
        key not in known and key in merged and found.kind == before.kind and shared(before, found) >= TOUCHED
        for key, found in forms.of(side).definitions.items()
    )


def _left(forms: FileForms, side: Side, before: Definition) -> bool:
    named = (file.definitions.get(before.key) for file in (forms.of(side), forms.merged))
    return all(found is None or shared(before, found) < RECAST for found in named)


def is_stub(before: Definition, now: Definition, other: Definition | None) -> bool:
    """Whether a definition of some size is left with hardly anything of the base's, as the other side made it."""
    if other is None or len(before.statements) < SUBSTANTIAL or other.own == before.own:
        return False
    return shared(before, now) < HOLLOW and shared(before, other) < HOLLOW
