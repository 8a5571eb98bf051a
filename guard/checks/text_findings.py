"""Lost text and lost files as findings: code, severity, message, evidence, rank, fingerprint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from guard.codes import name_of
from guard.documents.directives import directive
from guard.documents.units import Document, Unit
from guard.judge.numeric import is_numeric
from guard.judge.text_changes import LostUnit
from guard.judge.text_files import TextFile, WholeFile
from guard.model import Confidence, Evidence, Finding, Origin, Related, Severity, Side, Verdict, fingerprint
from guard.provenance.text_attribution import LostText
from guard.sync.trees import TREES, FourTrees

_WEIGHT = {"code": 2.0, "data": 1.5, "script": 1.4, "lines": 1.2, "prose": 0.4}
_LONGEST_EVIDENCE = 24  # lines
_MOST_COMMITS = 6  # that a message names
_LONGEST_QUOTE = 90  # characters


def finding_of_text(part: LostText, undone_later: bool = False, whole: bool = False) -> Finding:
    """Tell what one commit did to one file and merged does not have.

    Arguments:
        whole: merged has the other side's file, whole.
        undone_later: the sync itself had it; a later commit of the branch took it out.
    """
    units, file, side = part.units, part.file, part.side
    loss = any(unit.verdict.is_loss for unit in units)
    kind = file.documents["merged"].kind
    verdict = _verdict(units)
    # A comment that a tool acts on changes what is said of the code, not what the code does.
    directives = all(directive(unit.unit.text) == unit.unit.text for unit in units)
    severity = Severity.WARNING if loss and not undone_later and not directives else Severity.NOTE
    symbol = symbol_of([unit.unit for unit in units], kind)
    lead = units[0]
    words = [token for unit in units for token in re.findall(r"\w+|[^\w\s]", unit.unit.text)]
    text = " ".join(_identity(unit) for unit in units)
    weight = _WEIGHT[kind] * (1.5 if any(origin.is_fix for origin in part.origins) else 1.0)
    return Finding(
        code="GRD208",
        name=name_of("GRD208"),
        severity=severity,
        path=file.places.shown,
        line=lead.line,
        message=_message(part, verdict, undone_later, whole),
        fingerprint=fingerprint("GRD208", file.places.shown, symbol, f"{side.value} {text}"),
        confidence=Confidence.MEDIUM if kind == "prose" or verdict is Verdict.PARTLY else Confidence.HIGH,
        end_line=max(unit.line for unit in units),
        symbol=symbol,
        subject=lead.unit.label or None,
        lost_side=side,
        verdict=verdict,
        numeric=kind == "code" and is_numeric(words),
        origins=part.origins,
        evidence=_evidence(file, units),
        related=tuple(_related(part)),
        fixable=loss,
        score=round(weight * (1 + min(len(units), 20) / 20), 3),
    )


def finding_of_file(whole: WholeFile, origins: tuple[Origin, ...], by: Origin | None) -> Finding:
    """Tell of a file that is gone or back as a whole, or whose mode or content is the base's again.

    Arguments:
        by: the commit of the other side that deleted it, if one did.
    """
    path, side = whole.places.shown, whole.side
    code = "GRD206" if whole.what == "file" else "GRD208"
    lost = whole.verdict is Verdict.LOST and code == "GRD206"
    # Of a file that one side deleted and the other went on with, what goes against ours is a loss, the rest its choice.
    chosen = whole.verdict is Verdict.SUPERSEDED and side is not Side.OURS
    note = chosen or whole.successor or (by is not None and whole.verdict is not Verdict.SUPERSEDED)
    severity = Severity.NOTE if note else Severity.ERROR if lost else Severity.WARNING
    message = _file_message(whole, by) + (f" ({_commit(origins[0])})" if origins else "")
    owner = side.value if side is not None else "both"
    return Finding(
        code=code,
        name=name_of(code),
        severity=severity,
        path=path,
        line=1,
        message=message,
        fingerprint=fingerprint(code, path, "<module>", f"{owner} {whole.what} {whole.verdict.value}"),
        lost_side=side,
        verdict=Verdict.REMOVED if by is not None and whole.verdict is Verdict.LOST else whole.verdict,
        origins=origins,
        related=tuple(
            Related(place, 1, f"{tree} has it here", tree)
            for tree in TREES
            if (place := whole.places.of(tree)) is not None and place != path
        )
        + tuple(Related(other, 1, "in merged too", "merged") for other in (whole.twin, whole.successor) if other),
        # Of twins each has what the other lacks: to take either away is no restoration.
        fixable=not whole.twin and (by is None or whole.verdict is Verdict.SUPERSEDED),
        score=8.0 if lost else 2.0,
    )


def one_side_taken(trees: FourTrees, files: Iterable[TextFile]) -> Iterator[Finding]:
    """Files that equal one parent, where that cost the other side something."""
    for file in files:
        path = file.places.merged
        for side in Side:
            verdicts = file.verdicts[side.other]
            if taken_whole(trees, file, side) and verdicts.kept < verdicts.total:
                share = (
                    f"{100 * verdicts.kept // verdicts.total} % of {side.other.value}' {verdicts.total} changes survive"
                )
                joined = ", where git would have joined both" if path not in trees.conflicts else ""
                message = f"the file was taken whole from {side.value}: {share}{joined}"
                yield Finding(
                    code="GRD209",
                    name=name_of("GRD209"),
                    severity=Severity.NOTE,
                    path=path or "",
                    line=1,
                    message=message,
                    fingerprint=fingerprint("GRD209", path or "", "<module>", side.value),
                    lost_side=side.other,
                    verdict=Verdict.PARTLY if verdicts.kept else Verdict.LOST,
                )


def taken_whole(trees: FourTrees, file: TextFile, side: Side) -> bool:
    """Whether merged has a file as one side has it."""
    path = file.places.merged
    tree = trees.ours if side is Side.OURS else trees.theirs
    return path is not None and path in trees.merged and trees.merged[path] == tree.get(path)


def _verdict(units: Sequence[LostUnit]) -> Verdict:
    kinds = {unit.verdict for unit in units}
    out = sum(len(unit.unit.text) for unit in units if unit.verdict is Verdict.REVIVED)
    if out > sum(len(unit.unit.text) for unit in units if unit.verdict is not Verdict.REVIVED):
        return Verdict.REVIVED
    for verdict in (Verdict.REVERTED, Verdict.PARTLY, Verdict.LOST, Verdict.REVIVED, Verdict.REMOVED):
        if verdict in kinds:
            return Verdict.REVERTED if kinds == {Verdict.LOST, Verdict.REVIVED} else verdict
    return Verdict.SUPERSEDED


def symbol_of(units: Sequence[Unit], kind: str) -> str:
    """The narrowest name that holds all units: dotted keys, heading, or enclosing function."""
    scopes = [_steps(unit.scope, kind) for unit in units]
    common = []
    for steps in zip(*scopes, strict=False):
        if len(set(steps)) > 1:
            break
        common.append(steps[0])
    return ("." if kind in {"data", "code"} else " / ").join(common) or "<module>"


def _steps(scope: str, kind: str) -> list[str]:
    if kind == "prose":
        return scope.split(" / ") if scope else []
    return (
        re.findall(r"\[[^\]]*\]*|[^.\[\]]+", scope) if kind == "data" else [part for part in scope.split(".") if part]
    )


def _identity(unit: LostUnit) -> str:
    return f"{unit.new.text if unit.new else ''} | {unit.old.text if unit.old else ''}"


def _message(part: LostText, verdict: Verdict, undone_later: bool, whole: bool) -> str:
    text, other = _what_is_lost(part), part.side.other.value
    if undone_later:
        text += ": a commit after the sync took it out"
    elif verdict in {Verdict.SUPERSEDED, Verdict.REMOVED}:
        text += f": {other} changed the same text" + (f" in {_commit(part.by)}" if part.by else "")
    elif whole:
        text += f": the file is that of {other}, whole"
    if len(part.origins) > 1:
        return text + _size(part)
    return text + (f" ({_commit(part.origins[0])})" if part.origins else "")


def _what_is_lost(part: LostText) -> str:
    """What is missing, what is in its old place, and what is back."""
    side, units, documents = part.side.value, part.units, part.file.documents
    put_in = [(unit.new, unit.displaced) for unit in units if unit.new is not None]
    taken_out = [unit.old for unit in units if unit.new is None and unit.old is not None]
    # The same text gone from one place and back in another was moved, out of a block or into one.
    ordered = documents["base"].ordered
    moved = {unit.text for unit, _ in put_in} & {unit.text for unit in taken_out} if ordered else set()
    missing = [unit for unit, displaced in put_in if not displaced and unit.text not in moved]
    displaced_units = [unit for unit, displaced in put_in if displaced or unit.text in moved]
    back = [unit for unit in taken_out if unit.text not in moved]
    parts = []
    if missing:
        instead = _instead(units, documents) if len(missing) == 1 else ""
        parts.append(f"{side}' {quoted(missing, documents[side])} is not in merged{instead}")
    if displaced_units:
        parts.append(f"{quoted(displaced_units, documents[side])}, which {side} had moved, is in its old place again")
    if back:
        parts.append(f"{quoted(back, documents['base'])}, which {side} had removed, is back")
    return "; ".join(parts)


def _size(part: LostText) -> str:
    """How much of how many commits one finding tells of."""
    scopes = list(dict.fromkeys(unit.unit.scope for unit in part.units if unit.unit.scope))
    under = f" under {_listed(scopes)}" if scopes else ""
    shown = ", ".join(_commit(origin) for origin in part.origins[:_MOST_COMMITS])
    more = f" and {len(part.origins) - _MOST_COMMITS} more" if len(part.origins) > _MOST_COMMITS else ""
    return f"; {len(part.units)} places{under} ({shown}{more})"


def _instead(units: Sequence[LostUnit], documents: Mapping[str, Document]) -> str:
    unit = next(unit for unit in units if unit.new is not None and not unit.displaced)
    if unit.verdict is Verdict.REVERTED and unit.old is not None:
        return f", which has `{_cut(_said(unit.old, documents['base']))}` again"
    if unit.verdict is Verdict.PARTLY and unit.merged is not None:
        return f", which has `{_cut(_said(unit.merged, documents['merged']))}`, the value of neither side"
    return ""


def quoted(units: Sequence[Unit], source: Document) -> str:
    """Units as a message names them, equal ones once and not more than a few.

    Arguments:
        source: the document that they are units of.
    """
    return _listed(list(dict.fromkeys(_quote(unit, source) for unit in units)))


def _quote(unit: Unit, source: Document) -> str:
    if source.kind == "data" and unit.label and unit.label != unit.text:
        return f"`{unit.label}: {_cut(unit.text)}`"
    return f"`{_cut(_said(unit, source))}`"


def _said(unit: Unit, source: Document) -> str:
    """What a unit says: a statement of code as its file spells it."""
    if source.kind != "code" or unit.line > len(source.lines):
        return unit.text
    return " ".join(" ".join(source.lines[unit.line - 1 : unit.end_line]).split())


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


def _listed(texts: Sequence[str]) -> str:
    shown = 5
    told = ", ".join(texts[:shown])
    return told if len(texts) <= shown else f"{told} and {len(texts) - shown} more"


def _commit(origin: Origin | None) -> str:
    if origin is None:
        return ""
    return f"#{origin.pr}" if origin.pr else origin.commit[:10]


def _file_message(whole: WholeFile, by: Origin | None) -> str:
    path, owner = whole.places.shown, whole.side.value if whole.side is not None else "both sides"
    if whole.what == "mode":
        return f"the executable bit that {owner} changed on {path} is as in the base again"
    if whole.what != "file":
        return f"{path}: the {whole.what} that {owner} changed is the base's again"
    if whole.twin:
        return f"{path} is in merged beside {whole.twin}, to which {owner} had renamed it"
    if whole.verdict is Verdict.REVIVED:
        return f"{path}, which {owner} deleted, is back"
    if whole.verdict is Verdict.SUPERSEDED and whole.side is not None and whole.places.of(whole.side.value) is None:
        return f"{path}, which {owner} deleted, is in merged: {whole.side.other.value} had changed it"
    had = "kept" if whole.side is None else "added" if whole.places.base is None else "changed"
    gone = f"{path}, which {owner} {had}, is not in merged"
    if whole.successor:
        return f"{gone}: {whole.successor} is"
    if whole.verdict is Verdict.SUPERSEDED and whole.side is not None:
        return f"{gone}: {whole.side.other.value} deleted it" + (f" in {_commit(by)}" if by else "")
    return gone + (f": {whole.side.other.value} deleted it in {_commit(by)}" if by and whole.side else "")


def _evidence(file: TextFile, units: Sequence[LostUnit]) -> Evidence:
    side = units[0].side
    forms: dict[str, list[Unit | None]] = {
        "base": [unit.old for unit in units],
        side.value: [unit.new for unit in units],
        side.other.value: [unit.other for unit in units],
        "merged": [unit.merged for unit in units],
    }
    return Evidence(**{tree: _excerpt(file.documents[tree], found) for tree, found in forms.items()})


def _excerpt(document: Document, units: Sequence[Unit | None]) -> str | None:
    """The lines of some units, with a mark where lines between them are left out."""
    numbers = sorted({n for unit in units if unit is not None for n in range(unit.line, unit.end_line + 1)})
    rows: list[str] = []
    last = None
    for number in numbers[:_LONGEST_EVIDENCE]:
        if last is not None and number > last + 1:
            rows.append("…")
        rows.append(document.lines[number - 1] if number <= len(document.lines) else "")
        last = number
    if len(numbers) > _LONGEST_EVIDENCE:
        rows.append("…")
    return "\n".join(rows) if rows else None


def _related(part: LostText) -> Iterator[Related]:
    side, file = part.side, part.file
    tree = side.value if part.units[0].new is not None else "base"
    place = file.places.of(tree)
    if place is not None:
        yield Related(place, part.units[0].unit.line, f"where {tree} has it", tree)
