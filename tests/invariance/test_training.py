"""A user's own training step: the examples of docs/training-step.md, and each kind of fault put into one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.frameworks
PAGE = Path(__file__).parents[2] / "docs" / "training-step.md"
EXAMPLES = dict(re.findall(r"<!-- example: (\w+) -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL))

MEAN_OF_MEANS = ('reduction="sum") / tokens', 'reduction="mean") / share.accumulation / share.dp')
TRAINER_MEAN_OF_MEANS = (
    "    def _get_train_sampler",
    "    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):\n"
    "        return model(**inputs).loss / self.args.gradient_accumulation_steps\n\n"
    "    def _get_train_sampler",
)
WRONG = {  # example, what is changed, what the report must say
    "a mean of means in DDP": ("ddp", MEAN_OF_MEANS, "the mean of the means of its micro-batches"),
    "a mean of means in FSDP2": ("fsdp2", MEAN_OF_MEANS, "the mean of the means of its micro-batches"),
    "a mean of means in the Trainer": ("trainer", TRAINER_MEAN_OF_MEANS, "the mean of the means of its micro-batches"),
    "the average of DDP not undone": ("ddp", ("(loss * share.dp)", "loss"), "(= 1/DP)"),
    "a sum where a mean was meant": ("ddp", (" / tokens", " / tokens * share.accumulation"), "(= accumulation)"),
    "gradients cleared between micro-batches": (
        "ddp",
        ("    for part in share.micro_batches:\n", "    for part in share.micro_batches:\n        net.zero_grad()\n"),
        "the last micro-batch alone",
    ),
    "gradients never reduced": (
        "ddp",
        ("logits = net(", "logits = net.module("),
        "replicas diverge",
    ),
    "counts of each rank alone": (
        "ddp",
        ("    torch.distributed.all_reduce(tokens)\n", "    tokens = tokens * share.dp\n"),
        "the mean of the ranks' own means",
    ),
    "a rank that raises": (
        "ddp",
        ("    torch.manual_seed(1)\n", "    torch.manual_seed(1)\n    assert share.rank == 0, 'no such rank'\n"),
        "rank 1: AssertionError: no such rank",
    ),
    "a rank that dies": (
        "ddp",
        ("    torch.manual_seed(1)\n", "    torch.manual_seed(1)\n    share.rank and __import__('os')._exit(3)\n"),
        "rank 1: the process ended without an answer",
    ),
    "a rank that hangs": (
        "ddp",
        ("    torch.manual_seed(1)\n", "    torch.manual_seed(1)\n    share.rank and __import__('time').sleep(99)\n"),
        "rank 1 was at",
    ),
}


@pytest.fixture(autouse=True, scope="module")
def _frameworks(request: pytest.FixtureRequest) -> None:
    missing = []
    for name in ("torch", "transformers", "accelerate"):
        done = subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, check=False, cwd="/")
        missing += [name] if done.returncode else []
    if missing:
        reason = f"not installed: {', '.join(missing)} (pip install -e '.[frameworks]')"
        asked = "frameworks" in (request.config.getoption("-m") or "")
        pytest.fail(reason) if asked else pytest.skip(reason)


def run(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """Run each text as a test file of its own, all in one pytest: what each failed with, empty where it passed."""
    files = {f"test_step{number}": name for number, name in enumerate(texts)}
    for file, name in files.items():
        (folder / f"{file}.py").write_text(texts[name])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=out.xml", "."]
    environment = {**os.environ, "PYTHONPATH": str(PAGE.parents[1])}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    cases = ElementTree.parse(folder / "out.xml").getroot().iter("testcase")
    said = {files[case.attrib["classname"]]: "".join(part.text or "" for part in case) for case in cases}
    assert said.keys() == texts.keys(), done.stdout + done.stderr
    return said


@pytest.fixture(scope="module")
def of_the_faults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    texts = {}
    for kind, (example, (old, new), _) in WRONG.items():
        assert old in EXAMPLES[example], kind
        text = EXAMPLES[example].replace(old, new).replace("import padded_batch", "import Cut, padded_batch")
        call = "guard_check(step, BATCH, cuts=[Cut(mbs=2), Cut(dp=2, mbs=2)], timeout=15)"
        texts[kind] = text.replace("guard_check(step, BATCH)", call)
    return run(tmp_path_factory.mktemp("faults"), texts)


def test_the_examples_of_the_page_hold(tmp_path: Path) -> None:
    assert EXAMPLES.keys() == {"ddp", "trainer", "fsdp2"}
    assert run(tmp_path, EXAMPLES) == dict.fromkeys(EXAMPLES, "")


def test_an_example_needs_no_more_than_thirty_lines() -> None:
    for text in EXAMPLES.values():
        assert len([line for line in text.splitlines() if line.strip()]) <= 30


@pytest.mark.parametrize("kind", WRONG)
def test_a_fault_is_seen_and_named(kind: str, of_the_faults: dict[str, str]) -> None:
    assert WRONG[kind][2] in of_the_faults[kind]
