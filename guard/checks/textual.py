"""GRD206 to GRD209 for files that are not Python: what a sync lost or brought back of them, one finding a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guard.checks.contract import CheckContext, CheckResult
from guard.checks.returned import returned_text
from guard.checks.text_findings import finding_of_file, finding_of_text, one_side_taken, taken_whole
from guard.config import Config
from guard.globs import path_matches
from guard.judge.text_changes import LostUnit
from guard.judge.text_files import EditOutcome, FileJudge, TextFile, Unread, WholeFile
from guard.model import Finding, Outcome, Side, Status, Survival, Verdict
from guard.provenance.text_attribution import LostText, attribute_text, file_history
from guard.sync.trees import FourTrees

PYTHON = (".py", ".pyi")


def check_textual(context: CheckContext) -> CheckResult:
    """Judge every file of a sync that is not Python and is not as git merged it."""
    trees, sync = context.trees, context.trees.sync
    paths, golden = looked_at(trees, context.config)
    fates = [fate for fate in judged(trees, paths, FileJudge.of(trees)) if not _is_of_the_judge(fate)]
    files = [fate for fate in fates if isinstance(fate, TextFile)]
    context.progress("asking history about lost text")
    told = list(told_of(trees, files))
    findings = [found for _, found in told] + returned_text(told)
    for fate in fates:
        if isinstance(fate, WholeFile) and fate.verdict is not Verdict.SUPERSEDED:
            behind, by = file_history(trees.repository, sync, fate)
            findings.append(finding_of_file(fate, behind, by))
    findings.extend(one_side_taken(trees, files))
    outcomes = [Outcome("textual", Status.SKIPPED, f.reason, 0.0, f.path) for f in fates if isinstance(f, Unread)]
    if golden:
        outcomes.append(Outcome("textual", Status.SKIPPED, "policy", 0.0, f"{len(golden)} golden values or lock files"))
    return CheckResult(tuple(findings), tuple(outcomes), survival=tuple(_survival(files)))


def looked_at(trees: FourTrees, config: Config) -> tuple[list[str], list[str]]:
    """Paths to judge, and those that the configuration calls golden values or lock files."""
    looked = [path for path in trees.resolved if not path.endswith(PYTHON) or _is_more_than_text(trees, path)]
    looked = sorted({*looked, *_modes_back(trees)})
    golden = [path for path in looked if path_matches(path, config.golden)]
    return [path for path in looked if path not in set(golden)], golden


def judged(
    trees: FourTrees, paths: Iterable[str], judge: FileJudge, received: Iterable[str] | None = None
) -> Iterator[EditOutcome]:
    """What became of files that are not Python; a renamed file is judged once.

    Arguments:
        paths: where any of the trees has them.
        judge: the judge of these trees, or of another tree in the place of merged.
        received: files that text may have moved to; the same ones by default.
    """
    wanted = list(paths)
    elsewhere = judge.units_elsewhere(iter(wanted if received is None else received))
    seen = set()
    for path in wanted:
        places = judge.places(path)
        if places not in seen:
            seen.add(places)
            yield from judge.fates(path, elsewhere)


def told_of(trees: FourTrees, files: list[TextFile]) -> Iterator[tuple[LostText, Finding]]:
    """What is lost of judged files, each part with the finding that tells of it."""
    later = _after_the_sync(trees, files)
    for part in _one_a_place(attribute_text(trees.repository, trees.sync, files)):
        whole = taken_whole(trees, part.file, part.side.other)
        for piece, undone in _split(part, later):
            yield piece, finding_of_text(piece, undone, whole)


def _is_more_than_text(trees: FourTrees, path: str) -> bool:
    """Whether a Python file has a mode or a kind (symbolic link, submodule) that one of the trees has changed."""
    found = [tree.get(path) for tree in (trees.base, trees.ours, trees.theirs, trees.merged)]
    return len({entry.mode for entry in found if entry is not None}) > 1 or any(
        entry is not None and entry.kind != "file" for entry in found
    )


def _modes_back(trees: FourTrees) -> Iterator[str]:
    """Files whose mode a side changed and merged has as in the base; content need not differ anywhere."""
    for path, entry in trees.merged.items():
        before = trees.base.get(path)
        if before is not None and before.mode == entry.mode and entry.kind == "file":
            sides = (trees.ours.get(path), trees.theirs.get(path))
            if any(side is not None and side.kind == "file" and side.mode != entry.mode for side in sides):
                yield path


def _is_of_the_judge(fate: EditOutcome) -> bool:
    """Whether the judge of Python files tells of this."""
    if isinstance(fate, Unread):
        return False
    return fate.places.shown.endswith(PYTHON) and (isinstance(fate, TextFile) or fate.what == "file")


def _split(part: LostText, later: set[tuple[object, ...]] | None) -> Iterator[tuple[LostText, bool]]:
    """The part that the sync lost, and the part that a later commit of the branch took out: (part, taken out later)."""
    if later is None or not any(unit.verdict.is_loss for unit in part.units):
        yield part, False
        return
    for undone in (False, True):
        units = tuple(unit for unit in part.units if (_identity(unit) not in later) is undone)
        if units:
            yield LostText(part.file, part.side, units, part.origins, part.by), undone


def _after_the_sync(trees: FourTrees, files: list[TextFile]) -> set[tuple[object, ...]] | None:
    """What was lost in the merge's own tree already; None where that is the tree that is judged."""
    sync = trees.sync
    if sync.merge == sync.checked:
        return None
    with_losses = [file.places.shown for file in files if any(verdicts.lost for verdicts in file.verdicts.values())]
    judge = FileJudge.of(trees, trees.repository.entries(sync.merge))
    return {
        _identity(unit)
        for fate in judged(trees, with_losses, judge)
        if isinstance(fate, TextFile)
        for verdicts in fate.verdicts.values()
        for unit in verdicts.lost
    }


def _identity(unit: LostUnit) -> tuple[object, ...]:
    return unit.side, unit.new and unit.new.key, unit.old and unit.old.key


def _one_a_place(parts: list[LostText]) -> Iterator[LostText]:
    """Where merged has a value of neither side, one finding says so, for what came in."""
    told = {
        (part.file.places, unit.unit.scope)
        for part in parts
        if part.side is Side.THEIRS
        for unit in part.units
        if unit.verdict is Verdict.PARTLY
    }
    for part in parts:
        units = part.units
        if part.side is Side.OURS:
            units = tuple(
                unit
                for unit in units
                if unit.verdict is not Verdict.PARTLY or (part.file.places, unit.unit.scope) not in told
            )
        if units:
            yield LostText(part.file, part.side, units, part.origins, part.by)


def _survival(files: Iterable[TextFile]) -> Iterator[Survival]:
    for file in files:
        for side, verdicts in file.verdicts.items():
            if verdicts.total:
                yield Survival(file.places.shown, side, verdicts.total, verdicts.kept)
