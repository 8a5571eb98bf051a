#!/usr/bin/env python3
"""Planted reverts: how many of known losses the judge finds, and what it says where nothing was lost.

usage: planted_reverts.py --repo CLONE [--repo CLONE ...] [--merges 20] [--plants 8] [--seed 1] [--verbose]
       [--every-ref]

For two-parent merges whose automatic merge is clean (picked by seed):
  control   merged = the automatic merge: no GRD2 finding is right
  reformat  the same, the changed files reformatted at another line length: none is right
  plant     hunks of one side put back to the base's text in the automatic merge, only where that changes the syntax
            tree (docstrings aside): each must be found

Merges are taken from the main branches; a repository that squashes what it takes in has them in its other refs only,
which --every-ref reads too.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import difflib
import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from guard.checks.contract import CheckContext
from guard.checks.lost import check_lost
from guard.errors import GuardError
from guard.git import Entry, Repository
from guard.model import Finding, Severity, Side
from guard.sync import topology
from guard.sync.trees import FourTrees, load

REFORMAT_LENGTH = "79"


@dataclasses.dataclass(frozen=True, slots=True)
class Plant:
    """One hunk of a side put back to the base's text: lines `start`..`end` (exclusive, 0-based) became `text`."""

    path: str
    side: Side
    start: int
    end: int
    text: tuple[str, ...]
    symbols: frozenset[str]


def with_merged(trees: FourTrees, contents: dict[str, bytes]) -> FourTrees:
    """The automatic merge as merged, with some files' contents replaced."""
    merged, blobs = dict(trees.automatic), dict(trees._blobs)
    for number, (path, data) in enumerate(sorted(contents.items())):
        name = f"planted{number}"
        merged[path] = Entry("100644", name)
        blobs[name] = data
    return dataclasses.replace(trees, merged=merged, _blobs=blobs)


def told(trees: FourTrees, jobs: int = 1) -> list[Finding]:
    """What the judge says that a person would look at."""
    findings = check_lost(CheckContext(trees, jobs=jobs, debug=True)).findings
    return [f for f in findings if f.code.startswith("GRD2") and f.severity is not Severity.NOTE]


