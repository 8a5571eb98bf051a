"""The heart of the judge: one definition in four forms, statement by statement.

Three ideas carry it. A statement that a side put in is there only where merged has a statement for it that is not the
base's own, so an identical one elsewhere in the definition hides nothing. A statement that a side took out is back
only where merged has the base's and the side has none for it. Inside a statement the same is asked of its tokens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from guard.documents.statements import Statement
from guard.judge import tokens
from guard.judge.alignment import align, hunks
from guard.judge.correspondence import ALIKE, Alignment, pair
from guard.judge.matches import looked_at_again
from guard.judge.normal_form import permuted
from guard.judge.outcomes import EditOutcome, Hunk, told
from guard.judge.placement import block_lost, order_lost, partners_of
from guard.judge.registry import Heuristic, is_on
from guard.judge.respelled import back_in_other_words
from guard.model import Verdict

SAYS_SOMETHING = 3  # names, values and operators that a statement must have to be known again elsewhere in a file
SAYS_MUCH = 5  # or to be taken for the same in another definition
__all__ = ["Alignment", "EditOutcome", "Hunk", "judge_common", "judge_statements", "judge_surplus"]

BOUND_ELSEWHERE = Heuristic("bound-elsewhere", "merged binds the name as the side does in another statement there")
PART_OF_A_LITERAL = Heuristic("part-of-a-literal", "merged gives the name a collection that holds all of the side's")
ANOTHER_EXIT = Heuristic("another-exit", "merged leaves the block in the way of the other side, which took these out")
IN_ANOTHER_DEFINITION = Heuristic("in-another-definition", "a statement that says much stands in another definition")
BLOCK_TAKEN_OUT = Heuristic("block-taken-out", "the other side took out a block around it")
READINGS = (BOUND_ELSEWHERE, PART_OF_A_LITERAL, ANOTHER_EXIT, IN_ANOTHER_DEFINITION, BLOCK_TAKEN_OUT)
INTEGRATED = 0.75  # at least this similar: the statement stands there in a form that someone fitted by hand


def judge_statements(forms: Alignment) -> list[Hunk]:
    """Every edit that the side made to the definition, with what became of it."""
    base, side = forms.base, forms.side
    found = []
    for start, end, new_start, new_end in hunks(forms.base_side, len(side)):
        hunk = Hunk(start, end, new_start, new_end)
        hunk.contested = _contested(forms, start, end)
        hunk.neighbour_changed = any(forms.base_other[i] < 0 for i in range(max(0, start - 1), min(len(base), end + 1)))
        hunk.surroundings_gone = _surroundings_gone(forms, start, end)
        pairs = pair(base[start:end], side[new_start:new_end])
        partner = {start + i: new_start + j for i, j in pairs}
        for i in range(start, end):
            hunk.fates.append(_changed(forms, i, partner[i]) if i in partner else _deleted(forms, i))
        added = set(range(new_start, new_end)) - set(partner.values())
        gone = Counter(token for i in range(start, end) if i not in partner for token in tokens.content(base[i].tokens))
        hunk.fates += [_added(forms, j, gone) for j in sorted(added)]
        found.append(hunk)
    partners = partners_of(forms)
    for hunk in found:
        placed = [looked_at_again(forms, _placed(forms, fate, partners)) for fate in hunk.fates]
        hunk.fates = [back_in_other_words(forms, fate) for fate in placed]
    return [*found, *_displaced(forms, partners)]


def _placed(forms: Alignment, outcome: EditOutcome, partners: dict[int, int]) -> EditOutcome:
    """The outcome, or a loss where merged has the statement without the effect that the side gave it."""
    j, k = outcome.new, outcome.merged
    if j < 0 or k < 0 or outcome.verdict.is_loss or outcome.verdict is Verdict.SUPERSEDED or forms.flat:
        return outcome
    if forms.side[j].kind not in ("statement", "header"):
        return outcome
    equal = [n for n, s in enumerate(forms.merged) if s.text == forms.side[j].text and forms.merged_side[n] in (-1, j)]
    if outcome.old < 0 and any(n != k and not block_lost(forms, j, n, partners) for n in equal):
        return outcome  # one of several equal ones stands where the side has it
    block = block_lost(forms, j, k, partners)
    beside = "" if block or outcome.old >= 0 else order_lost(forms, j, k)
    if not block and not beside:
        return outcome
    where = f"stands {block}" if block else f"stands on the other side of `{beside}`"
    return EditOutcome(Verdict.LOST, outcome.old, j, k, where=where)


def _displaced(forms: Alignment, partners: dict[int, int]) -> list[Hunk]:
    """Statements of the base that the side took out of a block, or into one, and that merged has where they were."""
    found = []
    for i, j in enumerate(forms.base_side):
        if j < 0 or forms.base[i].kind not in ("statement", "header"):
            continue
        k = forms.side_merged[j]
        if k < 0 or forms.base_merged[i] != k:
            continue
        block = block_lost(forms, j, k, partners)
        if block:
            outcome = EditOutcome(Verdict.REVERTED, i, j, k, where=f"stands {block}, as in the base,")
            hunk = Hunk(i, i + 1, j, j + 1, [outcome])
            hunk.contested = _contested(forms, i, i + 1)
            found.append(hunk)
    return found


def judge_common(forms: Alignment) -> list[Hunk]:
    """Statements that the base and both sides have and merged dropped, in no form, although nobody took them out."""
    found = []
    for i, statement in enumerate(forms.base):
        j = forms.base_side[i]
        if j < 0 or forms.base_other[i] < 0 or forms.base_merged[i] >= 0 or forms.side_merged[j] >= 0:
            continue
        if statement.kind == "import" and forms.counts[3][statement.text]:
            continue  # imported twice before and once now
        if forms.too_few(statement) and forms.most_alike(statement, ALIKE) < 0:
            found.append(Hunk(i, i + 1, j, j + 1, [EditOutcome(Verdict.LOST, new=j)]))
    return found


def judge_surplus(forms: Alignment, judged: Sequence[Hunk], spare: Callable[[str], bool]) -> list[Hunk]:
    """Statements of merged that are one more of what the file had since the base: old text put back beside the new.

    Arguments:
        judged: what `judge_statements` told of the same forms; nothing is told twice.
        spare: whether the file has more statements with a text than either side, and the base has one.
    """
    from_other = set(forms.other_merged)
    fresh = set(forms.fresh) - from_other
    # The base's own place, while the side's one is aligned with another statement of merged: the side had moved it.
    fresh.update(k for k, i in enumerate(forms.merged_base) if i >= 0 and forms.merged_side[k] < 0)
    fresh -= {fate.merged for hunk in judged for fate in hunk.lost}
    return [
        Hunk(0, 0, 0, 0, [EditOutcome(Verdict.REVIVED, merged=k)])
        for k in sorted(fresh)
        if forms.merged[k].kind in ("statement", "import")
        and len(tokens.content(forms.merged[k].tokens)) >= SAYS_SOMETHING
        and spare(forms.merged[k].text)
    ]


def _deleted(forms: Alignment, i: int) -> EditOutcome:
    """The side took statement `i` of the base out."""
    k = forms.base_merged[i]
    if k < 0 or forms.merged_side[k] >= 0:
        if forms.too_many(forms.base[i]):
            k = forms.take_equal(forms.base[i].text)
            if k >= 0:
                return EditOutcome(Verdict.REVIVED, old=i, merged=k)
        became = forms.became.get(i, -1)
        k = forms.other_merged[became] if became >= 0 else -1
        if k >= 0 and forms.merged_side[k] < 0:
            near = forms.base[i].kind != "parameter" and tokens.similarity(forms.base[i], forms.merged[k]) >= INTEGRATED
            return EditOutcome(Verdict.REVIVED if near else Verdict.SUPERSEDED, old=i, merged=k)
        return EditOutcome(Verdict.KEPT, old=i)
    if forms.base[i].kind == "import" and forms.reads(forms.base[i].tokens[-1].rsplit(".", 1)[-1]):
        return EditOutcome(Verdict.KEPT, old=i, merged=k)  # it is what reads the name that came back, or is new
    return EditOutcome(Verdict.REVIVED, old=i, merged=k)


def _added(forms: Alignment, j: int, gone: Counter[str]) -> EditOutcome:
    """The side put statement `j` in, in the place of statements with the tokens `gone`."""
    k = forms.side_merged[j]
    if k >= 0:
        return EditOutcome(Verdict.KEPT, new=j, merged=k)
    statement = forms.side[j]
    k = forms.take_equal(statement.text)
    if k >= 0:
        return EditOutcome(Verdict.MOVED, new=j, merged=k)
    if is_on(BOUND_ELSEWHERE) and forms.repeats(j):
        return EditOutcome(Verdict.EQUIVALENT, new=j)
    k = forms.holding(statement) if is_on(PART_OF_A_LITERAL) else -1
    if k >= 0:
        return EditOutcome(Verdict.EQUIVALENT, new=j, merged=k)
    k = forms.most_alike(statement, INTEGRATED)
    if k >= 0:
        return _fitted(forms, j, k, gone)
    k = forms.answered(j) if is_on(ANOTHER_EXIT) else -1
    if k >= 0:
        forms.fresh.remove(k)
        return EditOutcome(Verdict.SUPERSEDED, new=j, merged=k)
    if _context_removed(forms, j):
        return EditOutcome(Verdict.SUPERSEDED, new=j)
    return EditOutcome(Verdict.MOVED if _went(forms, statement) else Verdict.LOST, new=j)


def _fitted(forms: Alignment, j: int, k: int, gone: Counter[str]) -> EditOutcome:
    """Merged has a statement `k` much like the one the side put in; is all of it there, and nothing that went?"""
    side, merged = forms.side[j], forms.merged[k]
    want, have = tokens.bag(side), tokens.bag(merged)
    missing, more = want - have, have - want
    back = more if more and not more - gone else Counter[str]()
    forms.fresh.remove(k)
    forms.fitted[j] = k
    if not missing and not back:
        if permuted(side, merged):
            return _permuted(forms, -1, j, k)
        return EditOutcome(Verdict.EQUIVALENT, new=j, merged=k)
    lacking = [index for index, token in enumerate(side.tokens) if token in missing]
    returned = [index for index, token in enumerate(merged.tokens) if token in back]
    rows = tuple(side.rows[index] for index in lacking)
    row = merged.rows[returned[0]] if returned else merged.line
    touched = (*missing, *back)
    return EditOutcome(Verdict.PARTLY, -1, j, k, _runs(side, lacking), _runs(merged, returned), touched, row, rows)


def _changed(forms: Alignment, i: int, j: int) -> EditOutcome:
    """The side made statement `j` of the base's statement `i`."""
    if forms.side_merged[j] >= 0:
        return EditOutcome(Verdict.KEPT, old=i, new=j, merged=forms.side_merged[j])
    k = forms.base_merged[i]
    if k >= 0 and forms.merged_side[k] < 0:
        return _back(forms, i, j, k)
    k = forms.take_equal(forms.side[j].text)
    if k >= 0:
        return EditOutcome(Verdict.MOVED, old=i, new=j, merged=k)
    became = forms.became.get(i, -1)
    k = forms.other_merged[became] if became >= 0 else -1
    if k < 0 or forms.merged_side[k] >= 0:
        k = forms.most_alike(forms.side[j], ALIKE)
    if k >= 0:
        return _inside(forms, i, j, k, became)
    if forms.base_other[i] < 0 or _context_removed(forms, j):
        return EditOutcome(Verdict.SUPERSEDED, old=i, new=j)
    return EditOutcome(Verdict.MOVED if _went(forms, forms.side[j]) else Verdict.LOST, old=i, new=j)


