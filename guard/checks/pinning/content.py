"""Content pins: a definition as a fix left it, for edits that no rule can state.

One YAML file a pin in `rules/pins/content`. The definition before and after the fix stand in it as source text; they
are the bad and the good example. The pin is broken where the edit that leads from the one to the other is no longer in
effect, statement by statement: what came later around it does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from guard.checks.pinning.places import PinPlaces, Read
from guard.documents.definitions import MODULE, Definition, parse
from guard.errors import NotAnalysedError
from guard.lint.language import needed, said
from guard.model import Confidence, Finding, Outcome, Severity, Status, Verdict, fingerprint
from guard.provenance.effect import Effect, effect_on
from guard.provenance.fixes import FixEdit, edit_weights

BROKEN_SHARE = 0.5  # of the edit's weight; from here on the fix is not in effect


@dataclass(frozen=True, slots=True)
class PinnedDefinition:
    """One definition as a fix left it."""

    path: str = needed("the file")
    symbol: str = needed("dotted name of the definition; `<module>` for the top level")
    before: str | None = said("its source before the fix: the bad example", None)
    after: str | None = said("its source after the fix: the good example", None)


@dataclass(frozen=True, slots=True)
class ContentPin:
    """A fix pinned by the content of its definitions."""

    id: str = needed("GRD501-NUMBER")
    name: str = needed("readable name")
    summary: str = needed("what it does, in a line")
    why: str = needed("what goes wrong otherwise")
    message: str = needed("the finding's text")
    definitions: tuple[PinnedDefinition, ...] = needed("the definitions that the fix changed")
    origin: tuple[int, ...] = said("numbers of the pull requests that it comes from")
    numeric: bool = said("whether it is about a computed number", True)


def edit_of(pinned: PinnedDefinition) -> FixEdit:
    """The edit that leads from the pinned definition's text before the fix to the one after it.

    Raises:
        NotAnalysedError: a text is no Python.
    """
    before, after = definition_of(pinned.before), definition_of(pinned.after)
    weights = edit_weights(before.statements if before else (), after.statements if after else ())
    return FixEdit(pinned.path, pinned.path, pinned.symbol, before, after, weights)


def check_content(
    pins: Iterable[ContentPin], paths: Sequence[str], read: Read, *, whole: bool = True
) -> tuple[list[Finding], list[Outcome]]:
    """The content pins that do not hold in a tree.

    Arguments:
        paths: the tree's Python files.
        read: the bytes of a path.
        whole: the paths are all that the tree has, so that what is not among them is nowhere.
    """
    findings: list[Finding] = []
    outcomes: list[Outcome] = []
    tree = PinPlaces(paths, read)
    for pin in pins:
        for pinned in pin.definitions:
            try:
                edit = edit_of(pinned)
                forms = [form for form in (edit.after, edit.before) if form is not None]
                places = tree.of(pinned.path, pinned.symbol, forms)
            except NotAnalysedError as refused:
                outcomes.append(Outcome("pins", Status.SKIPPED, refused.reason, 0.0, f"{pin.name}: {pinned.path}"))
                continue
            found = [(path, effect_on(edit, definition, path)) for path, definition in places]
            if not found and edit.after is not None and whole:
                findings.append(without_place(pin.name, pin.id, pinned.path, pinned.symbol, numeric=pin.numeric))
            if found and all(_broken(edit, effect) for _, effect in found):
                findings.append(_finding(pin, pinned, *found[0]))
    return findings, outcomes


def _broken(edit: FixEdit, effect: Effect) -> bool:
    lost = sum(edit.weights[key] for key in effect.lost)
    return bool(edit.weights) and lost > BROKEN_SHARE * edit.weight


def without_place(name: str, pin_id: str, path: str, symbol: str, *, numeric: bool) -> Finding:
    """Tell of a pin whose definition a tree has nowhere: it protects nothing."""
    what = path if symbol == MODULE else f"{symbol} of {path}"
    return Finding(
        code="GRD501",
        name=name,
        severity=Severity.ERROR,
        path=path,
        line=1,
        message=f"pin without its place: {what} is nowhere in this tree, under no other name either;"
        " bring it back, pin the code that took its place, or delete the pin",
        fingerprint=fingerprint(pin_id, path, symbol, f"{name} without its place"),
        confidence=Confidence.HIGH,
        symbol=symbol,
        verdict=Verdict.LOST,
        numeric=numeric,
        score=14.0,
    )


def definition_of(text: str | None) -> Definition | None:
    """The outermost definition of a text; of a module's own statements the whole."""
    if text is None:
        return None
    import textwrap

    file = parse(textwrap.dedent(text).encode("utf-8", "surrogatepass"))
    inner = [definition for definition in file.definitions.values() if definition.name != MODULE]
    module = file.definitions[MODULE, 0]
    return module if module.statements or not inner else inner[0]


def _finding(pin: ContentPin, pinned: PinnedDefinition, path: str, effect: Effect) -> Finding:
    return Finding(
        code="GRD501",
        name=pin.name,
        severity=Severity.ERROR,
        path=path,
        line=max(1, effect.line),
        message=pin.message,
        fingerprint=fingerprint(pin.id, path, pinned.symbol, pin.name),
        confidence=Confidence.HIGH,
        symbol=pinned.symbol,
        numeric=pin.numeric,
        score=15.0,
    )
