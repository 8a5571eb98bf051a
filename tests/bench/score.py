#!/usr/bin/env python3
"""Score a judge of merges on the published labels of one repository.

usage: python -m tests.bench.score CLONE [--repo OWNER/NAME] [--guard guard] [--labels FILE] [--merge SHA] [--verbose]

CLONE has the whole history; it may be bare. For every labelled merge it runs `guard check --merge SHA -o json` and
prints, by kind, how many accidents an error or a warning speaks of, and how many harmless places no error of the GRD2
family does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.bench.forks_bench import Row, by_merge, report_of, rows_of, speaks_of

LABELS = Path(__file__).parents[2] / "fixtures" / "labels" / "labels.jsonl"
MEGATRON = "NVIDIA/Megatron-LM"


def comes_out_right(row: Row, findings: list[Row]) -> bool:
    """Whether the findings treat the place of a label as it deserves."""
    place = {**row, "line_in_merge": row.get("line")}
    about = [finding for finding in findings if speaks_of(place, finding)]
    if row["truth"] in {"accident", "true finding"}:
        return any(finding["severity"] in {"error", "warning"} for finding in about)
    family = row.get("code", "GRD2")[:4]
    return not any(finding["severity"] == "error" and finding["code"].startswith(family) for finding in about)


def main() -> int:
    """Print each kind's share of places that came out right."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--repo", default=MEGATRON)
    parser.add_argument("--guard", default="guard")
    parser.add_argument("--labels", default=str(LABELS))
    parser.add_argument("--merge", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    failed, started = 0, time.monotonic()
    for repo, merge, rows in by_merge([row for row in rows_of([options.labels]) if "path" in row]):
        if repo != options.repo or (options.merge and not any(map(merge.startswith, options.merge))):
            continue
        report = report_of(options.clone, merge, options.guard, None)
        failed += report is None
        for row in rows:
            kind = row["kind"] if row["truth"] == "accident" else row["truth"]
            good = report is not None and comes_out_right(row, report["findings"])
            total[kind] += 1
            right[kind] += good
            if options.verbose and not good:
                print(f"WRONG {kind:24} {merge[:10]} {row['path']} {row['symbol']}")
    if not total:
        print(f"no label of {options.repo} in {options.labels}", file=sys.stderr)
        return 2
    for kind in sorted(total):
        print(f"{kind:28} {right[kind]}/{total[kind]} = {right[kind] / total[kind]:.3f}")
    print(f"failed runs {failed}; {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
