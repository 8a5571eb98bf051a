"""Judge merges by seed of every clone in a folder: none may end with exit 2, in a traceback, or cost too much.

`python tests/bench/mass_bench.py CLONES [--count 20] [--seed 1] [--rows FILE] [--repeat N]`

A row a merge is appended to FILE (JSON lines) as it is done, so that a run that was stopped goes on where it was. With
`--repeat`, each merge is judged that often, two runs at a time, and all reports must be the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MOST_SECONDS, MOST_BYTES = 60.0, 1_200_000_000
_RUN = """
import json, os, resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "guard", *sys.argv[1:]], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stdout.buffer.write(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024,
    done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")]).encode())
"""


def merges(clone: Path, count: int, seed: int) -> list[str]:
    """Two-parent merges of a clone, by seed."""
    arguments = ("log", "--all", "--merges", "--max-parents=2", "--format=%H")
    found = subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, text=True, check=True).stdout
    known = sorted(found.split())
    return random.Random(f"{seed} {clone.parent.name}").sample(known, min(count, len(known)))


def judge(clone: Path, merge: str) -> tuple[int, float, int, str, str]:
    """One run without cache: exit status, CPU seconds, peak bytes of one process, report, complaints."""
    arguments = ["check", "--merge", merge, "--no-cache", "-o", "json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments], cwd=clone, env=environment, capture_output=True, check=True
    )
    status, seconds, peak, output, errors = json.loads(done.stdout)
    return status, seconds, peak, output, errors


def row(clone: Path, merge: str) -> dict[str, Any]:
    """What one merge cost and what was said of it."""
    started = time.monotonic()
    status, seconds, peak, output, errors = judge(clone, merge)
    report = json.loads(output) if output else {"findings": [], "outcomes": []}
    failed = [o for o in report["outcomes"] if o["status"] == "failed"]
    return {
        "repository": clone.parent.name, "merge": merge, "status": status, "cpu": round(seconds, 2), "peak": peak,
        "wall": round(time.monotonic() - started, 2), "traceback": "Traceback" in errors,
        "errors": errors[:2000] if status == 2 else "", "failed": [f"{o['check']}: {o['reason']}" for o in failed],
        "findings": [[f["severity"], f["code"], f["path"], f["line"], f["message"][:200]] for f in report["findings"]
                     if f["severity"] != "note"],
    }  # fmt: skip


def repeated(clone: Path, merge: str, times: int) -> int:
    """How many different reports a merge gets, two runs at a time; seconds are left out."""
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda _: judge(clone, merge), range(times))
        texts = {re.sub(r'"seconds": [\d.e-]+', "", f"{status} {output}") for status, _, _, output, _ in runs}
    return len({hashlib.sha256(text.encode()).hexdigest() for text in texts})


def is_bad(found: dict[str, Any]) -> bool:
    """Whether a run broke a bar."""
    costly = found["cpu"] > MOST_SECONDS or found["peak"] > MOST_BYTES
    return costly or found["traceback"] or bool(found["failed"]) or (found["status"] not in (0, 1, 3))


def main() -> int:
    """Run, and print the worst rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=Path, default=Path("mass.jsonl"))
    parser.add_argument("--repeat", type=int, default=0)
    given = parser.parse_args()
    known = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows.exists() else []
    done = {(found["repository"], found["merge"]) for found in known}
    clones = sorted(place / "repo" for place in given.clones.iterdir() if (place / "repo").is_dir())
    for clone in clones:
        for merge in merges(clone, given.count, given.seed):
            if given.repeat:
                print(f"{clone.parent.name} {merge[:12]}: {repeated(clone, merge, given.repeat)} different", flush=True)
            elif (clone.parent.name, merge) not in done:
                found = row(clone, merge)
                known.append(found)
                with given.rows.open("a") as stream:
                    stream.write(json.dumps(found) + "\n")
    bad = [found for found in known if is_bad(found)]
    print(
        f"{len(known)} merges of {len({found['repository'] for found in known})} repositories, {len(bad)} break a bar"
    )
    for found in sorted(known, key=lambda found: (not is_bad(found), -found["cpu"]))[:20]:
        said = "; ".join([*found["failed"], found["errors"].strip()[:200]])
        print(
            f"{found['repository']} {found['merge'][:12]} exit {found['status']} {found['cpu']:.1f} CPU s "
            f"{found['peak'] / 1e6:.0f} MB {len(found['findings'])} findings {said}"
        )
    return bool(bad)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(main())
