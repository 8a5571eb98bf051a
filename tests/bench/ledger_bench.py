"""Measure the fix ledger on labels: containment, tips, pins, history, and the time of a large table.

usage: ledger_bench.py --repo CLONE --labels FOLDER [--part survival|tips|learn|history|table]...

FOLDER holds survival.jsonl, numeric_fixes.jsonl and accidents.jsonl. Prints one line a part, and each miss.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from guard.checks.pinning.making import RULE, Pin, make_pins
from guard.checks.pinning.trial import found_by
from guard.commands.contains import containment
from guard.git import Repository
from guard.lint.language import Rule
from guard.lint.schema import load_text
from guard.parallel import in_processes
from guard.provenance.containment import Ledger
from guard.provenance.landings import read_landings

THERE = {"present", "equivalent", "moved"}
AGREES = {
    "kept": THERE,
    "moved": THERE,
    "rewritten_equivalent": THERE,
    "partly": {"partly"},
    "reverted": {"reverted", "dead"},
}
MOST_LINES = 6
Row = dict[str, Any]


def rows(folder: Path, name: str) -> list[Row]:
    """The rows of a label file."""
    return [json.loads(line) for line in (folder / name).read_text().splitlines() if line.strip()]


def survival(repository: Repository, folder: Path, _options: argparse.Namespace) -> str:
    """Status of a fix in a sync."""
    labels = rows(folder, "survival.jsonl")
    ledger = Ledger(repository, read_landings(repository, list(dict.fromkeys(row["merge"] for row in labels))))
    good = 0
    for row in labels:
        answer = ledger.contains([repository.commit(row["commit"])], ledger.branch(row["merge"]))
        agrees = answer.status in AGREES[row["status"]]
        good += agrees
        if not agrees:
            miss(f"{row['commit'][:10]} in {row['merge'][:10]}: {row['status']}, told {answer.status}")
    return f"{good} of {len(labels)} agree"


def tips(repository: Repository, folder: Path, options: argparse.Namespace) -> str:
    """Whether the tips of two branches have each numeric fix."""
    labels = rows(folder, "numeric_fixes.jsonl")
    told = []
    shas = {name: repository.resolve(name) for name in ("dev", "main")}
    ledger = Ledger(repository, read_landings(repository, list(shas.values())))

    def ask(name: str) -> list[str]:
        branch = ledger.branch(name)
        return [ledger.contains([repository.commit(row["commit"])], branch).status for row in labels]

    for name, statuses in zip(shas, in_processes(ask, list(shas), options.jobs), strict=True):
        good = 0
        for row, status in zip(labels, statuses, strict=True):
            agrees = (status in THERE) is bool(row[f"on_{name}_tip"])
            good += agrees
            if not agrees:
                miss(f"{row['commit'][:10]} on {name}: {row[f'on_{name}_tip']}, told {status} ({row['symbol']})")
        told.append(f"{name} {good} of {len(labels)}")
    return ", ".join(told)


def learn(repository: Repository, folder: Path, options: argparse.Namespace) -> str:
    """Pins of small fixes: rules that find the parent's form and are silent on the fix's own tree."""
    labels = [row for row in rows(folder, "numeric_fixes.jsonl") if row["lines_changed_in_source"] <= options.lines]

    def pin(row: Row) -> Pin:
        return make_pins(repository, repository.commit(row["commit"]))[0]

    good = wrong = 0
    for row, made in zip(labels, in_processes(pin, labels, options.jobs), strict=True):
        if made.kind != RULE:
            miss(f"{row['commit'][:10]} is pinned by content ({row['shape']})")
            continue
        rule = load_text(Rule, made.text, "pin")
        parent = repository.commit(row["commit"]).parents[0]
        before, after = (list(findings(repository, rule, sha)) for sha in (parent, row["commit"]))
        there = any(path == row["path"] and nested(symbol, row["symbol"]) for path, symbol in before)
        good += there and not after
        wrong += bool(after)
        if not there or after:
            miss(f"{row['commit'][:10]} {row['path']} {row['symbol']}: parent {before[:3]}, fix {after[:3]}")
    return f"{good} of {len(labels)} are rules that hold, {wrong} find something in the fix's own tree"


def nested(one: str, other: str) -> bool:
    """Whether two symbols are one place: equal, one inside the other, or the whole module."""
    return one == "<module>" or one.startswith(other) or other.startswith(one)


def findings(repository: Repository, rule: Rule, sha: str) -> Iterator[tuple[str, str]]:
    """Places at which a rule finds something in a whole tree."""
    for path, entry in repository.entries(sha).items():
        if path.endswith(".py") and entry.kind == "file":
            for finding in found_by(rule, path, repository.blob(entry.sha)).findings:
                yield path, finding.symbol


def history(_repository: Repository, folder: Path, options: argparse.Namespace) -> str:
    """All syncs of dev since a date: repairs named by the labels are shown, or an earlier one is."""
    command = [sys.executable, "-m", "guard", "history", "dev", "--since", options.since, "-o", "json", "--no-cache"]
    done = subprocess.run(command, cwd=options.repo, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return f"exit {done.returncode}: {done.stderr.strip()[-300:]}"
    document = json.loads(done.stdout)
    failed = [row for row in document["syncs"] if row["status"] != "ran"]
    dates = {row["merge"]["merged"]: row for row in document["syncs"]}
    repository = Repository.open(options.repo)
    good = asked = 0
    for label in rows(folder, "accidents.jsonl"):
        row = dates.get(label["merge"])
        if row is None or not label.get("evidence_commit"):
            continue
        asked += 1
        found = [
            repair["repaired_by"]["commit"]
            for repair in row["merge"]["repaired"]
            if repair["path"] == label["path"] and repair["repaired_by"]
        ]
        named = {item["commit"] for item in row["repaired_by"]}
        evidence = label["evidence_commit"]
        earlier = any(repository.is_ancestor(sha, evidence) for sha in found)
        shown = evidence in named or earlier
        good += shown
        if not shown:
            miss(
                f"{label['merge'][:10]} {label['path']} {label['symbol']} ({label['kind']}): {evidence[:10]} not shown"
            )
    share = good / asked if asked else 0.0
    return f"{len(dates)} syncs, {len(failed)} failed; {good} of {asked} repairs shown ({share:.2f})"


def table(repository: Repository, folder: Path, options: argparse.Namespace) -> str:
    """Fifty fixes in twelve release branches."""
    names = repository.git_here("for-each-ref", "--format=%(refname)", "--sort=-committerdate", "refs/heads/core_*")
    branches = names.decode().split()[:12]
    commits = list(dict.fromkeys(row["commit"] for row in rows(folder, "numeric_fixes.jsonl")))[:50]
    shas = [repository.resolve(name) for name in branches]
    ledger = Ledger(repository, read_landings(repository, shas))
    fixes = [repository.commit(sha) for sha in commits]
    for fix in fixes:
        ledger.fix(fix)

    def ask(name: str) -> list[str]:
        branch = ledger.branch(name)
        return [containment(fix, ledger.contains([fix], branch), name, False).status for fix in fixes]

    answers = in_processes(ask, branches, options.jobs)
    return f"{len(fixes)} fixes in {len(branches)} branches: {sum(map(len, answers))} answers"


PARTS: dict[str, Callable[[Repository, Path, argparse.Namespace], str]] = {
    "survival": survival, "tips": tips, "learn": learn, "history": history, "table": table,
}  # fmt: skip


def miss(text: str) -> None:
    """Print one miss."""
    print(f"  miss: {text}", flush=True)


def seconds_used() -> float:
    """Processor seconds of this process and of the ended ones it started."""
    own, ended = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", required=True)
    parser.add_argument("--labels", required=True, type=Path)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lines", type=int, default=MOST_LINES, help="changed source lines of a small fix, at most")
    parser.add_argument("--since", default="2026-03-01")
    options = parser.parse_args()
    for name in options.part or list(PARTS):
        started, used = time.monotonic(), seconds_used()
        with Repository.open(options.repo) as repository:
            told = PARTS[name](repository, options.labels, options)
        print(
            f"{name}: {told}; {time.monotonic() - started:.1f} s, {seconds_used() - used:.1f} processor s", flush=True
        )


if __name__ == "__main__":
    main()
