"""The pytest plugin behind `pytest --pyargs guard.invariance --guard-tree DIR`; it is loaded by every pytest run.

So it imports nothing of guard before a case is measured.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `guard verify` that choose what is measured."""
    group = parser.getgroup("guard", "gradient invariances")
    group.addoption("--guard-tree", default=None, metavar="REV|DIR", help="tree to measure, or `installed`")
    group.addoption("--guard-python", default=None, metavar="EXE", help="interpreter that has torch; default: this one")
    group.addoption("--guard-suite", default="essential", choices=("essential", "full"), help="how many cases")
    group.addoption("--guard-ranks", default=None, type=int, metavar="N", help="most ranks a cut may use")
    group.addoption("--guard-timeout", default=60.0, type=float, metavar="S", help="seconds a run of ranks may take")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of the cases that need GPUs."""
    config.addinivalue_line("markers", "gpu: runs on CUDA devices with NCCL")


@pytest.fixture
def guard_check() -> Callable[..., Any]:
    """`guard.invariance.check` as an assertion: the test fails with the report where a cut does not hold."""

    def hold(*arguments: Any, **options: Any) -> Any:
        from guard.invariance import check

        report = check(*arguments, **options)
        if not report.ok:
            pytest.fail(str(report), pytrace=False)
        return report

    return hold


Records = dict[str, dict[tuple[str, str], dict[str, Any]]]


@pytest.fixture(scope="session")
def guard_measured(request: pytest.FixtureRequest) -> Iterator[Records]:
    """Records of the collected cases by device, then by case and cut; a device is measured when first asked for."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guard-verify-")))
        yield _Lazy(request, folder)


class _Lazy(Records):
    """Measures the cases of a device when its records are first read."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        super().__init__()
        self.request = request
        self.folder = folder

    def __missing__(self, device: str) -> dict[tuple[str, str], dict[str, Any]]:
        from guard.invariance.case import Cut
        from guard.invariance.session import Request, records
        from guard.invariance.tree import open_tree

        option = self.request.config.getoption
        python = shutil.which(option("--guard-python") or sys.executable) or sys.executable
        params = [getattr(item, "callspec", None) for item in self.request.session.items]
        wanted = {spec.params["case"].name for spec in params if spec is not None and "case" in spec.params}
        tree = open_tree(option("--guard-tree"), self.folder, python)
        scratch = self.folder / device
        scratch.mkdir()
        request = Request(
            python,
            device,
            option("--guard-ranks"),
            option("--guard-suite"),
            timeout=option("--guard-timeout"),
            cases=tuple(sorted(wanted)),
        )
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for record in records(request, tree.folder, scratch):
            if record["type"] == "case":
                found[record["case"], Cut(**record["cut"]).label()] = record
            elif record["type"] == "fatal":
                found["", ""] = record
        self[device] = found
        return found
