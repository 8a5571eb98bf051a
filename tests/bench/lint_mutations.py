"""Lint and fix mutated copies of real files: nothing may end the run, and every file is analysed or says why not.

    python tests/bench/lint_mutations.py FOLDER [--count 2000] [--seed 1]

Mutations are by lines and by bytes: some copies stay valid Python, most do not.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from guard.errors import NotAnalysedError
from guard.lint.engine import FileLinter
from guard.lint.fixes import fix_source
from guard.lint.project import ProjectIndex
from guard.lint.ruleset import load_rules
from guard.lint.source import Source
from guard.model import Status

WORDS = [
    b"lambda",
    b"yield",
    b"await x",
    b"match x:",
    b"*",
    b"**kwargs",
    b":=",
    b"async ",
    b"\0",
    b"\xff",
    b"\x0c",
    b"\r",
]
TAILS = [b"\nx = " + b"(" * 300 + b")" * 300, b"\nx = " + b"+".join([b"a"] * 1200), b"\nx = (" + b"\n'a'" * 600 + b")"]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """One to four edits of a file."""
    for _ in range(chance.randint(1, 4)):
        lines = data.split(b"\n")
        first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(10)
        if kind == 0:
            del lines[first]
        elif kind == 1:
            lines.insert(first, lines[second])
        elif kind == 2:
            lines[first], lines[second] = lines[second], lines[first]
        elif kind == 3:
            lines[first] = b"    " + lines[first]
        elif kind == 4:
            lines = lines[: first + 1]
        elif kind == 5:
            words = lines[first].split(b" ")
            chance.shuffle(words)
            lines[first] = b" ".join(words)
        elif kind == 6:
            at = chance.randrange(len(lines[first]) + 1)
            lines[first] = lines[first][:at] + chance.choice(WORDS) + lines[first][at:]
        elif kind == 7:
            lines[first] = lines[first].replace(b"self", b"cls").replace(b"(", b"(*args, ", 1)
        elif kind == 8 and chance.random() < 0.1:
            lines.append(chance.choice(TAILS))
        else:
            lines[first] = lines[first].replace(b"None", b"0").replace(b" / ", b" // ").replace(b"=", b"==", 1)
        data = b"\n".join(lines) or b"\n"
    return data


def main() -> int:
    """Run all copies; 1 where one of them failed inside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    rules = load_rules()
    files = [path for path in sorted(args.folder.rglob("*.py")) if path.stat().st_size]
    # Files that rules look at are the ones worth mutating; the others end at the prefilter.
    linter = FileLinter(rules, ProjectIndex.of_directory(args.folder), 10.0)
    chosen = [path for path in files if linter.looks_at(path.read_bytes())] or files
    start, counts, failed, slowest = (
        time.perf_counter(),
        {"analysed": 0, "skipped": 0, "findings": 0, "fixed": 0},
        [],
        0.0,
    )
    for number in range(args.count):
        path = chance.choice(chosen)
        source = Source(path.relative_to(args.folder).as_posix(), mutate(path.read_bytes(), chance))
        began = time.thread_time()
        result = linter.lint(source)
        slowest = max(slowest, time.thread_time() - began)
        if result.outcome is None:
            counts["analysed"] += 1
            counts["findings"] += len(result.findings)
        elif result.outcome.status is Status.SKIPPED:
            counts["skipped"] += 1
        else:
            failed.append((number, source.path, result.outcome.reason))
        if any(finding.fixable for finding in result.findings):
            try:
                fixed = fix_source(source, rules)
            except NotAnalysedError:
                continue
            if fixed.data is not None:
                ast.parse(fixed.data)
                counts["fixed"] += 1
    print(
        f"{args.count} copies of {len(chosen)} files: {counts}, {len(failed)} failed, slowest {slowest:.2f} s CPU, "
        f"{time.perf_counter() - start:.0f} s in all"
    )
    for row in failed[:20]:
        print(*row)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
