"""What the merge broke: diagnostics that merged has and the parent whose text they came from has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from guard.checks.broken.attributes import missing_attributes
from guard.checks.broken.autograd import autograd_arity
from guard.checks.broken.calls import call_arguments
from guard.checks.broken.comparison import Comparison
from guard.checks.broken.copies import imported_at_two_levels, moved_and_kept, registered_twice
from guard.checks.broken.defaults import changed_defaults
from guard.checks.broken.difference import Break
from guard.checks.broken.dropped import dropped_arguments
from guard.checks.broken.duplicates import duplicate_definitions
from guard.checks.broken.findings import complete
from guard.checks.broken.gathering import FourWorlds
from guard.checks.broken.markers import conflict_markers, syntax_errors
from guard.checks.broken.members import missing_members
from guard.checks.broken.names import undefined_names
from guard.checks.broken.options import undefined_options
from guard.checks.broken.order import swapped_arguments
from guard.checks.contract import CheckContext, CheckResult
from guard.model import Outcome, Status

Part = Callable[[Comparison], Iterable[Break]]

# In the order of the report. Each module says in its docstring why it is there.
PARTS: dict[str, Part] = {
    "undefined names": undefined_names,
    "missing members": missing_members,
    "missing attributes": missing_attributes,
    "call arguments": call_arguments,
    "undefined options": undefined_options,
    "swapped arguments": swapped_arguments,
    "dropped arguments": dropped_arguments,
    "changed defaults": changed_defaults,
    "autograd arity": autograd_arity,
    "duplicates": duplicate_definitions,
    "moved and kept": moved_and_kept,
    "imports at two levels": imported_at_two_levels,
    "registered twice": registered_twice,
}


def check_broken(context: CheckContext) -> CheckResult:
    """All breaks of one sync. A file that cannot be analysed becomes an outcome, and so does a part that fails."""
    worlds = FourWorlds(context.trees, context.jobs)
    comparison = Comparison(worlds)
    marked = list(conflict_markers(worlds))
    breaks = [*marked, *syntax_errors(worlds, frozenset(found.path for found in marked))]
    outcomes = _not_analysed(worlds, frozenset(found.path for found in breaks))
    for name, part in PARTS.items():
        try:
            breaks.extend(part(comparison))
        except Exception as error:
            if context.debug:
                raise
            outcomes.append(Outcome("broken", Status.FAILED, f"{type(error).__name__}: {error}", subject=name))
    breaks = _once(breaks)
    return CheckResult(tuple(complete(worlds, found) for found in breaks), tuple(outcomes))


def _not_analysed(worlds: FourWorlds, told: frozenset[str]) -> list[Outcome]:
    outcomes = []
    for path in worlds.paths:
        view = worlds.merged.view(path)
        if view is not None and view.outline.error and path not in told:
            outcomes.append(Outcome("broken", Status.SKIPPED, view.outline.error, subject=path))
    return outcomes


def _once(breaks: list[Break]) -> list[Break]:
    """Without the attribute findings that an option finding says better."""
    options = {(found.path, found.subject) for found in breaks if found.code == "GRD312"}
    return [found for found in breaks if found.code != "GRD303" or (found.path, found.subject) not in options]
