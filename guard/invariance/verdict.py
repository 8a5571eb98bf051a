"""From the worker's records to facts: rows of the table, outcomes, and one finding for every case that differs."""

from __future__ import annotations

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
    ordered = sorted(cuts, key=lambda item: -(item[0].rel if item[0].rel is not None else float("inf")))
    place = locate(tree.folder, case.places) or Definition(case.places[0].path, "<module>", 1, 1, "")
    worst, equals = ordered[0]
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
        fingerprint=fingerprint(case.code, place.path, place.symbol, f"{case.name} {equals or ''}"),
        numeric=True,
    )


def _short(row: Invariance, equals: str | None) -> str:
    ratio = "not finite" if row.ratio is None else f"{row.ratio:.4g}"
    return f"{_label(row.cut)} {ratio}" + (f" (= {equals})" if equals else "")


def beside(findings: Sequence[Finding], other: Verdict) -> tuple[Finding, ...]:
    """The findings with a word on what the other tree shows for the same case."""
    told = []
    for finding in findings:
        rows = [row for row in other.rows if row.case == finding.subject]
        statuses = {row.status for row in rows}
        if "differs" in statuses:
            word = f"{other.tree.label} shows it as well"
        elif statuses == {"ok"}:
            word = f"{other.tree.label} is clean here"
        else:
            word = f"{other.tree.label} was not measured here"
        told.append(replace(finding, message=f"{finding.message}; {word}"))
    return tuple(told)