def _went(forms: Alignment, statement: Statement) -> bool:
    """Whether a telling statement stands in another definition of merged, brought there."""
    telling = statement.kind == "statement" and len(tokens.content(statement.tokens)) >= SAYS_MUCH
    return is_on(IN_ANOTHER_DEFINITION) and telling and forms.went(statement.text)


def _back(forms: Alignment, i: int, j: int, k: int) -> EditOutcome:
    base, side, merged = forms.base[i], forms.side[j], forms.merged[k]
    edits = tokens.edits(base.tokens, side.tokens)
    missing = tuple(tokens.shown(side.tokens[e.new_start : e.new_end]) for e in edits if e.new_end > e.new_start)
    back = tuple(tokens.shown(base.tokens[e.start : e.end]) for e in edits if e.end > e.start)
    touched = [token for e in edits for token in (*base.tokens[e.start : e.end], *side.tokens[e.new_start : e.new_end])]
    row = merged.rows[min(edits[0].start, len(merged.rows) - 1)] if edits and merged.rows else merged.line
    new_rows = tuple(r for e in edits for r in side.rows[e.new_start : e.new_end])
    old_rows = tuple(r for e in edits for r in base.rows[e.start : e.end])
    return EditOutcome(Verdict.REVERTED, i, j, k, missing, back, tuple(touched), row, new_rows, old_rows, precise=True)


