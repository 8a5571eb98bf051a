"""GRD206 to GRD209 for files that are not Python: what a sync lost or brought back of them, one finding a commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from guard.checks.contract import CheckContext, CheckResult
from guard.checks.returned import returned_text
from guard.checks.text_doubles import doubled
from guard.checks.text_findings import finding_of_file, finding_of_text, one_side_taken, taken_whole
from guard.config import Config
from guard.documents.kinds import is_python
from guard.globs import path_matches
from guard.judge.text_changes import LostUnit
from guard.judge.text_files import EditOutcome, FileJudge, TextFile, Unread, WholeFile
from guard.model import Finding, Outcome, Side, Status, Survival, Verdict
from guard.provenance.text_attribution import LostText, attribute_text, file_history
from guard.sync.trees import FourTrees

MANY_PARTS = 5  # commits of one side with losses in a file that was taken whole: from here on they are one finding
_REQUIREMENTS = re.compile(r"(^|/)[\w.-]*(requirements|constraints)[\w.-]*\.(txt|in|pip)$")
_VERSIONS = 50  # of a file that the other side deleted, newest first
_TELLING_LINE = 12  # characters; a shorter line stands in many files


def check_textual(context: CheckContext) -> CheckResult:
    """Judge every file of a sync that is not Python and is not as git merged it."""
    trees = context.trees
    paths, golden = looked_at(trees, context.config)
    fates = [fate for fate in judged(trees, paths, FileJudge.of(trees)) if not _is_of_the_judge(trees, fate)]
    context.progress("asking history about lost text")
    files = [fate for fate in fates if isinstance(fate, TextFile)]
    findings = _told(trees, fates)
    findings.extend(doubled(trees, context.config))
    outcomes = [Outcome("textual", Status.SKIPPED, f.reason, 0.0, f.path) for f in fates if isinstance(f, Unread)]
    if golden:
        outcomes.append(Outcome("textual", Status.SKIPPED, "policy", 0.0, f"{len(golden)} golden values or lock files"))
    return CheckResult(tuple(findings), tuple(outcomes), survival=tuple(_survival(files)))


def judged_by_lines(trees: FourTrees, paths: Sequence[str]) -> tuple[list[Finding], tuple[Survival, ...]]:
    """Judge Python files that cannot be read as Python by their lines and indentation, as a script.

    Arguments:
        paths: of such files; what the textual check tells of files that are there or not is left out.
    """
    fates = list(judged(trees, paths, FileJudge.of(trees, python=True)))
    kept = [fate for fate in fates if not (isinstance(fate, WholeFile) and _is_told_as_whole(trees, fate))]
    return _told(trees, kept), tuple(_survival(fate for fate in fates if isinstance(fate, TextFile)))


def _was_of_theirs(trees: FourTrees, whole: WholeFile) -> bool:
    """Whether what ours has of a file that theirs deleted is a version that theirs once had: none of its work."""
    path = whole.places.ours
    if whole.verdict is not Verdict.SUPERSEDED or whole.side is not Side.OURS or path is None:
        return False
    versions = trees.repository.git(
        "log", f"-{_VERSIONS}", "--format=", "--raw", "--no-abbrev", "--no-renames", trees.sync.theirs, "--", path
    )
    return trees.ours[path].sha.encode("ascii") in versions.split()


def _is_told_as_whole(trees: FourTrees, whole: WholeFile) -> bool:
    """Whether the textual check tells of a Python file's presence, mode or kind."""
    return _is_more_than_text(trees, whole.places.shown) and not _is_of_the_judge(trees, whole)


def _carried(trees: FourTrees, whole: WholeFile) -> bool:
    """Whether what a side changed in a Python file that the other one deleted stands, half of it, in other files."""
    path, side = whole.places.shown, whole.side
    if (
        side is None
        or whole.verdict is not Verdict.SUPERSEDED
        or whole.places.merged
        or not is_python(path, stubs=True)
    ):
        return False
    forms = [trees.blob("base", whole.places.base or path), trees.blob(side.value, whole.places.of(side.value) or path)]
    base, made = ({line.strip() for line in (blob or b"").split(b"\n")} for blob in forms)
    added = {line for line in made - base if len(line) >= _TELLING_LINE}
    found: set[bytes] = set()
    for other in trees.touched:
        entry = trees.merged.get(other)
        if entry is not None and entry.kind == "file" and is_python(other, stubs=True):
            found.update(added.intersection(line.strip() for line in trees.read(entry.sha).split(b"\n")))
    return len(found) * 2 >= len(added)


