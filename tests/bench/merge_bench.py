"""Replay the conflict merges of a clone: what the resolver joins, whether it compiles, how it compares to what landed.

    python -m tests.bench.merge_bench CLONE [--merges N] [--seed S] [SHA...] [--sample FILE]

A merge is replayed as git's automatic merge with the joined hunks in it. With --sample, joined hunks whose text is not
in the landed file are written out, drawn by seed, for a person to judge.
"""

from __future__ import annotations

import argparse
import collections
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from guard.documents.kinds import is_python
from guard.git import Commit, Repository
from guard.merging.conflicted import Conflicted, conflicted_files
from guard.merging.hunks import lines_of
from guard.merging.resolve import FileResolution
from guard.merging.resolving import resolve_file


@dataclass(frozen=True)
class Replayed:
    """One conflicted Python file of one merge, with what landed in its place."""

    merge: str
    path: str
    conflicted: Conflicted
    resolution: FileResolution | None
    landed: str


def replay(repository: Repository, commit: Commit) -> Iterator[Replayed]:
    """Resolve the conflicted Python files of one merge."""
    automatic = repository.automatic_merge(commit.parents[0], commit.parents[1])
    stages = {path: found for path, found in automatic.stages.items() if is_python(path)}
    entries, landed = repository.entries(automatic.tree), repository.entries(commit.sha)
    contents = {path: repository.blob(entries[path].sha) if path in entries else None for path in stages}
    for item in conflicted_files(repository, stages, contents):
        resolution = None if item.reason else resolve_file(item.path, item.segments, {})
        text = repository.blob(landed[item.path].sha).decode("utf-8", "replace") if item.path in landed else ""
        yield Replayed(commit.sha, item.path, item, resolution, text)


def conflict_merges(repository: Repository, count: int, seed: int) -> list[Commit]:
    """Two-parent merges with conflicted Python files, drawn by seed."""
    shas = repository.git_here("rev-list", "--all", "--merges", "--min-parents=2", "--max-parents=2").decode().split()
    random.Random(seed).shuffle(shas)
    found: list[Commit] = []
    for sha in shas:
        if len(found) == count:
            break
        commit = repository.commit(sha)
        if not repository.merge_bases(*commit.parents):
            continue
        if any(is_python(path) for path in repository.automatic_merge(*commit.parents).conflicts):
            found.append(commit)
    return found


def _squeezed(text: str) -> str:
    return "".join(text.split())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone")
    parser.add_argument("merges", nargs="*")
    parser.add_argument("--count", type=int, default=0, help="merges to draw by seed")
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--sample", type=Path, help="append joined hunks that differ from what landed")
    parser.add_argument("--draw", type=int, default=30)
    options = parser.parse_args()
    hunks = joined = broken = same = 0
    differing: list[str] = []
    reasons: collections.Counter[str] = collections.Counter()
    started = time.process_time()
    with Repository.open(options.clone) as repository:
        merges = [repository.commit(repository.resolve(name)) for name in options.merges]
        merges += conflict_merges(repository, options.count, options.seed)
        for commit in merges:
            before, at = (hunks, joined), time.process_time()
            for file in replay(repository, commit):
                if file.resolution is None:
                    continue
                program = file.resolution.program
                if any(outcome.resolved for outcome in file.resolution.outcomes):
                    broken += not _compiles(program)
                lines = lines_of(program)
                for outcome in file.resolution.outcomes:
                    hunks += 1
                    joined += outcome.resolved
                    if not outcome.resolved:
                        reasons[outcome.reason.split(":", maxsplit=1)[0]] += 1
                        continue
                    text = "".join(lines[outcome.lines[0] : outcome.lines[1]])
                    if _squeezed(text) in _squeezed(file.landed):
                        same += 1
                        continue
                    three = "".join(
                        f"--- {version}\n{''.join(outcome.hunk.of(version))}" for version in ("base", "ours", "theirs")
                    )
                    differing.append(
                        f"## {file.merge[:12]} {file.path} hunk {outcome.number} ({outcome.reason})\n```\n"
                        f"{three}--- joined\n{text}```\n"
                    )
            seconds = time.process_time() - at
            print(f"{commit.sha[:10]} {joined - before[1]}/{hunks - before[0]} hunks, {seconds:.1f} s", flush=True)
    print(f"{joined}/{hunks} hunks joined ({joined / max(1, hunks):.1%}), {same} as landed, {broken} files broken, "
          f"{time.process_time() - started:.1f} s")  # fmt: skip
    for reason, count in reasons.most_common(12):
        print(f"{count:5} {reason}")
    if options.sample:
        drawn = random.Random(options.seed).sample(differing, min(options.draw, len(differing)))
        with options.sample.open("a") as stream:
            stream.write(f"# {options.clone}: {len(drawn)} of {len(differing)}\n\n" + "\n".join(drawn) + "\n")


def _compiles(program: str) -> bool:
    try:
        compile(program, "joined", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main()
