"""The fixtures of `fixtures/merges`: four small trees each, and the findings that a person expects of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from guard.checks.contract import CheckContext
from guard.checks.lost import check_lost
from guard.git import Repository
from guard.sync import topology
from guard.sync.trees import load
from tests.conftest import Workshop

CASES = sorted(path.parent for path in (Path(__file__).parents[2] / "fixtures" / "merges").glob("*/expect.yaml"))


def commit(workshop: Workshop, tree: Path, message: str) -> str:
    """A commit with just the files of a folder."""
    workshop.git("rm", "-rq", "--ignore-unmatch", ".")
    files = {str(file.relative_to(tree)): file.read_bytes() for file in sorted(tree.rglob("*.py"))}
    return workshop.commit(message, files)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_expected_findings(case, tmp_path):
    workshop = Workshop(tmp_path / "repository")
    commit(workshop, case / "base", "Start")
    workshop.git("branch", "dev")
    theirs = commit(workshop, case / "theirs", "Theirs (#1)")
    workshop.git("checkout", "-q", "dev")
    ours = commit(workshop, case / "ours", "Ours (#2)")
    commit(workshop, case / "merged", "merged")
    tree = workshop.git("rev-parse", "HEAD^{tree}")
    merge = workshop.git("commit-tree", tree, "-p", ours, "-p", theirs, "-m", "Merge main into dev")
    with Repository.open(workshop.folder) as repository:
        trees = load(repository, topology.from_merge(repository, merge))
        result = check_lost(CheckContext(trees, debug=True))
    expected = yaml.safe_load((case / "expect.yaml").read_text())
    told = sorted((f.code, f.path, f.symbol, f.lost_side.value, f.subject, f.severity.value) for f in result.findings)
    wanted = sorted(
        tuple(r[k] for k in ("code", "path", "symbol", "side", "subject", "severity")) for r in expected["findings"]
    )
    assert told == wanted
    assert all(f.origins for f in result.findings if f.code not in ("GRD209",))
    assert expected["todo"] == []