def _inside(forms: Alignment, i: int, j: int, k: int, became: int) -> EditOutcome:
    """Merged has statement `k` in the place of `i`: which of the side's token edits are in it?"""
    base, side, merged = forms.base[i], forms.side[j], forms.merged[k]
    theirs = _others_alone(base, side, forms.other[became]) if became >= 0 else []
    missing: list[int] = []
    back: list[int] = []
    done = superseded = crowded = False
    for fate in tokens.fates(base, side, merged):
        if fate.kept:
            done = True
        elif tokens.overlaps(fate.edit, theirs) or (fate.done and _renamed(fate, base, side, forms, became)):
            superseded = True
        else:
            done = done or fate.done
            crowded = crowded or any(_crowds(forms.other[became], edit, side, fate.edit) for edit in theirs)
            missing += fate.missing
            back += fate.back
    if k in forms.fresh:
        forms.fresh.remove(k)
    forms.fitted[j] = k
    if not missing and not back:
        if superseded:
            return EditOutcome(Verdict.SUPERSEDED, i, j, k)
        return _permuted(forms, i, j, k) if permuted(side, merged) else EditOutcome(Verdict.EQUIVALENT, i, j, k)
    verdict = Verdict.PARTLY if done else Verdict.REVERTED
    touched = (*(side.tokens[t] for t in missing), *(base.tokens[t] for t in back))
    row = _row(base, merged, back, side, missing)
    new_rows, old_rows = tuple(side.rows[t] for t in missing), tuple(base.rows[t] for t in back)
    return EditOutcome(
        verdict, i, j, k, _runs(side, missing), _runs(base, back), touched, row, new_rows, old_rows, not crowded
    )


