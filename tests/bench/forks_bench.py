#!/usr/bin/env python3
"""Score `guard check` on labelled rows of many repositories.

usage: forks_bench.py --clones FOLDER ROWS.jsonl [ROWS.jsonl ...] [--guard guard] [--reports FOLDER] [--repo WORD]
       [--merge SHA ...] [--verbose]

FOLDER holds bare clones as OWNER+NAME/repo. A row names `repo`, `merge`, `path` and `symbol`, and is one of:
  an accident   (`found_by`): found where an error or warning speaks of the place
  a judged finding (`verdict` true or false): a true one must still be told; a false one must be no error any more
  a missed loss  (neither): found where an error or warning speaks of the path and of a name that the symbol holds

--reports keeps the JSON of every merge there, and reads it from there where it stands already.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
TOLD = ("error", "warning")


def rows_of(files: Iterable[str]) -> list[Row]:
    """The rows of JSON Lines files."""
    return [json.loads(line) for name in files for line in Path(name).read_text().splitlines() if line.strip()]


def report_of(clone: Path, merge: str, guard: str, kept: Path | None) -> Row | None:
    """The JSON report of one merge; None where the run failed."""
    place = kept / f"{clone.parent.name}-{merge[:12]}.json" if kept else None
    if place is not None and place.is_file():
        return dict(json.loads(place.read_text()))
    run = subprocess.run(
        [guard, "check", "--merge", merge, "--no-cache", "--output-format", "json"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode not in (0, 1):
        print(f"FAILED {clone.parent.name} {merge[:10]} exit {run.returncode}: {run.stderr.strip()[-200:]}")
        return None
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(run.stdout)
    return dict(json.loads(run.stdout))


def last(name: str) -> str:
    """The last part of a dotted name."""
    return name.rpartition(".")[2]


def speaks_of(row: Row, finding: Row) -> bool:
    """Whether a finding is about the place of a row: the file, and the symbol, a name of it, or the line."""
    if row["path"] not in {finding["path"], *(item["path"] for item in finding.get("related", ()))}:
        return False
    wanted, told = row.get("symbol") or "", finding.get("symbol") or ""
    told = "" if told == "<module>" else told
    if wanted and told and (wanted.startswith(told) or told.startswith(wanted) or last(wanted) == last(told)):
        return True
    words = set(re.findall(r"[A-Za-z_]\w*", f"{finding['message']} {finding.get('subject') or ''} {told}"))
    names = set(re.findall(r"[A-Za-z_]\w*", last(wanted))) | set(map(last, row.get("names", ())))
    if any(name in words for name in names if len(name) > 3):
        return True
    place, line = row.get("line_in_merge"), finding["line"]
    return bool(place and abs(place - line) <= 3) or wanted in ("", "<module>")


def same_finding(row: Row, finding: Row) -> bool:
    """Whether a finding is the one that a row judged: its kind of code, its file and its symbol."""
    if row["fingerprint"] == finding["fingerprint"]:
        return True
    return (row["code"][:4], row["path"], row["symbol"]) == (finding["code"][:4], finding["path"], finding["symbol"])


def judge(row: Row, findings: list[Row]) -> tuple[str, bool, Row | None]:
    """The class of a row, whether it came out right, and the finding that decides."""
    told = [finding for finding in findings if finding["severity"] in TOLD]
    if "verdict" in row:
        found = next((finding for finding in told if same_finding(row, finding)), None)
        if row["verdict"] == "true":
            return f"true {row['severity']} still told", found is not None, found
        wrong = next((f for f in told if same_finding(row, f) and f["severity"] == row["severity"]), None)
        return f"false {row['severity']} gone", wrong is None, wrong
    found = next((finding for finding in told if speaks_of(row, finding)), None)
    return (f"accident by {row['found_by']}" if "found_by" in row else "missed"), found is not None, found


def by_merge(rows: list[Row]) -> Iterator[tuple[str, str, list[Row]]]:
    """Rows by repository and merge, in their order."""
    for repo, merge in dict.fromkeys((row["repo"], row["merge"]) for row in rows):
        yield repo, merge, [row for row in rows if (row["repo"], row["merge"]) == (repo, merge)]


def main() -> int:
    """Print each class's share of right rows, and the wrong ones where asked."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--guard", default="guard")
    parser.add_argument("--reports", type=Path)
    parser.add_argument("--repo", default="")
    parser.add_argument("--merge", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    failed = 0
    for repo, merge, rows in by_merge(rows_of(options.rows)):
        if options.repo not in repo or (options.merge and not any(map(merge.startswith, options.merge))):
            continue
        report = report_of(options.clones / repo.replace("/", "+") / "repo", merge, options.guard, options.reports)
        failed += report is None
        for row in rows:
            kind, good, finding = judge(row, report["findings"] if report else [])
            total[kind] += 1
            right[kind] += good
            if options.verbose and not good:
                told = f": {finding['severity']} {finding['code']} {finding['message'][:120]}" if finding else ""
                print(f"WRONG {kind:24} {repo} {merge[:10]} {row['path']} {row.get('symbol')} [{row['kind']}]{told}")
    for kind in sorted(total):
        print(f"{kind:28} {right[kind]}/{total[kind]} = {right[kind] / total[kind]:.3f}")
    print(f"failed runs {failed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