def tree_of(text: str) -> str:
    """The syntax tree as text, docstrings aside."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                item
                for item in body
                if not (
                    isinstance(item, ast.Expr)
                    and isinstance(item.value, ast.Constant)
                    and isinstance(item.value.value, str)
                )
            ]  # type: ignore[attr-defined]
    return ast.dump(tree)


def symbols_at(text: str, start: int, end: int) -> set[str]:
    """Dotted names of the innermost definitions that lines `start`..`end` (1-based) touch."""
    found: set[str] = set()

    tree = ast.parse(text)
    parent: dict[ast.AST, ast.AST] = {}

    def own(node: ast.AST, owner: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                parent[child] = owner
                own(child, child)
            else:
                own(child, owner)

    own(tree, tree)

    def descend(node: ast.AST, name: str) -> None:
        inner = False
        for child, owner in parent.items():
            if owner is node:
                lo = min([child.lineno, *(d.lineno for d in child.decorator_list)])  # type: ignore[attr-defined]
                if lo <= end and (child.end_lineno or lo) >= start:  # type: ignore[attr-defined]
                    inner = True
                    descend(child, f"{name}.{child.name}" if name else child.name)  # type: ignore[attr-defined]
        if name:
            found.add(name)
        elif not inner:
            found.add("<module>")

    descend(tree, "")
    return found


def candidates(trees: FourTrees, side: Side) -> Iterator[Plant]:
    """Every hunk of a side that can be put back alone and changes the syntax tree by it."""
    for path in trees.changed_by(side.value):
        if not path.endswith(".py") or path not in trees.automatic or path not in trees.base:
            continue
        held = getattr(trees, side.value)
        if path not in held or trees.automatic[path].kind != "file":
            continue
        try:
            base = trees.blob("base", path).decode().splitlines(keepends=True)  # type: ignore[union-attr]
            made = trees.blob(side.value, path).decode().splitlines(keepends=True)  # type: ignore[union-attr]
            text = trees.blob("automatic", path).decode()  # type: ignore[union-attr]
            before = tree_of(text)
        except (UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
            continue
        lines = text.splitlines(keepends=True)
        place = {}
        for a, b, size in difflib.SequenceMatcher(None, made, lines, autojunk=False).get_matching_blocks():
            place.update({a + step: b + step for step in range(size)})
        place[len(made)] = len(lines)
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, base, made, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            spots = [place.get(j) for j in range(j1, j2)]
            if None in spots or any(y != x + 1 for x, y in itertools.pairwise(spots)):  # type: ignore[operator]
                continue
            start = spots[0] if spots else place.get(j1)
            if start is None or (j1 and place.get(j1 - 1) != start - 1):
                continue
            end = start + (j2 - j1)
            planted = [*lines[:start], *base[i1:i2], *lines[end:]]
            try:
                after = tree_of("".join(planted))
            except (SyntaxError, ValueError, RecursionError):
                continue
            if after == before:
                continue
            symbols = symbols_at(text, start + 1, max(start + 1, end)) | symbols_at(
                "".join(planted), start + 1, max(start + 1, start + i2 - i1)
            )
            yield Plant(path, side, start, end, tuple(base[i1:i2]), frozenset(symbols))


def planted(trees: FourTrees, plants: Sequence[Plant]) -> dict[str, bytes]:
    """Contents of the files with the plants of each put in."""
    contents = {}
    for path in {plant.path for plant in plants}:
        lines = trees.blob("automatic", path).decode().splitlines(keepends=True)  # type: ignore[union-attr]
        for plant in sorted((p for p in plants if p.path == path), key=lambda p: -p.start):
            lines[plant.start : plant.end] = plant.text
        contents[path] = "".join(lines).encode()
    return contents


def finds(finding: Finding, plant: Plant) -> bool:
    """Whether a finding speaks of a plant: same file, and the definition agrees or the line is within three."""
    if plant.path not in {finding.path, *(related.path for related in finding.related)}:
        return False
    for symbol in plant.symbols:
        one, other = finding.symbol, symbol
        if one == other or one.startswith(other + ".") or other.startswith(one + "."):
            return True
    return plant.start - 2 <= finding.line <= plant.start + len(plant.text) + 4


def reformatted(trees: FourTrees) -> dict[str, bytes]:
    """The Python files that either side changed, reformatted at another line length."""
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        paths = {*trees.changed_by("ours"), *trees.changed_by("theirs")}
        for number, path in enumerate(sorted(paths)):
            entry = trees.automatic.get(path)
            if path.endswith(".py") and entry is not None and entry.kind == "file":
                names[path] = Path(folder) / f"f{number}.py"
                names[path].write_bytes(trees.read(entry.sha))
        if names:
            command = [
                sys.executable,
                "-m",
                "ruff",
                "format",
                "--isolated",
                "--quiet",
                "--line-length",
                REFORMAT_LENGTH,
            ]
            subprocess.run([*command, folder], check=False, capture_output=True)
        return {path: name.read_bytes() for path, name in names.items()}


def clean_merges(repository: Repository, tips: Sequence[str]) -> list[str]:
    """Merges with two parents that bring something in, newest first."""
    output = repository.git("rev-list", "--merges", "--parents", "--stdin", stdin="\n".join(tips).encode()).decode()
    return [words[0] for words in map(str.split, output.splitlines()) if len(words) == 3]


@dataclasses.dataclass
class Tally:
    """What a run over merges gave."""

    merges: int = 0
    control: int = 0
    reformat: int = 0
    plants: int = 0
    found: int = 0
    other: int = 0


def run(path: str, count: int, plants: int, seed: int, verbose: bool, jobs: int = 1, every_ref: bool = False) -> Tally:
    """Measure on the merges of one clone."""
    tally, rng = Tally(), random.Random(seed)
    with Repository.open(path) as repository:
        heads = repository.git_here("for-each-ref", "--format=%(objectname) %(refname)", "--sort=-committerdate")
        named = [line.split() for line in heads.decode().splitlines()]
        main = [sha for sha, name in named if name.endswith(("main", "master", "dev", "develop"))]
        groups = [[sha for sha, _ in named]] if every_ref else [[tip] for tip in main[:3]]
        merges = list(dict.fromkeys(merge for tips in groups for merge in clean_merges(repository, tips)))
        rng.shuffle(merges)
        for merge in merges:
            if tally.merges >= count:
                break
            try:
                sync = topology.from_merge(repository, merge)
                if sync.ours in sync.bases or sync.theirs in sync.bases:
                    continue
                trees = load(repository, sync)
            except GuardError:
                continue
            if trees.conflicts:
                continue
            choice = {side: list(candidates(trees, side)) for side in Side}
            if not any(choice.values()):
                continue
            tally.merges += 1
            one_merge(trees, choice, plants, rng, tally, verbose, merge, jobs)
    return tally


def one_merge(
    trees: FourTrees, choice: dict[Side, list[Plant]], plants: int, rng: random.Random, tally: Tally, verbose: bool,
    merge: str, jobs: int,
) -> None:  # fmt: skip
    """Control, reformat and plants of one merge."""
    for name, contents in (("control", {}), ("reformat", reformatted(trees))):
        findings = told(with_merged(trees, contents), jobs)
        setattr(tally, name, getattr(tally, name) + len(findings))
        for finding in findings if verbose else ():
            place = f"{finding.path}:{finding.line} {finding.symbol}"
            print(f"{name} {merge[:10]} {finding.code} {place} {finding.message[:150]}")
    for side in Side:
        for _ in range(2):
            pool = choice[side]
            if not pool:
                continue
            chosen: list[Plant] = []
            for plant in rng.sample(pool, min(plants, len(pool))):
                if all(p.path != plant.path or not (p.symbols & plant.symbols) for p in chosen):
                    chosen.append(plant)
            contents = planted(trees, chosen)
            try:
                for data in contents.values():
                    ast.parse(data)
            except SyntaxError:
                continue
            findings = told(with_merged(trees, contents), jobs)
            for plant in chosen:
                tally.plants += 1
                hit = any(finds(f, plant) and f.lost_side in (side, None) for f in findings)
                tally.found += hit
                if verbose and not hit:
                    print(f"missed {merge[:10]} {side} {plant.path}:{plant.start + 1} {sorted(plant.symbols)}")
                    print("    base: " + " | ".join(line.strip() for line in plant.text)[:200])
                    lines = trees.blob("automatic", plant.path).decode().splitlines()[plant.start : plant.end]  # type: ignore[union-attr]
                    print("    side: " + " | ".join(line.strip() for line in lines)[:200])
            tally.other += sum(1 for f in findings if not any(finds(f, plant) for plant in chosen))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", action="append", required=True)
    parser.add_argument("--merges", type=int, default=20)
    parser.add_argument("--plants", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--every-ref", action="store_true")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for repo in options.repo:
        started = time.time()
        tally = run(repo, options.merges, options.plants, options.seed, options.verbose, 1, options.every_ref)
        facts = dataclasses.asdict(tally)
        total.update(facts)
        print(repo, " ".join(f"{k} {v}" for k, v in facts.items()), f"{time.time() - started:.0f} s", flush=True)
    share = total["found"] / max(1, total["plants"])
    print("total " + " ".join(f"{k} {v}" for k, v in total.items()) + f" found share {share:.4f}")
    return 0 if share >= 0.99 and not total["control"] and not total["reformat"] else 1


if __name__ == "__main__":
    sys.exit(main())
