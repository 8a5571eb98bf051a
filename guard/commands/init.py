"""`guard init`: write settings, hooks and the workflow into a repository, after showing them."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import click
import yaml

from guard.commands.replace_file import replace_file
from guard.commands.say import say
from guard.errors import GuardError
from guard.store.seen import root_of

HOOKS_FILE = ".pre-commit-config.yaml"
WORKFLOW_FILE = ".github/workflows/nightly-sync.yml"


@dataclass(frozen=True, slots=True)
class Step:
    """One file that would be written.

    Attributes:
        path: relative to the repository.
        added: what would be written or appended, as shown.
        text: the whole new file; None if it is left as it is.
        reason: why it is left, or what the reader has to know.
    """

    path: str
    added: str
    text: str | None
    reason: str | None = None


@click.command("init")
@click.option("--target", metavar="BRANCH", default="dev", show_default=True, help="The branch that receives syncs.")
@click.option("--source", metavar="BRANCH", default="main", show_default=True, help="The branch that is merged in.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", "-y", is_flag=True, help="Write without asking.")
@click.option("--merge-driver", is_flag=True, help="Only install the merge driver: git then joins Python by syntax.")
def init(target: str, source: str, dry_run: bool, yes: bool, merge_driver: bool) -> int:
    """Write settings, hooks and a nightly workflow into this repository.

    Everything is shown first. Nothing that exists is overwritten: settings and hooks are added to their files, or left
    to you where that cannot be done safely. Without a terminal nothing is asked.
    """
    for name in (target, source):
        if not name or name.startswith("-") or not name.isprintable() or set(name) & set(" ~^:?*[\\\"'`$"):
            raise GuardError(f"{name!r} is no name of a branch")
    root = root_of(Path.cwd())
    if not (root / ".git").exists():
        raise GuardError(f"{Path.cwd()} is not inside the work tree of a git repository")
    if merge_driver:
        from guard.commands.driver_setup import install_driver

        return install_driver(root, dry_run=dry_run)
    steps = [settings_step(root, target), hooks_step(root), workflow_step(root, target, source)]
    for step in steps:
        _show(step)
    wanted = [step for step in steps if step.text is not None]
    if dry_run or not wanted:
        say("nothing was written" if dry_run else "nothing to write: all of it is there")
        return 0
    if not yes and _can_answer() and not click.confirm(f"Write {len(wanted)} files?", default=True, err=True):
        say("nothing was written")
        return 0
    for step in wanted:
        file = root / step.path
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, step.text or "")
    # Told after all of it is done, so that a closed pipe cannot leave half of it undone.
    say("".join(f"wrote {step.path}\n" for step in wanted), nl=False)
    say("next: pre-commit install --hook-type pre-commit --hook-type pre-merge-commit")
    return 0


def settings_step(root: Path, target: str) -> Step:
    """`[tool.guard]` in pyproject.toml, or guard.toml in a repository without one.

    Raises:
        GuardError: pyproject.toml is no TOML.
    """
    lines = f'# The branch that syncs go into.\ntarget = "{target}"\n'
    if (root / "guard.toml").exists():
        return Step("guard.toml", "", None, "is there already")
    file = root / "pyproject.toml"
    if not file.exists():
        return Step("guard.toml", lines, lines)
    old = file.read_text("utf-8")
    try:
        before = tomllib.loads(old)
    except tomllib.TOMLDecodeError as error:
        raise GuardError(f"{file} does not parse: {error}") from error
    if "guard" in before.get("tool", {}):
        return Step("pyproject.toml", "", None, "has [tool.guard] already")
    block = f"[tool.guard]\n{lines}"
    text = f"{old.rstrip()}\n\n{block}" if old.strip() else block
    wanted = {**before, "tool": {**before.get("tool", {}), "guard": {"target": target}}}
    try:
        same = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        return Step("pyproject.toml", block, None, "cannot take a table at its end; add it by hand")
    return Step("pyproject.toml", block, text, "this is added at the end")


def hooks_step(root: Path) -> Step:
    """The two hooks in the configuration of pre-commit."""
    block = _template("hooks.yaml")
    file = root / HOOKS_FILE
    if not file.exists():
        return Step(HOOKS_FILE, block, block)
    old = file.read_text("utf-8")
    try:
        before = yaml.safe_load(old) or {}
    except yaml.YAMLError as error:
        raise GuardError(f"{file} does not parse: {error}") from error
    repos = before.get("repos") if isinstance(before, dict) else None
    if isinstance(repos, list) and any(_has_guard(entry) for entry in repos):
        return Step(HOOKS_FILE, "", None, "has the hooks of guard already")
    addition = yaml.safe_load(block)["repos"]
    entry = block.split("repos:\n", 1)[1]
    if isinstance(repos, list):
        # The list may be indented or not; the addition must mean the old file with one entry more.
        for indent in ("", "  ", "    "):
            shifted = "".join(f"{indent}{line}" for line in _dedented(entry))
            text = f"{old.rstrip()}\n{shifted}"
            if _loads_as(text, {**before, "repos": [*repos, *addition]}):
                return Step(HOOKS_FILE, shifted, text, "this is added at the end")
    return Step(HOOKS_FILE, entry, None, "cannot be extended safely; add this to its repos by hand")


def workflow_step(root: Path, target: str, source: str) -> Step:
    """The nightly workflow, with the branches of this repository."""
    if (root / WORKFLOW_FILE).exists():
        return Step(WORKFLOW_FILE, "", None, "is there already")
    text = _template("nightly-sync.yml")
    for key, old, new in (
        ("TARGET", "dev", target),
        ("SOURCE", "main", source),
        ("SYNC_PREFIX", "main2dev/", f"{source}2{target}/"),
    ):
        text = text.replace(f"\n  {key}: {old}\n", f"\n  {key}: {new}\n")
    return Step(WORKFLOW_FILE, text, text)


def _can_answer() -> bool:
    """Whether someone sees a question (on standard error: the output may go to a file) and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _show(step: Step) -> None:
    note = f" ({step.reason})" if step.reason else ""
    say(f"--- {step.path}{note}")
    if step.added:
        say("".join(f"    {line}\n" if line else "\n" for line in step.added.splitlines()))


def _has_guard(entry: Any) -> bool:
    hooks = entry.get("hooks", []) if isinstance(entry, dict) else []
    return any(isinstance(hook, dict) and str(hook.get("id", "")).startswith("guard-") for hook in hooks)


def _dedented(entry: str) -> list[str]:
    lines = entry.splitlines(keepends=True)
    indent = len(lines[0]) - len(lines[0].lstrip())
    return [line[indent:] for line in lines]


def _loads_as(text: str, wanted: Any) -> bool:
    try:
        return bool(yaml.safe_load(text) == wanted)
    except yaml.YAMLError:
        return False


def _template(name: str) -> str:
    return (resources.files("guard.commands") / "templates" / name).read_text("utf-8")