def _permuted(forms: Alignment, i: int, j: int, k: int) -> EditOutcome:
    """Merged has all tokens of the side's statement, in an order that computes something else."""
    side, merged = forms.side[j], forms.merged[k]
    edits = tokens.edits(merged.tokens, side.tokens)
    missing = [index for edit in edits for index in range(edit.new_start, edit.new_end)]
    touched = tuple(side.tokens[index] for index in missing)
    rows = tuple(side.rows[index] for index in missing)
    where = "stands with its operands in another order"
    return EditOutcome(
        Verdict.PARTLY, i, j, k, (told(side),), (), touched, merged.line, rows, precise=True, where=where
    )


def _others_alone(base: Statement, side: Statement, other: Statement) -> list[tokens.TokenEdit]:
    """The other side's edits that the side did not make too: what both made supersedes neither."""
    same = {(e.start, e.end, side.tokens[e.new_start : e.new_end]) for e in tokens.edits(base.tokens, side.tokens)}
    edits = tokens.edits(base.tokens, other.tokens)
    return [e for e in edits if (e.start, e.end, other.tokens[e.new_start : e.new_end]) not in same]


def _renamed(fate: tokens.EditFate, base: Statement, side: Statement, forms: Alignment, became: int) -> bool:
    """Whether an edit lacks only names that the other side took out of the whole statement."""
    if became < 0 or fate.back:
        return False
    taken = set(base.tokens) - set(forms.other[became].tokens)
    return all(side.tokens[index] in taken for index in fate.missing)


