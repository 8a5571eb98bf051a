"""Does a report of `guard verify --output-format json` agree with what a tree is known to do?

As a script: `python tests/invariance/agreement.py REPORT.json EXPECTED.yaml`; exit 1 names every disagreement.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

RATIO_WITHIN = 0.02


@dataclass(frozen=True)
class Agreement:
    """Rows of the table that were looked at, the cuts in them, and what disagrees."""

    rows: frozenset[str]
    cuts: int
    disagreements: tuple[str, ...]


def cut_label(cut: dict[str, Any]) -> str:
    """The label of a cut as the expectations write it, from its JSON form."""
    sizes = [f"{name}{cut[name]}" for name in ("dp", "cp", "tp", "ep") if cut[name] > 1]
    etp = cut.get("etp")
    sizes += [f"etp{etp}"] if etp is not None and etp != cut["tp"] else []
    sizes += [f"pp{cut['pp']}"] if cut.get("pp", 1) > 1 else []
    sizes += [f"vpp{cut['vpp']}"] if cut.get("vpp") else []
    return " ".join([*sizes, f"mbs{cut['mbs']}"])


def agrees(row: dict[str, Any], expected: str | float) -> bool:
    """Whether a measured row is what is expected: verdict, and ratio within 2 % where one is stated."""
    if expected == "ok":
        return row["status"] == "ok"
    if expected == "failed":
        return row["status"] == "failed"
    if row["status"] != "differs":
        return False
    if expected == "not finite":
        return row["ratio"] is None and "not finite" in (row["reason"] or "")
    if expected == "differs":
        return True
    return row["ratio"] is not None and abs(row["ratio"] / float(expected) - 1) <= RATIO_WITHIN


def compare(report: dict[str, Any], expectations: dict[str, Any], tree: str | None = None) -> Agreement:
    """Compare the measured rows of one tree with the expectations.

    A case that the table does not name holds in every tree, or is skipped; a cut that a named case lacks is a
    disagreement.
    """
    by_case = {case: (row, cuts) for row, cases in expectations["rows"].items() for case, cuts in cases.items()}
    seen, wrong, count = set(), [], 0
    for measured in report.get("invariance", []):
        if tree is not None and measured["tree"] != tree:
            continue
        name, label = measured["case"], cut_label(measured["cut"])
        count += 1
        if name not in by_case:
            if measured["status"] not in {"ok", "skipped"}:
                wrong.append(f"{name} {label}: expected to hold, got {measured['status']} ({measured['reason']})")
            continue
        row, cuts = by_case[name]
        if label not in cuts:
            wrong.append(f"{name} {label}: measured, but nothing is expected of it")
        elif not agrees(measured, cuts[label]):
            got = f"{measured['status']} {measured['ratio']}"
            wrong.append(f"row {row} {name} {label}: expected {cuts[label]}, got {got} ({measured['reason']})")
        else:
            seen.add(row)
    return Agreement(frozenset(seen), count, tuple(wrong))


def main(report: str, expected: str) -> int:
    """Print the agreement; 0 if everything agrees and something was measured."""
    found = compare(json.loads(Path(report).read_text()), yaml.safe_load(Path(expected).read_text()))
    for line in found.disagreements:
        print(line)
    print(f"{len(found.rows)} rows agree, {found.cuts} cuts measured, {len(found.disagreements)} disagree")
    return 0 if found.cuts and not found.disagreements else 1


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
