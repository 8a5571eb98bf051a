"""Does `guard verify` notice planted numeric bugs? `python tests/bench/mutants_bench.py TREE MUTANTS [NAME…]`.

TREE is a folder with `megatron/core`; MUTANTS holds `mutants.jsonl` (one object a line with `name`, `file`, `patch`
and, if known, `caught`) and the patches. Each patch is made in a copy of the tree. The cases that point into the
patched file run first, then the rest of the full suite; a measurement that turns from its result on TREE notices the
bug. The last line counts how many were noticed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from guard.invariance.case import Cut
from guard.invariance.family.registry import all_cases
from guard.invariance.session import Request, records

Results = dict[tuple[str, str], tuple[str, float | None]]
RATIO_WITHIN = 0.005


@dataclass(frozen=True)
class Bug:
    """A planted bug: name, patched file, patch, and whether it was noticed before."""

    name: str
    file: str
    patch: Path
    noticed_before: bool


def bugs(folder: Path, wanted: set[str]) -> list[Bug]:
    """The bugs of a folder, those named or all."""
    rows = [json.loads(line) for line in (folder / "mutants.jsonl").read_text().splitlines() if line.strip()]
    return [
        Bug(row["name"], row["file"], folder / row["patch"], row.get("caught") in {"yes", "exit2"})
        for row in rows
        if not wanted or row["name"] in wanted
    ]


def measured(tree: Path, cases: tuple[str, ...], scratch: Path) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Records of the named cases, or of all, as they come; a tree that cannot be measured yields one of its own."""
    scratch.mkdir(exist_ok=True)
    for record in records(Request(sys.executable, "cpu", suite="full", cases=cases), tree, scratch):
        if record["type"] == "case":
            yield (record["case"], Cut(**record["cut"]).label()), record
        elif record["type"] == "fatal":
            yield ("", ""), {**record, "status": "failed", "ratio": None}


def turned(record: dict[str, Any], before: tuple[str, float | None] | None) -> bool:
    """Whether a measurement is another than on the clean tree: its status, or its ratio."""
    if before is None or record["status"] != before[0]:
        return record["status"] in {"differs", "failed"} or before is not None
    ratio, known = record.get("ratio"), before[1]
    return ratio is not None and known is not None and abs(ratio - known) > RATIO_WITHIN * abs(known)


def order(file: str) -> list[tuple[str, ...]]:
    """Names of cases in two lots: those that point into the file, then the others."""
    near = tuple(case.name for case in all_cases() if any(place.path == file for place in case.places))
    far = tuple(case.name for case in all_cases() if case.name not in near)
    return [lot for lot in (near, far) if lot]


def notice(tree: Path, bug: Bug, clean: Results, folder: Path) -> str | None:
    """What notices the bug first, or None."""
    copy = folder / bug.name
    shutil.copytree(tree / "megatron", copy / "megatron", ignore=shutil.ignore_patterns("__pycache__"))
    try:
        subprocess.run(["patch", "-s", "-p1", "-d", str(copy), "-i", str(bug.patch.resolve())], check=True)
        for lot in order(bug.file):
            for where, record in measured(copy, lot, folder / "ranks"):
                if turned(record, clean.get(where)):
                    return f"{' '.join(where)}: {record['status']} ({record.get('reason')})"
        return None
    finally:
        shutil.rmtree(copy)


def main(tree: Path, mutants: Path, names: list[str]) -> int:
    """Print a line a bug; 0 if every bug that was noticed before still is."""
    chosen = bugs(mutants, set(names))
    found, lost = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        clean = {
            where: (record["status"], record.get("ratio")) for where, record in measured(tree, (), folder / "ranks")
        }
        for bug in chosen:
            said = notice(tree, bug, clean, folder)
            found += said is not None
            lost += [bug.name] if said is None and bug.noticed_before else []
            print(f"{'noticed' if said else 'MISSED '} {bug.name}: {said or '-'}", flush=True)
    print(f"{found} of {len(chosen)} noticed; noticed before and not now: {', '.join(lost) or 'none'}")
    return 1 if lost else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3:]))