def _told(trees: FourTrees, fates: Sequence[EditOutcome]) -> list[Finding]:
    files = [fate for fate in fates if isinstance(fate, TextFile)]
    told = list(told_of(trees, files))
    findings = [found for _, found in told] + returned_text(told)
    for fate in fates:
        if isinstance(fate, WholeFile) and not _carried(trees, fate) and not _was_of_theirs(trees, fate):
            behind, by = file_history(trees.repository, trees.sync, fate)
            findings.append(finding_of_file(fate, behind, by))
    findings.extend(one_side_taken(trees, files))
    return findings


def looked_at(trees: FourTrees, config: Config) -> tuple[list[str], list[str]]:
    """Paths to judge, and those that the configuration calls golden values or lock files."""
    looked = [path for path in trees.resolved if not is_python(path, stubs=True) or _is_more_than_text(trees, path)]
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
    parts = list(_one_a_place(attribute_text(trees.repository, trees.sync, files)))
    for part in _gathered(trees, parts):
        whole = taken_whole(trees, part.file, part.side.other)
        for piece, undone in _split(part, later):
            yield piece, finding_of_text(piece, undone, whole)


def _is_more_than_text(trees: FourTrees, path: str) -> bool:
    """Whether a Python file was deleted in one of the trees, or has a mode or kind that one of them changed."""
    found = [tree.get(path) for tree in (trees.base, trees.ours, trees.theirs, trees.merged)]
    if found[0] is not None and None in found:
        return True
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


def _is_of_the_judge(trees: FourTrees, fate: EditOutcome) -> bool:
    """Whether the judge of Python files tells of this: not of a file one side deleted and the other went on with."""
    path = fate.path if isinstance(fate, Unread) else fate.places.shown
    if isinstance(fate, Unread) or not is_python(path, stubs=True):
        return False
    if isinstance(fate, TextFile):
        return True
    both_gone = fate.verdict is Verdict.LOST and fate.side is None
    twin = fate.twin and trees.base.get(path) != (trees.ours if fate.side is Side.THEIRS else trees.theirs).get(path)
    return fate.what == "file" and not both_gone and fate.verdict is not Verdict.SUPERSEDED and not twin


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
    python = any(is_python(path, stubs=True) for path in with_losses)
    judge = FileJudge.of(trees, trees.repository.entries(sync.merge), python=python)
    return {
        _identity(unit)
        for fate in judged(trees, with_losses, judge)
        if isinstance(fate, TextFile)
        for verdicts in fate.verdicts.values()
        for unit in verdicts.lost
    }


def _identity(unit: LostUnit) -> tuple[object, ...]:
    return unit.side, unit.new and unit.new.key, unit.old and unit.old.key


def _gathered(trees: FourTrees, parts: Sequence[LostText]) -> Iterator[LostText]:
    """One part for all that one side lost in a file that was taken whole, or in a list of requirements.

    There the losses are one act and not many, however many commits had made what is gone.
    """
    groups: dict[tuple[object, ...], list[LostText]] = {}
    for number, part in enumerate(parts):
        loss = any(unit.verdict.is_loss for unit in part.units)
        groups.setdefault((part.file.places, part.side) if loss else (number,), []).append(part)
    for group in groups.values():
        first = group[0]
        fewest = 2 if _REQUIREMENTS.search(first.file.places.shown) else MANY_PARTS
        listed = _REQUIREMENTS.search(first.file.places.shown) or taken_whole(trees, first.file, first.side.other)
        if not listed or len(group) < fewest:
            yield from group
            continue
        units = sorted((unit for part in group for unit in part.units), key=lambda unit: (unit.line, unit.hunk))
        made = dict.fromkeys(origin for part in group for origin in part.origins)
        yield LostText(first.file, first.side, tuple(units), tuple(made))


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