def _crowds(other: Statement, theirs: tokens.TokenEdit, side: Statement, ours: tokens.TokenEdit) -> bool:
    """Whether two edits touch and are of one kind: an argument put in beside an operand does not crowd it."""
    if theirs.start > ours.end or ours.start > theirs.end:
        return False
    put_in = side.tokens[ours.new_start : ours.new_end], other.tokens[theirs.new_start : theirs.new_end]
    if theirs.start == theirs.end and ours.start == ours.end and all(put_in):
        return ("," in (put_in[0][0], put_in[0][-1])) == ("," in (put_in[1][0], put_in[1][-1]))
    return True


def _row(base: Statement, merged: Statement, back: Sequence[int], side: Statement, missing: Sequence[int]) -> int:
    """The line of merged where the edit stands or would stand."""
    partners, source, at = (
        (align(base.tokens, merged.tokens), base, back[0])
        if back
        else (align(side.tokens, merged.tokens), side, missing[0])
    )
    while at >= 0 and at < len(source.tokens):
        if partners[at] >= 0:
            return merged.rows[partners[at]]
        at -= 1
    return merged.line


def _runs(statement: Statement, indices: Sequence[int]) -> tuple[str, ...]:
    """The tokens at these indices, neighbours joined (a bracket or comma between two of them included)."""
    runs: list[list[int]] = []
    for index in indices:
        gap = statement.tokens[runs[-1][-1] + 1 : index] if runs else ()
        if runs and (index == runs[-1][-1] + 1 or (len(gap) <= 2 and not any(map(tokens.is_content, gap)))):
            runs[-1] += range(runs[-1][-1] + 1, index + 1)
        else:
            runs.append([index])
    return tuple(tokens.shown([statement.tokens[index] for index in run]) for run in runs)


def _contested(forms: Alignment, start: int, end: int) -> bool:
    """Whether the other side changed one of these statements, or put something in next to them."""
    other = forms.base_other
    if any(other[i] < 0 for i in range(max(0, start - 1), min(len(other), end + 1))):
        return True
    before = other[start - 1] if start > 0 else -1
    after = other[end] if end < len(other) else len(forms.other)
    return after - before != end - start + 1


def _surroundings_gone(forms: Alignment, start: int, end: int) -> bool:
    """Whether the other side took out what stood before and what stood after, so that the change lost its place."""
    other, became = forms.base_other, forms.became
    around = [i for i in (start - 1, end) if 0 <= i < len(other)]
    return bool(around) and all(other[i] < 0 and i not in became for i in around)


def _context_removed(forms: Alignment, j: int) -> bool:
    """Whether a block of the base that the side's statement `j` stands in was taken out by the other side."""
    parent = forms.side[j].parent if is_on(BLOCK_TAKEN_OUT) else -1
    while parent >= 0:
        i = forms.side_base[parent]
        if i >= 0 and forms.base_other[i] < 0 and forms.base_merged[i] < 0 and i not in forms.became:
            return True
        parent = forms.side[parent].parent
    return False
