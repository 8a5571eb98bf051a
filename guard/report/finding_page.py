"""One finding with all its evidence: what each tree says, the commits, the tests, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guard.judge.heuristics import sentence_of
from guard.model import Finding, Origin
from guard.report.excerpt import LostEdit, marked, pair_of, tree_text
from guard.report.paint import OF_SEVERITY, Paint
from guard.report.plain import clean, cut, one_line

TREES = ("base", "ours", "theirs", "merged")


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a finding stands.

    Attributes:
        meaning: what its code means, in a line.
        sync: the merge as `SHA subject`; empty for a finding of the linter.
        trees: the commit behind each tree's name.
        tests: test files of the commits behind the finding, and whether merged has them.
        restore: the command that brings the change back; None where there is nothing to bring back.
        accept: the command that accepts the finding.
    """

    meaning: str
    sync: str = ""
    trees: tuple[tuple[str, str], ...] = ()
    tests: tuple[tuple[str, bool], ...] = ()
    restore: str | None = None
    accept: str = ""


def finding_page(finding: Finding, standing: Standing, paint: Paint, width: int) -> str:
    """The page, for a terminal of `width` columns."""
    lines = [*_head(finding, standing, paint, width), "", *_evidence(finding, standing, paint, width)]
    for title, body in (
        ("commits", list(_commits(finding.origins, width))),
        ("repaired by", list(_commits((finding.repaired_by,) if finding.repaired_by else (), width))),
        ("tests", [f"{one_line(path)}: {_there(there)}" for path, there in standing.tests]),
        ("related", [one_line(f"{p.tree} {p.path}:{p.line} {p.message}") for p in finding.related]),
        ("why", [f"{name}: {sentence_of(name)}" for name in finding.because]),
        ("policy", [one_line(finding.policy)] if finding.policy else []),
        ("accepted", [one_line(finding.accepted)] if finding.accepted else []),
        ("restore", [standing.restore] if standing.restore else []),
        ("accept", [standing.accept, f"or a trailer in a commit: Guard-Accept: {finding.fingerprint} <reason>"]),
    ):
        if body:
            lines += ["", paint(title, "bold"), *(f"  {line}" for line in body)]
    return "\n".join(lines) + "\n"


def _head(finding: Finding, standing: Standing, paint: Paint, width: int) -> Iterator[str]:
    severity = paint(finding.severity.value, OF_SEVERITY[finding.severity])
    facts = [f"confidence {finding.confidence.value}", *(["numeric"] if finding.numeric else [])]
    if finding.verdict is not None:
        whose = f"{finding.lost_side.value}: " if finding.lost_side else ""
        facts.insert(0, f"{whose}{finding.verdict.value}")
    yield f"{severity} {paint(f'{finding.code} {finding.name}', 'bold')} {finding.fingerprint} ({', '.join(facts)})"
    symbol = "" if finding.symbol == "<module>" else f" {one_line(finding.symbol)}"
    yield paint(f"{one_line(finding.path)}:{finding.line}", "cyan") + symbol
    yield one_line(finding.message)
    if standing.meaning:
        yield paint(f"{finding.code}: {standing.meaning}", "dim")
    if standing.sync:
        yield paint(cut(f"in {one_line(standing.sync)}", width), "dim")


def _evidence(finding: Finding, standing: Standing, paint: Paint, width: int) -> Iterator[str]:
    """The four texts one below the other; what merged and the tree that tells most do not share is marked."""
    commits = dict(standing.trees)
    pair = pair_of(finding)
    texts = {tree: tree_text(finding.evidence, tree) for tree in TREES}
    if not any(text is not None for text in texts.values()):
        return
    for tree in TREES:
        yield paint(tree, "bold") + paint(f" {commits[tree][:10]}" if tree in commits else "", "dim")
        text = texts[tree]
        if text is None:
            yield paint("  (nothing)", "dim")
            continue
        partner = None if pair is None else texts["merged" if tree == pair[0] else pair[0]]
        marks = tree == "merged" or (pair is not None and tree == pair[0])
        pieces: Sequence[LostEdit] = ((clean(text), False),)
        if marks and partner is not None:
            pieces = marked(clean(text), clean(partner))[0]
        yield from (f"  {line}".rstrip() for line in _painted(pieces, paint, gone=tree != "merged", width=width))


def _painted(pieces: Sequence[LostEdit], paint: Paint, *, gone: bool, width: int) -> list[str]:
    rows = [""]
    for text, differs in pieces:
        for number, part in enumerate(text.expandtabs(4).split("\n")):
            if number:
                rows.append("")
            rows[-1] += paint.differing(part, gone=gone) if differs and part.strip() else part
    del width  # a long line is shown whole here: this is the page that leaves nothing out
    return rows


def _commits(origins: Sequence[Origin], width: int) -> Iterator[str]:
    for origin in origins:
        pull = f" #{origin.pr}" if origin.pr is not None else ""
        fix = " [fix]" if origin.is_fix else ""
        yield cut(f"{origin.commit[:10]} {origin.date[:10]}{pull}{fix} {one_line(origin.subject)}", max(width, 60) - 2)


def _there(there: bool) -> str:
    return "stands in merged" if there else "is not in merged"
