"""Measure the linter on labelled fixes and call sites of real repositories.

    python tests/bench/lint_bench.py numeric --repo CLONE --labels numeric_fixes.jsonl
    python tests/bench/lint_bench.py downstream --labels downstream_fixes.jsonl --repo NAME=CLONE …
    python tests/bench/lint_bench.py callsites --labels callsites.jsonl --repo NAME=CLONE …
    python tests/bench/lint_bench.py judged --labels judged_errors.jsonl --repo NAME=CLONE …
    python tests/bench/lint_bench.py tree --repo CLONE --rev REV [--under PREFIX/]

A fix counts as covered where a rule finds something at its place (path and symbol) before the commit, and that rule
finds nothing there after. NAME is the repository's name as the labels write it, with or without its owner.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from guard.lint.engine import lint_sources
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import RuleSet, load_rules
from guard.lint.source import LintResult, Source
from guard.model import Finding, Severity


class Tree:
    """Python files of one revision, read through one long-lived `git cat-file`."""

    def __init__(self, repo: str, rev: str) -> None:
        listing = subprocess.run(
            ["git", "-C", repo, "ls-tree", "-r", "-z", rev], capture_output=True, check=True
        ).stdout
        self.blobs: dict[str, str] = {}
        for row in listing.split(b"\0"):
            if row.endswith(b".py"):
                meta, _, name = row.partition(b"\t")
                self.blobs[name.decode("utf-8", "surrogateescape")] = meta.split()[2].decode()
        self._repo = repo
        self._start()
        self._known: dict[str, bytes | None] = {}

    def _start(self) -> None:
        """Each process has a git of its own: two cannot share a pipe."""
        self._owner = os.getpid()
        self._cat = subprocess.Popen(
            ["git", "-C", self._repo, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def read(self, path: str) -> bytes | None:
        """Bytes of a file of the revision."""
        blob = self.blobs.get(path)
        if blob is None:
            return None
        if self._owner != os.getpid():
            self._start()
        if blob not in self._known:
            assert self._cat.stdin is not None
            assert self._cat.stdout is not None
            self._cat.stdin.write(blob.encode() + b"\n")
            self._cat.stdin.flush()
            head = self._cat.stdout.readline().split()
            if head[1] == b"missing":
                self._known[blob] = None
            else:
                self._known[blob] = self._cat.stdout.read(int(head[2]))
                self._cat.stdout.read(1)
        return self._known[blob]

    def close(self) -> None:
        """End the git process."""
        self._cat.kill()
        self._cat.wait()


def lint(repo: str, rev: str, rules: RuleSet, paths: Iterable[str] | None = None, jobs: int = 1) -> LintResult:
    """Lint some files, or all, of a revision in its own tree."""
    tree = Tree(repo, rev)
    try:
        project = ProjectIndex(tree.blobs, tree.read)
        chosen = [path for path in (paths if paths is not None else tree.blobs) if path in tree.blobs]
        return lint_sources([Source(p, tree.read(p) or b"") for p in chosen], rules, project=project, jobs=jobs)
    finally:
        tree.close()


def load(path: str) -> list[dict[str, Any]]:
    """Rows of a JSON-lines file."""
    return [json.loads(line) for line in Path(path).read_text().splitlines() if line.strip()]


def changed(repo: str, before: str, after: str, path: str) -> tuple[list[range], list[range]]:
    """Lines of a file that a commit changed, before and after it, with three lines around each hunk."""
    command = ["git", "-C", repo, "diff", "-U0", before, after, "--", path]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    old, new = [], []
    for found in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", text, re.MULTILINE):
        start, count, begin, size = (int(g) if g else 1 for g in found.groups())
        old.append(range(start - 3, start + count + 3))
        new.append(range(begin - 3, begin + size + 3))
    return old, new


def at(finding: Finding, path: str, symbol: str, lines: list[range]) -> bool:
    """Whether a finding stands in a definition, or at changed lines (some labels name another definition)."""
    if finding.path != path:
        return False
    inside = finding.symbol == symbol or finding.symbol.startswith(symbol + ".")
    return inside or any(
        n in span for span in lines for n in range(finding.line, (finding.end_line or finding.line) + 1)
    )


def covering(
    repo: str, commit: str, path: str, symbol: str, rules: RuleSet
) -> tuple[set[tuple[str, str | None]], set[tuple[str, str | None]]]:
    """Codes found at a place before a commit, and those found there after it."""
    before, after = changed(repo, commit + "^", commit, path)
    old = {(f.code, f.subject) for f in lint(repo, commit + "^", rules, [path]).findings if at(f, path, symbol, before)}
    new = (
        {(f.code, f.subject) for f in lint(repo, commit, rules, [path]).findings if at(f, path, symbol, after)}
        if old
        else set()
    )
    return old, new


def numeric(args: argparse.Namespace, rules: RuleSet) -> int:
    """Rows of numeric_fixes.jsonl."""
    rows, covered = load(args.labels), 0
    for row in rows:
        old, new = covering(args.repo[0], row["commit"], row["path"], row["symbol"], rules)
        good = sorted({code for code, _ in old - new})
        left = sorted({code for code, _ in new})
        covered += bool(good)
        mark = "yes" if good else "no"
        print(f"{row['commit'][:10]} {mark:3} {' '.join(good):16} still:{' '.join(left):8} {row['symbol']}")
    print(f"covered {covered} of {len(rows)}")
    return 0


def clones(args: argparse.Namespace) -> dict[str, str]:
    """Clones by name of the repository."""
    return dict(item.partition("=")[::2] for item in args.repo)


def find_clone(known: dict[str, str], name: str) -> str | None:
    """A clone by full name, or by the part after the owner."""
    return known.get(name) or known.get(name.rpartition("/")[2])


def downstream(args: argparse.Namespace, rules: RuleSet) -> int:
    """Rows of downstream_fixes.jsonl: no symbol is given, so the finding must be gone after the fix."""
    known, rows, covered = clones(args), load(args.labels), 0
    for row in rows:
        repo = find_clone(known, row["repo"])
        if repo is None:
            print(f"{row['sha'][:10]} no clone of {row['repo']}")
            continue
        old = lint(repo, row["parent"], rules, [row["path"]]).findings
        new = lint(repo, row["sha"], rules, [row["path"]]).findings
        marks = {f.fingerprint for f in new}
        gone = sorted({f"{f.code}@{f.line}" for f in old if f.fingerprint not in marks})
        covered += bool(gone)
        print(f"{row['sha'][:10]} {'yes' if gone else 'no ':3} {' '.join(gone):30} {row['repo']} {row['subject'][:60]}")
    print(f"covered {covered} of {len(rows)}")
    return 0


def callsites(args: argparse.Namespace, rules: RuleSet) -> int:
    """Rows of callsites.jsonl: a finding within three lines of the place, or in its statement."""
    known, counts, wrong = clones(args), {"violates": [0, 0], "correct": [0, 0], "unclear": [0, 0]}, 0
    for row in load(args.labels):
        repo = find_clone(known, row["repo"])
        if repo is None:
            continue
        near = [
            f
            for f in lint(repo, row["head"], rules, [row["path"]]).findings
            if f.line - 3 <= row["line"] <= (f.end_line or f.line) + 3
        ]
        errors = [f for f in near if f.severity is Severity.ERROR]
        counts[row["verdict"]][0] += bool(near)
        counts[row["verdict"]][1] += 1
        wrong += row["verdict"] == "correct" and bool(errors)
        said = " ".join(sorted({f"{f.code}:{f.severity.value}@{f.line}" for f in near}))
        print(f"{row['verdict']:8} {said:40} {row['path']}:{row['line']} {row['callee']}")
    for verdict, (hit, total) in counts.items():
        print(f"{verdict}: a finding at {hit} of {total}")
    print(f"correct rows reported as errors: {wrong}")
    return 1 if wrong else 0


def judged(args: argparse.Namespace, rules: RuleSet) -> int:
    """Rows of judged_errors.jsonl or judged_warnings.jsonl: what each finding that was read by hand is today.

    A row without a revision stands in the revision that --at NAME=REV gives. For each code and verdict it is counted
    how many of the read findings are still made at their line, and how many of those are errors.
    """
    known, revisions = clones(args), dict(item.partition("=")[::2] for item in args.at)
    trees: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in load(args.labels):
        trees.setdefault((row["repo"], row.get("rev") or revisions.get(row["repo"], "HEAD")), []).append(row)
    told: dict[tuple[str, str], list[int]] = {}
    skipped = 0
    for (name, rev), rows in trees.items():
        repo = find_clone(known, name)
        if repo is None:
            skipped += len(rows)
            continue
        found = lint(repo, rev, rules, sorted({row["path"] for row in rows})).findings
        for row in rows:
            here = [f for f in found if (f.path, f.line, f.code) == (row["path"], row["line"], row["code"])]
            count = told.setdefault((row["code"], row["verdict"]), [0, 0, 0])
            count[0] += 1
            count[1] += bool(here)
            count[2] += any(f.severity is Severity.ERROR for f in here)
            now = here[0].severity.value if here else "-"
            print(f"{row['code']} {row['verdict']:8} now {now:7} {name} {row['path']}:{row['line']}")
    for (code, verdict), (read, still, errors) in sorted(told.items()):
        print(f"{code} {verdict:8} read {read:3}, still told {still:3}, errors {errors:3}")
    right = [count for (_, verdict), count in told.items() if verdict == "true"]
    wrong = [count for (_, verdict), count in told.items() if verdict != "true"]
    for title, counts in (("true", right), ("false or harmless", wrong)):
        read, still, errors = (sum(count[i] for count in counts) for i in range(3))
        print(f"{title}: {still} of {read} still told, {errors} as errors")
    print(f"{skipped} rows without a clone")
    return 0


def tree(args: argparse.Namespace, rules: RuleSet) -> int:
    """All findings of one revision, and the time it took."""
    repo = args.repo[0]
    start = time.perf_counter()
    whole = Tree(repo, args.rev)
    paths = [p for p in whole.blobs if p.startswith(args.under)]
    sources = [Source(p, whole.read(p) or b"") for p in paths]
    project = ProjectIndex(whole.blobs, whole.read)
    read = time.perf_counter()
    result = lint_sources(sources, rules, project=project, jobs=args.jobs)
    done = time.perf_counter()
    whole.close()
    for f in result.findings:
        print(f"{f.severity.value:7} {f.code} {f.path}:{f.line} {f.symbol}: {f.message}")
    for outcome in result.outcomes:
        print(f"{outcome.status.value} {outcome.subject}: {outcome.reason}")
    by = {s.value: sum(f.severity is s for f in result.findings) for s in Severity}
    print(f"{result.files} files, {by}, read {read - start:.2f} s, lint {done - read:.2f} s")
    return 0


def main() -> int:
    """Run one measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["numeric", "downstream", "callsites", "judged", "tree"])
    parser.add_argument("--repo", action="append", default=[], help="CLONE, or NAME=CLONE")
    parser.add_argument("--labels")
    parser.add_argument("--rev", default="HEAD")
    parser.add_argument("--at", action="append", default=[], help="NAME=REV, for rows of judged findings without one")
    parser.add_argument("--under", default="")
    parser.add_argument("--select", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    rules = load_rules().only(args.select, ())
    modes = {"numeric": numeric, "downstream": downstream, "callsites": callsites, "judged": judged, "tree": tree}
    return modes[args.what](args, rules)


if __name__ == "__main__":
    raise SystemExit(main())
