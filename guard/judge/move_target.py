"""Where a definition went that merged does not have at its place."""

from __future__ import annotations

from guard.documents.definitions import Definition
from guard.judge.definition_index import DefinitionIndex, Location, moved_to
from guard.judge.forms import FileForms
from guard.judge.renamed import SUBSTANTIAL
from guard.model import Side

DISTINCTIVE = 12  # characters of a name that two definitions do not share by chance


def move_target(
    forms: FileForms, side: Side, elsewhere: DefinitionIndex, after: Definition, before: Definition | None
) -> Location | None:
    """The definition of merged that holds what a side's definition held: renamed, in another class or another file.

    Arguments:
        after, before: the definition as the side and as the base have it.
    """
    merged, known, made = forms.merged, forms.base.definitions, forms.of(side).definitions
    here = [
        Location(forms.path, merged, d, None, forms.ours.definitions.get(key), forms.theirs.definitions.get(key))
        for key, d in merged.definitions.items()
        if key not in known and key not in made
    ]
    others = [s for s in elsewhere.standing(after.last_name, forms.path) if not _accounted(s, side)]
    found = moved_to(after, here, others)
    if found is None and before is not None:
        found = moved_to(before, here, others, fresh_only=True)
    if found is None and len(after.statements) >= SUBSTANTIAL:
        wanted = before or after
        holding = elsewhere.holding(map(str.strip, wanted.own.split("\n")), forms.path)
        found = moved_to(wanted, (), [s for s in holding if not _accounted(s, side)], fresh_only=True)
    return found


def other_form(forms: FileForms, side: Side, elsewhere: DefinitionIndex, after: Definition) -> str:
    """A file of merged that holds much of a definition with another name or cut, or has one of its name; or nothing."""
    named = next(elsewhere.standing(after.last_name, "", alone=True), None)
    distinctive = len(after.last_name) >= DISTINCTIVE and not after.last_name.startswith("__")
    if named is not None and distinctive and named.merged.kind == after.kind:
        return named.path
    text = map(str.strip, forms.of(side).lines[after.line - 1 : after.end_line])
    held = next(elsewhere.holding(text, ""), None)
    return held.path if held is not None else ""


def _accounted(standing: Location, side: Side) -> bool:
    """Whether the side itself has the definition at that place, so that it received nothing that left another."""
    return (standing.ours if side is Side.OURS else standing.theirs) is not None
