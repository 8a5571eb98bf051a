"""Markdown for a pull request comment and a job summary: the lost fixes in one table, the evidence folded."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from guard.model import Finding, MergeRecord, Origin, Report, Severity, Status
from guard.report.about import not_checked, outcome_sentence
from guard.report.concise import totals
from guard.report.excerpt import excerpt, pair_of
from guard.report.groups import Group, group, headline, origin_label, rank, subject_of
from guard.report.markdown_tables import containment_table, invariance_table, sync_table
from guard.report.markdown_text import code, fenced, plain, prose, row
from guard.report.next_steps import commands
from guard.report.plain import clean, plural
from guard.report.resolution import resolution_table
from guard.report.text_merge import file_lines, survival_sentence, worst_files
from guard.report.view import View

MARKER = "<!-- guard report -->"
"""The first line, by which a job finds its own comment again."""
COMMENT_LIMIT = 60_000
"""GitHub refuses comments over 65,536 characters."""
SUMMARY_LIMIT = 900_000
"""GitHub refuses job summaries over 1 MiB; a reviewer's view may take that much, in bytes."""
OPEN_ROWS = 8
"""Rows of the open table: with its head and counts, what a screen shows of a comment."""
_SIGN = {Severity.ERROR: "🟥", Severity.WARNING: "🟨", Severity.NOTE: "🟦"}
_SPARE = 400


def render(report: Report, view: View) -> str:
    """The report in at most `COMMENT_LIMIT` bytes, or `SUMMARY_LIMIT` for a reviewer."""
    limit = COMMENT_LIMIT if view.max_lines is not None else SUMMARY_LIMIT
    groups = group(finding for finding in report.findings if view.shows(finding))
    parts = ["\n".join(_open(report, view, groups)) + "\n"]
    room = limit - len(parts[0].encode()) - _SPARE
    blocks, left = _fitting(_folded(report, view, groups), room)
    parts += blocks
    room -= sum(len(block.encode()) for block in blocks)
    evidence, more = _fitting((_evidence(finding, report) for found in groups for finding in found.findings), room)
    if evidence:
        title = f"Evidence of {plural(len(evidence), 'finding')}, worst first"
        parts.append(f"\n<details><summary>{title}</summary>\n{''.join(evidence)}\n</details>\n")
    if left + more:
        said = plural(left + more, "part")
        parts.append(f"\n{said} left out for size; the JSON, SARIF and HTML reports hold everything.\n")
    return "".join(parts)


def _fitting(blocks: Iterable[str], room: int) -> tuple[list[str], int]:
    """The blocks that fit into `room` bytes, in order, each set apart; and how many did not."""
    taken: list[str] = []
    left = 0
    for block in blocks:
        part = f"\n{block}\n"
        size = len(part.encode())
        if size > room:
            left += 1
        else:
            room -= size
            taken.append(part)
    return taken, left


def _open(report: Report, view: View, groups: list[Group]) -> Iterator[str]:
    """What is seen without a click."""
    yield MARKER
    yield f"### {_title(report, groups)}"
    yield ""
    for merge in report.merges[:3]:
        yield f"{_judged(merge, view)}  "
        for line in file_lines(merge):
            yield f"{plain(line)}  "
    yield f"**{totals(report, view)}**"
    failed = [outcome for outcome in report.outcomes if outcome.status is Status.FAILED]
    if failed:
        yield ""
        yield from (f"> ⚠️ **not checked:** {plain(outcome_sentence(outcome))}" for outcome in failed[:3])
    if groups:
        yield ""
        yield from _table(groups[:OPEN_ROWS], view)
        if len(groups) > OPEN_ROWS:
            yield ""
            yield f"… and {len(groups) - OPEN_ROWS:,} more below."
    tables = (
        sync_table(report.syncs),
        containment_table(report.contains),
        invariance_table(report.invariance),
        resolution_table(report.resolution),
    )
    for lines in tables:
        if lines:
            yield ""
            yield from lines


def _title(report: Report, groups: list[Group]) -> str:
    """The worst in one sentence."""
    if groups:
        first = groups[0]
        more = f" · {len(groups) - 1:,} more" if len(groups) > 1 else ""
        return f"guard: {plain(first.label)} {plain(headline(first))}{more}"
    if any(outcome.status is Status.FAILED for outcome in report.outcomes):
        return "guard: a check failed"
    if not any(outcome.status is Status.RAN for outcome in report.outcomes):
        return "guard: nothing was checked"
    return "guard: nothing lost, nothing broken" if report.merges else "guard: nothing found"


