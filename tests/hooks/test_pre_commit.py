"""The hooks under the real pre-commit program, with the file that this repository publishes."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hooked import BOTH, FEATURE, LOST, PATH, ROOT, Hooked

NOTHING = "no merge in progress – nothing checked"
# A call that the rule explicit-normalization-group forbids: the group is left to its default.
UNSCALED = """\
from megatron.core.transformer.multi_token_prediction import process_mtp_loss


def step(hidden, labels, mask, config):
    return process_mtp_loss(hidden, labels, mask, config)
"""
CALLEE = "def process_mtp_loss(hidden, labels, mask, config, cp_group=None):\n    return hidden\n"


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    repository = Hooked(tmp_path)
    published = tmp_path / "hooks"
    published.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", published)
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=hooks"]):
        subprocess.run(["git", *arguments], cwd=published, env=repository.environment, check=True)
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=published, capture_output=True, text=True, check=True)
    # `language: system` takes the guard of the path, so that no test waits for an installation.
    hooks = [{"id": name, "language": "system", "verbose": True} for name in ("guard-lint", "guard-merge")]
    config = {"repos": [{"repo": str(published), "rev": revision.stdout.strip(), "hooks": hooks}]}
    repository.commit({".pre-commit-config.yaml": yaml.safe_dump(config)}, "Add hooks")
    installed = repository.run(
        sys.executable, "-m", "pre_commit", "install", "--hook-type", "pre-commit", "--hook-type", "pre-merge-commit"
    )
    assert installed.returncode == 0, installed.stdout
    return repository


def test_an_ordinary_commit_passes_and_says_so(hooked: Hooked) -> None:
    hooked.write({"readme.md": "y\n"})
    said = hooked.git("commit", "--message=ordinary")
    assert NOTHING in said


def test_a_clean_merge_is_judged_and_passes(hooked: Hooked) -> None:
    hooked.commit({"new.py": "x = 1\n"}, "Something else")
    said = hooked.git("merge", "--no-edit", "main")
    assert NOTHING not in said
    assert "0 errors" in said
    assert hooked.git("rev-list", "--parents", "--max-count=1", "HEAD").count(" ") == 2


def test_a_conflict_resolved_to_one_side_is_stopped(hooked: Hooked) -> None:
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    before = hooked.head()
    hooked.git("merge", "--no-edit", "main", status=1)
    hooked.write({PATH: LOST})
    said = hooked.git("commit", "--no-edit", status=1)
    assert "#7" in said
    assert "moe/loss scale é.py" in said
    assert hooked.head() == before
    hooked.write({PATH: BOTH})
    assert "0 errors" in hooked.git("commit", "--no-edit")


def test_a_fixed_file_deleted_in_the_resolution_is_stopped(hooked: Hooked) -> None:
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    hooked.git("merge", "--no-edit", "main", status=1)
    hooked.git("rm", "--quiet", "--force", PATH)
    said = hooked.git("commit", "--no-edit", status=1)
    assert "moe/loss scale é.py" in said
    assert "GRD206" in said or "GRD202" in said


def test_a_rebase_is_no_merge(hooked: Hooked) -> None:
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    hooked.git("rebase", "main", status=1)
    hooked.write({PATH: BOTH})
    said = hooked.git("rebase", "--continue")
    assert "error" not in said.lower().replace("0 errors", "")
    assert hooked.git("log", "--format=%s", "--max-count=3").splitlines()[0] == "Scale it (#8)"


def test_the_linter_sees_names_with_spaces_and_other_letters(hooked: Hooked) -> None:
    hooked.write({"pré train/step ü.py": UNSCALED, "megatron/core/transformer/multi_token_prediction.py": CALLEE})
    said = hooked.git("commit", "--message=lint", status=1)
    assert "pré train/step ü.py:5" in said
    assert "GRD101" in said


def test_nothing_in_progress_takes_no_time(hooked: Hooked) -> None:
    hooked.run("guard", "check", "--hook")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = hooked.run("guard", "check", "--hook")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stdout) == (0, NOTHING + "\n")
    # Processor time, since other tests share the machine; the wall clock of a quiet one is about the same.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5
