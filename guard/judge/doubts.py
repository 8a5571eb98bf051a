"""Why a loss that the trees show may be none: each doubt by name. Severity asks for them (`guard.checks.severity`)."""

from __future__ import annotations

from dataclasses import replace

from guard.judge.changes import LostEdit
from guard.judge.registry import Heuristic, is_on

CONTESTED = Heuristic("contested", "the other side changed the statement, or something next to it")
NEIGHBOUR_CHANGED = Heuristic("neighbour-changed", "the other side changed or took out a statement of the base there")
SURROUNDINGS_GONE = Heuristic("surroundings-gone", "the other side took out what stood on both sides of it")
DEFINITION_REWRITTEN = Heuristic("definition-rewritten", "the other side wrote most of the definition anew")
RUN_BY_A_HELPER = Heuristic("run-by-a-helper", "a function that merged calls there has these statements, or like ones")
SAME_TARGET = Heuristic("same-target", "both sides wrote the definition, and merged assigns the name as the other")
NAMES_REPLACED = Heuristic("names-replaced", "the other side put other names in the place of these in the whole file")
TAKEN_OVER = Heuristic("taken-over", "the other side removed the definition; its old text stands in a new one")

DOUBTS = (
    CONTESTED, NEIGHBOUR_CHANGED, SURROUNDINGS_GONE, DEFINITION_REWRITTEN, RUN_BY_A_HELPER, SAME_TARGET, NAMES_REPLACED,
    TAKEN_OVER,
)  # fmt: skip
# Doubts about the place alone: they lower confidence, or count only with a number.
_OF_THE_PLACE = frozenset({CONTESTED.name, SURROUNDINGS_GONE.name})


def doubted(edit: LostEdit, *doubts: Heuristic) -> LostEdit:
    """The lost edit with more doubts."""
    names = {doubt.name for doubt in doubts if is_on(doubt)}
    return replace(edit, doubts=edit.doubts | names) if names else edit


def in_doubt(edit: LostEdit) -> bool:
    """Whether something other than the place alone speaks against the loss."""
    return bool(edit.doubts - _OF_THE_PLACE)


def is_contested(edit: LostEdit) -> bool:
    """Whether the other side touched what stands there."""
    return CONTESTED.name in edit.doubts


def lost_its_place(edit: LostEdit) -> bool:
    """Whether the other side took out what stood around it."""
    return SURROUNDINGS_GONE.name in edit.doubts
