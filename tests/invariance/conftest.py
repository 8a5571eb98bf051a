from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "verify: measures an installed megatron-core; minutes, so asked for by -m verify"
    )
    config.addinivalue_line("markers", "frameworks: runs training steps of torch, transformers and accelerate")
    config.addinivalue_line("markers", "mutation: the part of `verify` that edits a copy of it again and again")


@pytest.fixture(scope="session")
def measuring_python(request: pytest.FixtureRequest) -> str:
    """An interpreter with torch and megatron-core: `GUARD_VERIFY_PYTHON`, or with `-m verify` this one."""
    asked = "verify" in (request.config.getoption("-m") or "")
    python = os.environ.get("GUARD_VERIFY_PYTHON") or (sys.executable if asked else None)
    if not python:
        pytest.skip("not asked for: -m verify, or GUARD_VERIFY_PYTHON with torch and megatron-core")
    probe = subprocess.run(
        [python, "-c", "import torch, importlib.util as u; assert u.find_spec('megatron.core')"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    if probe.returncode:
        reason = f"{python} cannot measure: {(probe.stderr.strip().splitlines() or ['?'])[-1]}"
        # Who asks for it must not be told that all is well because nothing ran.
        pytest.fail(reason) if asked else pytest.skip(reason)
    return python


@pytest.fixture
def empty_tree(tmp_path: Path) -> Path:
    """A folder that looks like Megatron-Core and holds nothing."""
    core = tmp_path / "tree" / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("__version__ = '0'\n")
    return tmp_path / "tree"
