from __future__ import annotations

import json
import time
from pathlib import Path

import jsonschema
import pytest
from synthetic import large, small

from guard.model import Report
from guard.report import FORMATS, View, render

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "report.schema.json").read_text())


@pytest.mark.parametrize("report", [small(), large(), Report("check", "1")], ids=["small", "large", "empty"])
def test_json_follows_its_schema(report: Report) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(render(report, "json", View())))


def test_json_holds_what_the_design_names() -> None:
    document = json.loads(render(small(), "json", View()))
    assert document["version"] == 1
    assert document["tool"]["name"] == "guard"
    merge = document["merges"][0]
    assert merge["changes"] == {
        "ours": {"total": 120, "kept": 90, "lost": 30},
        "theirs": {"total": 431, "kept": 402, "lost": 2},
    }
    finding = next(found for found in document["findings"] if found["code"] == "GRD201")
    assert finding["origins"][0]["pr"] == 5798
    assert finding["evidence"]["theirs"] == "            valid_token_count=local_num_tokens * bsz,\n"
    assert (finding["lost_side"], finding["verdict"], finding["numeric"]) == ("theirs", "reverted", True)
    assert document["summary"] == {
        "error": 3,
        "warning": 6,
        "note": 1,
        "hidden": 0,
        "accepted": 1,
        "files": 42,
        "seconds": 3.75,
    }
    assert document["outcomes"][2] == {
        "check": "lint",
        "status": "skipped",
        "reason": "does not parse: line 3",
        "seconds": 0.0,
        "subject": "megatron/bad.py",
    }


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_in_time_and_in_utf8(name: str) -> None:
    report = large(1500)
    started = time.process_time()
    text = render(report, name, View())
    assert time.process_time() - started <= 2
    text.encode()
