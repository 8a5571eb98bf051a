"""From the worker's records to facts: rows of the table, outcomes, and one finding for every case that differs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guard.codes import name_of
from guard.invariance.case import Case, Tier
from guard.invariance.family.registry import all_cases
from guard.invariance.place import Definition, locate
from guard.invariance.tree import Tree
from guard.model import Cut, Finding, Invariance, Outcome, Severity, Status, fingerprint

CHECK = "invariance"
# What these tiers show is no defect of the tree: the objective differs by definition, or the caller has to do its part.
_NO_DEFECT = {Tier.DEFINITION: "by definition", Tier.CONTRACT: "contract"}
# Two trees that share a defect measure the same figures but for rounding; another defect behind it moves them.
_RATIO_WITHIN, _REL_WITHIN = 0.005, 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was measured on one tree."""

    tree: Tree
    rows: tuple[Invariance, ...]
    outcomes: tuple[Outcome, ...]
    findings: tuple[Finding, ...]
    notice: str


def judge(tree: Tree, records: Sequence[Mapping[str, Any]], seconds: float) -> Verdict:
    """Judge the records of one tree."""
    known = {case.name: case for case in all_cases()}
    rows: list[Invariance] = []
    differing: dict[str, list[tuple[Invariance, str | None]]] = {}
    outcomes: list[Outcome] = []
    about, started = "", False
    for record in records:
        match record["type"]:
            case "start":
                started = True
                about = f"{tree.label}: megatron.core {record['version']}, torch {record['torch']}, {record['device']}"
            case "case":
                row = _row(record, tree, known[record["case"]])
                rows.append(row)
                if row.status == "differs" and known[row.case].tier not in _NO_DEFECT:
                    differing.setdefault(row.case, []).append((row, record.get("equals")))
                if row.status in {"failed", "skipped"}:
                    subject = f"{row.case} {_label(row.cut)} on {tree.label}"
                    outcomes.append(Outcome(CHECK, Status(row.status), row.reason, row.seconds, subject))
            case "fatal":
                outcomes.append(Outcome(CHECK, Status.FAILED, record["reason"], seconds, tree.label))
    if any(row.status in {"ok", "differs"} for row in rows):
        outcomes.insert(0, Outcome(CHECK, Status.RAN, None, seconds))
    elif started and not rows:
        outcomes.append(Outcome(CHECK, Status.SKIPPED, "no case of the suite is selected", seconds, tree.label))
    findings = tuple(_finding(tree, known[name], cuts) for name, cuts in differing.items())
    return Verdict(tree, tuple(rows), tuple(outcomes), findings, about)


def _row(record: Mapping[str, Any], tree: Tree, case: Case) -> Invariance:
    reason = record.get("reason")
    if record["status"] == "differs" and case.tier in _NO_DEFECT:
        reason = f"{_NO_DEFECT[case.tier]}: {reason}"
    return Invariance(
        case=case.name,
        tree=tree.label,
        cut=Cut(**record["cut"]),
        status=record["status"],
        ratio=record.get("ratio"),
        rel=record.get("rel"),
        tolerance=record["tolerance"],
        reason=reason,
        seconds=record.get("seconds", 0.0),
    )


def _label(cut: Cut) -> str:
    sizes = {"dp": cut.dp, "cp": cut.cp, "tp": cut.tp, "ep": cut.ep, "etp": cut.etp or 1, "pp": cut.pp}
    sizes["vpp"] = cut.vpp or 1
    return " ".join([*(f"{name}{size}" for name, size in sizes.items() if size > 1), f"mbs{cut.mbs}"])


def _finding(tree: Tree, case: Case, cuts: Sequence[tuple[Invariance, str | None]]) -> Finding:
    """One finding for a case, whatever the number of cuts that show it; the worst cut speaks first."""
    ordered = sorted(cuts, key=lambda item: (-_size(item[0].rel), _label(item[0].cut)))
    place = locate(tree.folder, case.places) or Definition(case.places[0].path, "<module>", 1, 1, "")
    worst, equals = ordered[0]
    # The figures belong to what is known: another defect behind an accepted one moves them, and is a new finding.
    figures = equals or f"{_step(worst.ratio, 0.02)} {_step(worst.rel, 0.3)}"
    said = f"{_label(worst.cut)}: {worst.reason}"
    others = [_short(row, name) for row, name in ordered[1:]]
    also = f"; also {', '.join(others)}" if others else ""
    return Finding(
        code=case.code,
        name=name_of(case.code),
        severity=Severity.ERROR,
        path=tree.prefix + place.path,
        line=place.line,
        end_line=place.end_line,
        symbol=place.symbol,
        subject=case.name,
        message=f"broken: {case.claim} ({said}{also})",
        fingerprint=fingerprint(case.code, place.path, place.symbol, f"{case.name} {figures}"),
        numeric=True,
    )


def _size(rel: float | None) -> float:
    """How far a cut is off, in steps that rounding does not reach; what is not finite is farthest."""
    return float("inf") if rel is None else float(f"{rel:.3g}")


def _step(value: float | None, width: float) -> int | None:
    """Which step of this relative width a number lies on. The shift keeps simple fractions off the edges of a step."""
    return None if not value else round(math.log(abs(value)) / width + 0.1234)


def _short(row: Invariance, equals: str | None) -> str:
    ratio = "not finite" if row.ratio is None else f"{row.ratio:.4g}"
    return f"{_label(row.cut)} {ratio}" + (f" (= {equals})" if equals else "")


def beside(findings: Sequence[Finding], here: Verdict, other: Verdict, only_new: bool = False) -> tuple[Finding, ...]:
    """The findings with a word on what the other tree shows for the same case; what is new comes first.

    Args:
        only_new: what the other tree shows as well, by the same ratios, is a warning and no error.
    """
    new, known = [], []
    for finding in findings:
        rows = [row for row in other.rows if row.case == finding.subject]
        statuses = {row.status for row in rows}
        if "differs" in statuses and _alike([row for row in here.rows if row.case == finding.subject], rows):
            severity = Severity.WARNING if only_new else finding.severity
            message = f"{finding.message}; {other.tree.label} shows it as well"
            known.append(replace(finding, message=message, severity=severity))
            continue
        if "differs" in statuses:
            word = f"new: {other.tree.label} differs here too, but by other ratios"
        elif statuses == {"ok"}:
            word = f"new: {other.tree.label} is clean here"
        else:
            word = f"{other.tree.label} was not measured here"
        new.append(replace(finding, message=f"{finding.message}; {word}"))
    return (*new, *known)


def _alike(rows: Sequence[Invariance], others: Sequence[Invariance]) -> bool:
    """Whether every cut that differs does so in the other tree, and by the same figures."""
    there = {row.cut: row for row in others}
    differing = [row for row in rows if row.status == "differs"]
    return all(
        row.cut in there
        and there[row.cut].status == "differs"
        and _close(row.ratio, there[row.cut].ratio, _RATIO_WITHIN)
        and _close(row.rel, there[row.cut].rel, _REL_WITHIN)
        for row in differing
    )


def _close(first: float | None, second: float | None, within: float) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= within * max(abs(first), abs(second))
