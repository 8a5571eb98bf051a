"""What the merge broke: diagnostics that merged has and the parent whose text they came from has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from guard.checks.breaks.attributes import missing_attributes
from guard.checks.breaks.autograd import autograd_arity
from guard.checks.breaks.calls import call_arguments
from guard.checks.breaks.changed_kind import (
    abstract_objects,
    coroutines_used,
    narrow_overrides,
    properties_and_methods,
)
from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.copies import imported_at_two_levels, moved_and_kept, registered_twice
from guard.checks.breaks.defaults import changed_defaults
from guard.checks.breaks.difference import Break
from guard.checks.breaks.dropped import dropped_arguments
from guard.checks.breaks.duplicates import duplicate_definitions
from guard.checks.breaks.findings import complete
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.markers import conflict_markers, syntax_errors
from guard.checks.breaks.members import missing_members
from guard.checks.breaks.missing_definitions import gone_from_both, readers_lost
from guard.checks.breaks.names import undefined_names
from guard.checks.breaks.options import undefined_options
from guard.checks.breaks.order import swapped_arguments
from guard.checks.breaks.processes import ForkedTask, can_fork
from guard.checks.contract import CheckContext, CheckResult
from guard.documents.gc_paused import gc_paused
from guard.errors import fault
from guard.model import Outcome, Status

Part = Callable[[Comparison], Iterable[Break]]

# In the order of the report. Each module says in its docstring why it is there.
PARTS: dict[str, Part] = {
    "undefined names": undefined_names,
    "missing members": missing_members,
    "missing attributes": missing_attributes,
    "undefined options": undefined_options,
    "call arguments": call_arguments,
    "swapped arguments": swapped_arguments,
    "dropped arguments": dropped_arguments,
    "changed defaults": changed_defaults,
    "autograd arity": autograd_arity,
    "coroutines used as values": coroutines_used,
    "properties and methods": properties_and_methods,
    "abstract classes": abstract_objects,
    "narrow overrides": narrow_overrides,
    "duplicates": duplicate_definitions,
    "moved and kept": moved_and_kept,
    "imports at two levels": imported_at_two_levels,
    "registered twice": registered_twice,
    "gone from both": gone_from_both,
    "readers lost": readers_lost,
}

# What a second process does meanwhile, so that both have about as much to do.
_BESIDE = frozenset({"missing members", "missing attributes", "undefined options", "readers lost", "duplicates"})
_WORTH_A_PROCESS = 100  # files

# Codes that say less than another code that says something of the same subject in the same file.
_LESS = {"GRD303": {"GRD312"}, "GRD309": {"GRD301", "GRD302", "GRD303", "GRD304", "GRD305", "GRD312"}}


def check_broken(context: CheckContext) -> CheckResult:
    """All breaks of one sync. A file that cannot be analysed becomes an outcome, and so does a part that fails."""
    with gc_paused():
        return _compare(context)


def _compare(context: CheckContext) -> CheckResult:
    context.progress("broken: reading Python files")
    worlds = FourWorlds(context.trees, context.jobs)
    comparison = Comparison(worlds)
    marked = list(conflict_markers(worlds))
    breaks = [*marked, *syntax_errors(worlds, frozenset(found.path for found in marked))]
    outcomes = _not_analysed(worlds, frozenset(found.path for found in breaks))
    context.progress("broken: comparing")
    if context.jobs > 1 and len(worlds.paths) >= _WORTH_A_PROCESS and can_fork():
        beside = ForkedTask(lambda: _parts(comparison, _BESIDE, context.debug))
        results = [_parts(comparison, PARTS.keys() - _BESIDE, context.debug), beside.result()]
    else:
        results = [_parts(comparison, PARTS.keys(), context.debug)]
    for found, failed in results:
        breaks += found
        outcomes += failed
    context.progress("broken: asking history")
    findings = complete(worlds, _once(breaks))
    return CheckResult(findings, tuple(outcomes))


def _parts(comparison: Comparison, names: Set[str], debug: bool) -> tuple[list[Break], list[Outcome]]:
    """Run some of the parts; one that fails is an outcome, and the others stand."""
    breaks: list[Break] = []
    failed: list[Outcome] = []
    for name, part in PARTS.items():
        if name not in names:
            continue
        try:
            breaks.extend(part(comparison))
        except Exception as error:
            if debug:
                raise
            failed.append(Outcome("broken", Status.FAILED, fault(error), subject=name))
    return breaks, failed


def _not_analysed(worlds: FourWorlds, told: frozenset[str]) -> list[Outcome]:
    outcomes = []
    for path in worlds.paths:
        view = worlds.merged.view(path)
        if view is not None and view.outline.error and path not in told:
            outcomes.append(Outcome("broken", Status.SKIPPED, view.outline.error, subject=path))
    return outcomes


def _once(breaks: list[Break]) -> list[Break]:
    """Without findings that another one says better, and each place once."""
    told = {(found.code, found.subject) for found in breaks}
    kept: dict[tuple[str, str, str, str, str], Break] = {}
    for found in breaks:
        if not any((code, found.subject) in told for code in _LESS.get(found.code, ())):
            kept.setdefault((found.code, found.path, found.symbol, found.subject, found.detail), found)
    return list(kept.values())
