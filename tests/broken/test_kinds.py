"""One merge for each kind of break, and its harmless twin: the folders of `fixtures/broken`.

A folder holds `base`, and what `ours`, `theirs` and `merged` change of it; without `merged` git's automatic merge is
judged. `expect.yaml` lists every finding.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.broken.conftest import Files, Judge, told

CASES = Path(__file__).parents[2] / "fixtures" / "broken"


def _files(folder: Path) -> Files:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_kind(judge: Judge, case: Path) -> None:
    expected = yaml.safe_load((case / "expect.yaml").read_text())["expect"]
    merged = _files(case / "merged") if (case / "merged").is_dir() else None
    result = judge(_files(case / "base"), _files(case / "ours"), _files(case / "theirs"), merged)
    assert told(result) == sorted((item["code"], item["path"], item["symbol"], item["subject"]) for item in expected)