def _judged(merge: MergeRecord, view: View) -> str:
    sides = f"theirs {_commit(merge.theirs, view)} into ours {_commit(merge.ours, view)}"
    said = f"Merge {_commit(merge.merged, view)}: {sides}"
    for name, count in (("ours", merge.ours_changes), ("theirs", merge.theirs_changes)):
        if count.total:
            said += f" · {count.total - count.lost:,} of {count.total:,} changes of {name} survive"
    if merge.repaired:
        said += f" · {plural(len(merge.repaired), 'loss', 'losses')} repaired by later commits"
    return said


def _table(groups: Iterable[Group], view: View) -> Iterator[str]:
    yield row("", "What", "What became of it", "Where")
    yield row("---", "---", "---", "---")
    for found in groups:
        worst = found.worst
        what = _origin(found.origin, view) if found.origin else f"{worst.code} {plain(worst.name)}"
        said = prose(headline(found)) + (" *(numeric)*" if any(one.numeric for one in found.findings) else "")
        yield row(_SIGN[worst.severity], what, said, _where(found))


def _where(found: Group) -> str:
    first = found.worst
    name = code(f"{posixpath.basename(first.path)}:{first.line}")
    return name + (f" +{len(found.findings) - 1}" if len(found.findings) > 1 else "")


def _origin(origin: Origin, view: View) -> str:
    url = view.pull_url(origin.pr) if origin.pr is not None else view.commit_url(origin.commit)
    label = plain(origin_label(origin))
    return f"{f'[{label}]({url})' if url else label} {plain(subject_of(origin))}"


def _commit(sha: str, view: View) -> str:
    url = view.commit_url(sha)
    return f"[`{sha[:10]}`]({url})" if url else f"`{sha[:10]}`"


def _folded(report: Report, view: View, groups: list[Group]) -> Iterator[str]:
    """Foldable blocks, the most wanted first; each stands for itself, so that any may be left out."""
    if len(groups) > OPEN_ROWS:
        yield _fold(f"All {len(groups):,} groups", "\n".join(_table(groups, view)))
    survival = [(merge, found) for merge in report.merges for found in worst_files(merge)]
    if survival:
        rows = [row("File", "Survival"), row("---", "---")]
        rows += [row(code(found.path), plain(survival_sentence(found).strip())) for _, found in survival[:40]]
        yield _fold("Least survives in", "\n".join(rows))
    repaired = [finding for merge in report.merges for finding in merge.repaired]
    if repaired:
        yield _fold(f"Repaired by later commits: {len(repaired):,}", "\n".join(_repaired(repaired, view)))
    left = not_checked(report)
    if left or report.notices:
        lines = [f"- {plain(outcome_sentence(outcome))}" for outcome in left[:200]]
        lines += [f"- {plain(notice)}" for notice in report.notices]
        yield _fold(f"Not checked and notices: {len(lines)}", "\n".join(lines))


def _repaired(findings: list[Finding], view: View) -> Iterator[str]:
    for finding in sorted(findings, key=rank)[:100]:
        by = f" by {_origin(finding.repaired_by, view)}" if finding.repaired_by else ""
        what = f"{_origin(finding.origins[0], view)} in " if finding.origins else ""
        yield f"- {what}{code(finding.path)}{by}"


def _evidence(finding: Finding, report: Report) -> str:
    """One finding with its excerpt as a diff and the commands that show the rest and bring it back."""
    label = f"{origin_label(finding.origins[0])} " if finding.origins else ""
    title = f"{_SIGN[finding.severity]} {label}{finding.code} {finding.path}:{finding.line}"
    lines = [prose(finding.message), ""]
    rows = [(one.tree, "".join(run for run, _ in one.pieces)) for one in excerpt(finding, 6) if one.pieces]
    pair = pair_of(finding)
    if rows and pair:
        body = [f"--- {pair[0]}", f"+++ {pair[1]}"]
        body += [f"{'+' if tree == 'merged' else '-'} {text}" for tree, text in rows]
        lines += [fenced(clean("\n".join(body)), "diff"), ""]
    elif rows:
        lines += [fenced(clean("\n".join(text for _, text in rows)), "python"), ""]
    steps = " · ".join(code(command) for command in commands(report, finding).values())
    place = f"in {code(finding.symbol)}, " if finding.symbol != "<module>" else ""
    lines.append(f"{place}{finding.confidence.value} confidence · {steps}")
    return _fold(title, "\n".join(lines))


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{plain(title)}</summary>\n\n{body}\n\n</details>"
