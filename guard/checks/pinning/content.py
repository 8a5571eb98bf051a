"""Content pins: a definition as a fix left it, for edits that no rule can state.

One YAML file a pin in `rules/pins/content`. The definition before and after the fix stand in it as source text; they
are the bad and the good example. The pin is broken where the edit that leads from the one to the other is no longer in
effect, statement by statement: what came later around it does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from guard.documents.definitions import MODULE, Definition, SourceFile, parse
from guard.errors import NotAnalysedError
from guard.lint.language import needed, said
from guard.model import Confidence, Finding, Outcome, Severity, Status, fingerprint
from guard.provenance.effect import Effect, effect_on
from guard.provenance.fixes import FixEdit, edit_weights

BROKEN_SHARE = 0.5  # of the edit's weight; from here on the fix is not in effect
Read = Callable[[str], bytes | None]


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
    before, after = _definition(pinned.before), _definition(pinned.after)
    weights = edit_weights(before.statements if before else (), after.statements if after else ())
    return FixEdit(pinned.path, pinned.path, pinned.symbol, before, after, weights)


def check_content(pins: Iterable[ContentPin], paths: Sequence[str], read: Read) -> tuple[list[Finding], list[Outcome]]:
    """The content pins that do not hold in a tree.

    Arguments:
        paths: the tree's Python files.
        read: the bytes of a path.
    """
    findings: list[Finding] = []
    outcomes: list[Outcome] = []
    known = set(paths)
    for pin in pins:
        for pinned in pin.definitions:
            try:
                edit = edit_of(pinned)
                places = list(_places(pinned, known, read))
            except NotAnalysedError as refused:
                outcomes.append(Outcome("pins", Status.SKIPPED, refused.reason, 0.0, f"{pin.name}: {pinned.path}"))
                continue
            found = [(path, effect_on(edit, definition, path)) for path, definition in places]
            if not found and edit.after is not None:
                reason = f"{pinned.symbol} is not in this tree"
                outcomes.append(Outcome("pins", Status.SKIPPED, reason, 0.0, f"{pin.name}: {pinned.path}"))
            if found and all(_broken(edit, effect) for _, effect in found):
                findings.append(_finding(pin, pinned, *found[0]))
    return findings, outcomes


def _broken(edit: FixEdit, effect: Effect) -> bool:
    lost = sum(edit.weights[key] for key in effect.lost)
    return bool(edit.weights) and lost > BROKEN_SHARE * edit.weight


def _places(pinned: PinnedDefinition, paths: set[str], read: Read) -> Iterator[tuple[str, Definition]]:
    """The definition at its place, else wherever a file of the same name has it."""
    name = pinned.path.rsplit("/", 1)[-1]
    candidates = [pinned.path] if pinned.path in paths else sorted(p for p in paths if p.rsplit("/", 1)[-1] == name)
    for path in candidates:
        file = _file(read(path))
        found = file.definitions.get((pinned.symbol, 0)) if file else None
        if found is not None:
            yield path, found


def _file(data: bytes | None) -> SourceFile | None:
    return parse(data) if data is not None else None


def _definition(text: str | None) -> Definition | None:
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
