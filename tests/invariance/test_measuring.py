"""On an installed megatron-core: known verdicts, hanging ranks, interruption, the pool, known damage.

Slow, so asked for: `pytest tests/invariance -m verify` where it is installed, or with `GUARD_VERIFY_PYTHON` naming
the interpreter that has it; `-m "verify and not mutation"` leaves out the longest.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from guard.invariance.selftest import run
from guard.invariance.session import Request, records
from guard.invariance.tree import INSTALLED, open_tree
from tests.invariance.agreement import compare

EXPECTED = Path(__file__).parents[2] / "fixtures" / "invariance" / "expected-0.16.1.yaml"
# A change of the installed release changes what is known of it.
RELEASE = "0.16.1"

pytestmark = pytest.mark.verify


@pytest.fixture(scope="module")
def installed(measuring_python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_tree(INSTALLED, tmp_path_factory.mktemp("installed"), measuring_python).folder


def verify(python: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "guard", "verify", "--python", python, "--device", "cpu", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, **more)


def test_the_release_does_what_is_known_of_it(measuring_python: str, tmp_path: Path) -> None:
    done = verify(measuring_python, "--tree", INSTALLED, "--output-format", "json", cwd=tmp_path)
    report = json.loads(done.stdout)
    if not any(f"megatron.core {RELEASE}" in notice for notice in report.get("notices", [])):
        pytest.skip(f"the expectations are those of {RELEASE}, here is {report.get('notices')}")
    found = compare(report, yaml.safe_load(EXPECTED.read_text()))
    assert found.disagreements == ()
    assert len(found.rows) >= 12
    assert done.returncode == 1


def test_a_hung_rank_ends_at_its_time_out_and_the_rest_goes_on(
    measuring_python: str, installed: Path, tmp_path: Path
) -> None:
    tree = copy(installed, tmp_path)
    router = tree / "megatron/core/transformer/moe/router.py"
    text = router.read_text()
    head = "    def apply_z_loss(self, logits, padding_mask: Optional[torch.Tensor] = None):\n"
    assert text.count(head) == 1
    hang = "        import time\n        while torch.distributed.get_rank() == 1:\n            time.sleep(1)\n"
    router.write_text(text.replace(head, head + hang))
    request = Request(measuring_python, "cpu", suite="full", timeout=6, cases=("z_loss_shards", "cross_entropy_loss"))
    scratch = tmp_path / "ranks"
    scratch.mkdir()
    found = [record for record in records(request, tree, scratch) if record["type"] == "case"]
    hung = [record for record in found if record["case"] == "z_loss_shards"]
    assert {record["status"] for record in hung} == {"failed"}
    assert "rank" in hung[0]["reason"]
    assert "router.py" in hung[0]["reason"]
    assert {record["status"] for record in found if record["case"] == "cross_entropy_loss"} == {"ok"}
    assert list(scratch.glob("run*")) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_no_process_and_no_folder(
    measuring_python: str, installed: Path, tmp_path: Path, number: signal.Signals
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    line = [sys.executable, "-m", "guard", "verify", "--python", measuring_python, "--tree", str(installed)]
    process = subprocess.Popen(
        [*line, "--device", "cpu"],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not list(temporary.glob("*/ranks/run*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert holders(temporary) != []
    process.send_signal(number)
    assert process.wait(20) == 130
    assert list(temporary.iterdir()) == []
    assert holders(temporary) == []


def holders(folder: Path) -> list[str]:
    """Processes whose command line names the folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


def test_the_pool_measures_what_forked_ranks_measure(measuring_python: str, installed: Path, tmp_path: Path) -> None:
    names = ("aux_shards", "lm_mean_cp_one", "grad_norm")
    ratios = []
    for pool in (False, True):
        scratch = tmp_path / str(pool)
        scratch.mkdir()
        request = Request(measuring_python, "cpu", cases=names, pool=pool)
        found = [record for record in records(request, installed, scratch) if record["type"] == "case"]
        ratios.append([(record["case"], record["status"], round(record["ratio"], 6)) for record in found])
    assert ratios[0] == ratios[1]
    assert len(ratios[0]) == 4


def test_a_tree_without_a_module_skips_what_needs_it(measuring_python: str, installed: Path, tmp_path: Path) -> None:
    tree = copy(installed, tmp_path)
    (tree / "megatron/core/ssm/gated_delta_net.py").unlink()
    scratch = tmp_path / "ranks"
    scratch.mkdir()
    request = Request(measuring_python, "cpu", cases=("delta_net_tp", "cross_entropy_loss"))
    found = {each["case"]: each for each in records(request, tree, scratch) if each["type"] == "case"}
    assert found["delta_net_tp"]["status"] == "skipped"
    assert "no importable megatron.core.ssm.gated_delta_net" in found["delta_net_tp"]["reason"]
    assert found["cross_entropy_loss"]["status"] == "ok"


def test_a_tree_that_does_not_import_is_a_failed_check(measuring_python: str, tmp_path: Path) -> None:
    broken = tmp_path / "tree" / "megatron" / "core"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("__version__ = '0'\n")
    done = verify(measuring_python, "--tree", str(tmp_path / "tree"), "--output-format", "json", cwd=tmp_path)
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert done.returncode == 2
    assert outcome["status"] == "failed"
    assert "does not import" in outcome["reason"]
    assert not list(broken.rglob("__pycache__"))


@pytest.mark.mutation
def test_known_damage_and_known_fixes_turn_their_case(measuring_python: str, installed: Path, tmp_path: Path) -> None:
    turns = list(run(installed, tmp_path, Request(measuring_python, "cpu")))
    assert [turn.mutation.name for turn in turns if turn.noticed is False] == []
    damage = [turn for turn in turns if turn.mutation.turns == "differs" and turn.noticed]
    fixes = [turn for turn in turns if turn.mutation.turns == "ok" and turn.noticed]
    assert len(damage) >= 12
    assert len(fixes) >= 1


def copy(installed: Path, tmp_path: Path) -> Path:
    tree = tmp_path / "copy"
    shutil.copytree(installed / "megatron", tree / "megatron", ignore=shutil.ignore_patterns("__pycache__"))
    return tree
