"""A second run over the same trees, commits and settings answers from memory; anything else asks again."""

from __future__ import annotations

import pytest

import guard.checks
from guard.checks import BY_CONTENT, CheckRun, run_check
from guard.checks.contract import CheckContext
from guard.config import Config
from guard.git import Repository
from guard.store.cache import DiskStore
from guard.sync import topology
from guard.sync.trees import load
from tests.conftest import Workshop

HELPER = "def h():\n    pass\n"


@pytest.fixture
def lossy(workshop: Workshop) -> Workshop:
    """A sync that lost a fix of main, dropped an import and lost a setting."""
    workshop.commit(
        "base", {"a.py": "def f(x):\n    return x\n", "b.yaml": "lr: 1\n", "lib.py": "def h():\n    pass\n"}
    )
    workshop.branch("dev")
    workshop.commit("ours", {"a.py": "def f(x):\n    y = x\n    return y\n", "lib.py": "def k():\n    pass\n"})
    workshop.switch("main")
    fixed = {"a.py": "def f(x):\n    return x * 2\n", "b.yaml": "lr: 2\n", "c.py": "from lib import h\nh()\n"}
    workshop.commit("Fix the scale (#7)", fixed)
    workshop.switch("dev")
    workshop.merge("main", {"a.py": "def f(x):\n    y = x\n    return y\n", "b.yaml": "lr: 1\n"})
    return workshop


def runs(workshop: Workshop, config: Config) -> dict[str, CheckRun]:
    with Repository.open(workshop.folder) as repository:
        trees = load(repository, topology.from_merge(repository, "HEAD"))
        store = DiskStore()
        context = CheckContext(trees, config, store=store)
        found = {name: run_check(name, context) for name in sorted(BY_CONTENT)}
        store.flush()
        return found


def test_a_second_run_answers_from_memory(lossy: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    first = runs(lossy, Config())
    assert all(first[name].result.findings for name in ("lost", "textual", "broken"))

    def ask(name: str) -> object:
        raise AssertionError(f"{name} was asked again")

    monkeypatch.setattr(guard.checks, "_function", ask)
    again = runs(lossy, Config())
    assert {name: run.result for name, run in again.items()} == {name: run.result for name, run in first.items()}
    asked = runs(lossy, Config(golden=("*.yaml",)))
    assert {str(run.outcome.reason).partition(" (at ")[0] for run in asked.values()} == {
        f"AssertionError: {name} was asked again" for name in BY_CONTENT
    }


def test_a_failure_is_not_remembered(lossy: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    real = guard.checks._function

    def fail(name: str) -> object:
        raise RuntimeError("no memory")

    monkeypatch.setattr(guard.checks, "_function", fail)
    assert {run.outcome.status.value for run in runs(lossy, Config()).values()} == {"failed"}
    monkeypatch.setattr(guard.checks, "_function", real)
    assert {run.outcome.status.value for run in runs(lossy, Config()).values()} == {"ran"}
