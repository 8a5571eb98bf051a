from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for name in ("essential", "mutation"):
        config.addinivalue_line("markers", f"{name}: measures an installed megatron-core; needs GUARD_VERIFY_PYTHON")


@pytest.fixture(scope="session")
def measuring_python() -> str:
    """An interpreter with torch and megatron-core."""
    python = os.environ.get("GUARD_VERIFY_PYTHON")
    if not python:
        pytest.skip("GUARD_VERIFY_PYTHON names no interpreter with torch and megatron-core")
    probe = subprocess.run(
        [python, "-c", "import torch, importlib.util as u; assert u.find_spec('megatron.core')"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    if probe.returncode:
        pytest.skip(f"{python} cannot measure: {(probe.stderr.strip().splitlines() or ['?'])[-1]}")
    return python


@pytest.fixture
def empty_tree(tmp_path: Path) -> Path:
    """A folder that looks like Megatron-Core and holds nothing."""
    core = tmp_path / "tree" / "megatron" / "core"
    core.mkdir(parents=True)
    (core / "__init__.py").write_text("__version__ = '0'\n")
    return tmp_path / "tree"
