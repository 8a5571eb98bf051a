"""`guard demo`: a small repository with a real three-way history whose sync loses a numeric fix, and its check."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import click

from guard.commands.judgement import RunSettings, judge_selection
from guard.commands.output import OutputOptions, emit, output_options
from guard.commands.progress import progress
from guard.commands.range_options import RangeOptions
from guard.commands.say import say
from guard.commands.selection import select
from guard.config import Config
from guard.errors import GuardError
from guard.git import Repository
from guard.git.command import GitCommand
from guard.model import Finding, Report, Side

ROUTER = "moe/router.py"
PULL = 42

_BASE = '''\
"""A router's sequence-level auxiliary loss, in the small."""


def load_balancing_loss(probs, valid_token_count, coeff):
    return coeff * (probs / valid_token_count).sum()


def apply_seq_aux_loss(probs, seq_length, bsz, coeff):
    """The batch is folded into the experts, so the loss runs over each sequence apart."""
    local_num_tokens = seq_length
    return load_balancing_loss(
        probs,
        valid_token_count=local_num_tokens,
        coeff=coeff,
    )


def report_seq_aux_loss(loss, layer):
    return {"seq_load_balancing_loss": loss, "layer": layer}
'''
_FIXED = _BASE.replace("valid_token_count=local_num_tokens,", "valid_token_count=local_num_tokens * bsz,")
_FEATURE = _BASE.replace("coeff=coeff,", "coeff=coeff * bias_scale,").replace(
    "bsz, coeff):", "bsz, coeff, bias_scale=1.0):"
)
_TEST = """\
from moe.router import apply_seq_aux_loss


def test_loss_does_not_depend_on_the_batch_size(probs):
    assert apply_seq_aux_loss(probs, 8, 2, 1.0) == apply_seq_aux_loss(probs.repeat(2), 8, 4, 1.0)
"""


@click.command("demo")
@click.option("--keep", is_flag=True, help="Leave the repository in place and say where it is.")
@output_options
def demo(keep: bool, output: OutputOptions) -> int:
    """Show the tool on a small repository that it makes itself: no network, no clone.

    Its main branch fixes a loss scale; its dev branch adds a feature in the same lines; the sync of main into dev
    resolves the conflict to dev's side, and so loses the fix. Exit 0 if the check finds what was planted.
    """
    place = Path(tempfile.mkdtemp(prefix="guard-demo-"))
    try:
        plant(place)
        report = judge(place)
    finally:
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
    emit(report, output.formats, output.view())
    if not any(is_planted(finding) for finding in report.findings):
        raise GuardError("the demo did not find the fix that its sync lost; please report this as a bug")
    say(f"\nThis sync lost the fix #{PULL} on purpose, and guard found it.", err=True)
    if keep:
        say(f"The repository is {place}; try: cd {place} && guard check --merge HEAD -v", err=True)
    return 0


def plant(place: Path) -> None:
    """Make the repository: a base, a fix with its test on main, a feature on dev, and a sync that drops the fix."""
    commit = _Author(place)
    commit.git("init", "--quiet", "--initial-branch=main")
    commit({ROUTER: _BASE, "moe/__init__.py": "", "README.md": "# demo\n"}, "Add the router")
    commit.git("branch", "dev")
    commit({ROUTER: _FIXED, "tests/test_router.py": _TEST}, f"Fix the token count of the auxiliary loss (#{PULL})")
    commit.git("checkout", "--quiet", "dev")
    commit({ROUTER: _FEATURE}, "Scale the auxiliary loss by the expert bias (#43)")
    # Both sides changed neighbouring lines: a conflict, and here it is resolved to one side whole.
    commit.git("merge", "--quiet", "--strategy-option=ours", "--message=Merge main into dev", "main")


def judge(place: Path) -> Report:
    """Run the real check on the sync at the tip."""
    with Repository.open(place) as repository, progress() as tell:
        config = Config()
        selection = select(repository, RangeOptions(merge="HEAD"), config)
        return judge_selection(repository, selection, config, RunSettings(jobs=1, progress=tell))


def is_planted(finding: Finding) -> bool:
    """Whether this is the lost fix, with its place, its pull request and the side that lost it."""
    return (
        finding.path == ROUTER
        and finding.lost_side is Side.THEIRS
        and finding.numeric
        and any(origin.pr == PULL for origin in finding.origins)
    )


class _Author:
    """Commits files under a fixed name and clock, so that every demo has the same commits."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.clock = 1_767_261_600  # 2026-01-01 10:00 UTC; each commit is an hour later

    def git(self, *arguments: str) -> None:
        date = f"@{self.clock} +0000"
        environment = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(self.place / ".git"),
            "GIT_WORK_TREE": str(self.place),
            "GIT_INDEX_FILE": str(self.place / ".git" / "index"),
            **{f"GIT_{role}_NAME": "demo" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "demo@example.invalid" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_DATE": date for role in ("AUTHOR", "COMMITTER")},
        }
        GitCommand(self.place, environment).run(*arguments)

    def __call__(self, files: dict[str, str], message: str) -> None:
        self.clock += 3600
        for name, text in files.items():
            file = self.place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", f"--message={message}")
