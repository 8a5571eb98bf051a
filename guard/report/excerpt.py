"""Two versions of a place side by side: the lines that differ, and in them the tokens that differ."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from guard.model import Evidence, Finding, Side, Verdict
from guard.report.plain import clean, cut, display_width, plural

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_SPAN = re.compile(r"`([^`]+)`")
MAX_TOKENS = 400
"""Lines longer than this many tokens are compared by their common start and end only (difflib is quadratic)."""

MAX_LINES = 8
ALIKE = 0.7
"""Lines are partners if this share of their letters is the same. It decides what is marked, and no verdict."""

LONGEST_LINE = 2_000  # characters of one line of evidence
MOST_LINES = 100  # lines of one tree's evidence

LostEdit = tuple[str, bool]
"""A run of text and whether it differs from the other version."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of evidence: which tree says it, and its runs of equal and differing text; none if nothing is there."""

    tree: str
    pieces: tuple[LostEdit, ...]


def pair_of(finding: Finding) -> tuple[str, str] | None:
    """Which tree's text shows best what merged differs from: its name and `merged`; None without evidence."""
    evidence = finding.evidence
    side = finding.lost_side
    if finding.verdict is Verdict.REVIVED and evidence.merged is not None:
        return (side or Side.THEIRS).value, "merged"
    order = [side.value, side.other.value, "base"] if side else ["theirs", "ours", "base"]
    for tree in order:
        text = tree_text(evidence, tree)
        if text is not None and text != evidence.merged:
            return tree, "merged"
    return None


def tree_text(evidence: Evidence, tree: str) -> str | None:
    """What one of the four trees says, by its name; of a very long text the beginning, and how much is left out."""
    text = {
        "base": evidence.base,
        "ours": evidence.ours,
        "theirs": evidence.theirs,
        "merged": evidence.merged,
    }[tree]
    if text is None or len(text) <= LONGEST_LINE:
        return text
    rows = text.split("\n")
    shown = [
        row if len(row) <= LONGEST_LINE else f"{row[:LONGEST_LINE]}… {len(row) - LONGEST_LINE:,} more characters"
        for row in rows[:MOST_LINES]
    ]
    if len(rows) > MOST_LINES:
        shown.append(f"… {plural(len(rows) - MOST_LINES, 'more line')}")
    return "\n".join(shown)


def excerpt(finding: Finding, most: int = 1) -> list[Excerpt]:
    """The first differing lines of the finding's evidence, at most `most` of each tree, differing tokens apart."""
    pair = pair_of(finding)
    if pair is None:
        merged = tree_text(finding.evidence, "merged")
        lines = [line for line in (clean(merged).splitlines() if merged else []) if line.strip()]
        return [Excerpt("merged", ((line.strip(), False),)) for line in lines[:most]]
    left = clean(tree_text(finding.evidence, pair[0]) or "").splitlines()
    right = clean(tree_text(finding.evidence, pair[1]) or "").splitlines()
    named = _named(finding)
    befores, afters = _differing(left, right, named, finding.verdict is Verdict.REVIVED)
    rows: list[Excerpt] = []
    partners = sorted(_partners(befores, afters), key=lambda pair: -_mentions(pair, named))[:most]
    for before, after in partners:
        one, two = marked(before or "", after or "")
        if before is not None:
            rows.append(Excerpt(pair[0], one if after is not None else ((before, True),)))
        if after is not None:
            rows.append(Excerpt(pair[1], two if before is not None else ((after, True),)))
    if befores and not afters:
        rows.append(Excerpt(pair[1], ()))
    return rows


def _partners(befores: list[str], afters: list[str]) -> list[tuple[str | None, str | None]]:
    """Each line beside the one that most likely came of it; alone where none is like it."""
    if len(befores) == len(afters):
        return list(zip(befores, afters, strict=True))
    pairs: list[tuple[str | None, str | None]] = []
    start = 0
    for before in befores[:MAX_LINES]:
        rest = afters[start : start + MAX_LINES]
        likeness = [difflib.SequenceMatcher(None, before, after, autojunk=False).quick_ratio() for after in rest]
        best = max(range(len(rest)), key=likeness.__getitem__, default=-1)
        if best >= 0 and likeness[best] >= ALIKE:
            pairs += [(None, after) for after in rest[:best]]
            pairs.append((before, rest[best]))
            start += best + 1
        else:
            pairs.append((before, None))
    pairs += [(None, after) for after in afters[start : start + MAX_LINES]]
    return pairs


def _differing(left: list[str], right: list[str], named: list[str], revived: bool) -> tuple[list[str], list[str]]:
    """The lines of the block that differs and says most of what the message names, else of the whole.

    Of equal blocks the first one counts that has lines on the side that lost them (or, for revived code, got them
    back); one that differs by indentation only does not count.
    """
    one, two = [line.strip() for line in left], [line.strip() for line in right]
    blocks = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        befores = [line for line in one[i1:i2] if line]
        afters = [line for line in two[j1:j2] if line]
        if tag != "equal" and (befores or afters):
            blocks.append((befores, afters))
    if not blocks:
        return [line for line in one if line], [line for line in two if line]

    def weight(block: tuple[list[str], list[str]]) -> tuple[int, bool]:
        lines = block[1] if revived else block[0]
        return _mentions(("\n".join(lines), None), named), bool(lines)

    return max(blocks, key=weight)


def _named(finding: Finding) -> list[str]:
    """The pieces of code that the message names between backticks, and its subject, without white space."""
    named = [*_SPAN.findall(finding.message), finding.subject or ""]
    return [piece for piece in ("".join(text.split()) for text in named) if piece]


def _mentions(pair: tuple[str | None, str | None], named: list[str]) -> int:
    """How many of the named pieces the lines hold."""
    text = "".join("".join(line.split()) for line in pair if line)
    return sum(piece in text for piece in named)


def marked(before: str, after: str) -> tuple[tuple[LostEdit, ...], tuple[LostEdit, ...]]:
    """Two lines as runs of equal and differing tokens."""
    one, two = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(one) > MAX_TOKENS or len(two) > MAX_TOKENS:
        return _by_ends(before, after)
    left: list[LostEdit] = []
    right: list[LostEdit] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        differs = tag != "equal"
        if i2 > i1:
            left.append(("".join(one[i1:i2]), differs))
        if j2 > j1:
            right.append(("".join(two[j1:j2]), differs))
    return tuple(left), tuple(right)


def _by_ends(before: str, after: str) -> tuple[tuple[LostEdit, ...], tuple[LostEdit, ...]]:
    start = 0
    limit = min(len(before), len(after))
    while start < limit and before[start] == after[start]:
        start += 1
    end = 0
    while end < limit - start and before[-1 - end] == after[-1 - end]:
        end += 1

    def pieces(text: str) -> tuple[LostEdit, ...]:
        middle = text[start : len(text) - end]
        runs = ((text[:start], False), (middle, True), (text[len(text) - end :], False))
        return tuple(run for run in runs if run[0])

    return pieces(before), pieces(after)


def window(pieces: tuple[LostEdit, ...], width: int) -> tuple[LostEdit, ...]:
    """The runs cut to `width` columns so that the first differing run stays in sight."""
    text = "".join(run for run, _ in pieces)
    if display_width(text) <= width:
        return pieces
    lead = 0
    for run, differs in pieces:
        if differs:
            break
        lead += len(run)
    room = max(width // 2, width - 30)
    skip = max(0, lead - room) if lead > room // 2 else 0
    shown: list[LostEdit] = [("…", False)] if skip else []
    left = width - len(shown)
    for run, differs in pieces:
        rest = run[skip:]
        skip = max(0, skip - len(run))
        if not rest:
            continue
        if display_width(rest) > left:
            shown.append((cut(rest, left), differs))
            break
        shown.append((rest, differs))
        left -= display_width(rest)
    return tuple(shown)
