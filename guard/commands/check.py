"""`guard check`: lint what changed, and judge every sync in the range."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from guard import __version__
from guard.commands.output import FOUND, NOTHING_CHECKED, WITH_EDITS, OutputOptions, finish, output_options
from guard.commands.range_options import RangeOptions, range_options
from guard.commands.say import complain
from guard.commands.settings import load_config
from guard.config import Config
from guard.documents.gc_paused import gc_paused
from guard.errors import GitError, GuardError
from guard.model import Outcome, Report, Status
from guard.store.baseline import covered_by
from guard.store.cache import DiskStore
from guard.store.facts import FactStore, NullStore

if TYPE_CHECKING:
    from guard.commands.selection import Selection
    from guard.git import Repository


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@range_options
@click.option("--hook", is_flag=True, help="Judge the merge in progress; without one say so in a line and exit 0.")
@click.option(
    "--landed",
    metavar="REV",
    help="Compare what landed as REV with the checked head (--merge; else REV's second parent, or HEAD).",
)
@click.option("--stdin-filename", metavar="PATH", help="What the text of standard input (PATH `-`) is called.")
@click.option("--fix", is_flag=True, help="Make the safe edits of lint findings in PATHs, then lint.")
@click.option("--diff", is_flag=True, help="Print these edits as a patch; exit 1 if there are any.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
@click.option("--debug", is_flag=True, hidden=True, help="Let unexpected errors through with their traceback.")
@output_options
def check(
    paths: tuple[str, ...],
    chosen: RangeOptions,
    hook: bool,
    landed: str | None,
    stdin_filename: str | None,
    fix: bool,
    diff: bool,
    config_file: str | None,
    debug: bool,
    output: OutputOptions,
) -> int:
    """Lint what changed, and judge every sync in the range.

    With PATHs the rules see these files and folders, whole; `-` is standard input. With a range they see what it
    changed. With neither, the merge in progress is judged, or HEAD where it is a merge; else the work tree is linted.
    """
    if "-" in paths or stdin_filename is not None:
        if paths != ("-",) or chosen.given or hook or landed is not None or fix or diff:
            raise GuardError("standard input is linted alone: guard check - [--stdin-filename PATH]")
        return _lint_only(paths, config_file, output, standard_input=stdin_filename or "stdin.py")
    if fix or diff:
        if chosen.given or hook or landed is not None:
            raise GuardError("--fix and --diff edit the work tree: give PATHs, and no range")
        changed = _fix(paths or (".",), config_file, output, write=fix and not diff)
        return FOUND * bool(changed) if diff else _lint_only(paths or (".",), config_file, output)
    if paths and not chosen.given and not hook and landed is None:
        return _lint_only(paths, config_file, output)
    # Late: a hook on one file must not pay for git.
    from guard.commands.selection import in_progress, named_paths, select
    from guard.git import Repository

    try:
        repository = Repository.open()
    except GitError:
        if chosen.given or hook or landed is not None or _is_repository_expected():
            raise
        notice = "no merge was checked: this is no git repository"
        return _lint_only((".",), config_file, output, (notice,))
    with repository:
        config = load_config(repository, config_file)
        output = configured(output, config, repository.work_tree)
        if landed is not None:
            from guard.commands.landing import check_landed

            return finish(check_landed(repository, landed, chosen), output)
        selection = in_progress(repository) if hook else select(repository, chosen, config)
        if selection is None:
            click.echo("no merge in progress – nothing checked")
            return 0
        if paths:
            selection = dataclasses.replace(selection, paths=named_paths(repository, paths, selection))
        if selection.tip is None and not chosen.given:
            return _lint_only((str(repository.work_tree or "."),), config_file, output, selection.notices)
        return _judge(repository, selection, config, output, debug)


def _judge(repository: Repository, selection: Selection, config: Config, output: OutputOptions, debug: bool) -> int:
    from guard.commands.acceptance import accepted_by_commits
    from guard.commands.judgement import RunSettings, judge_selection
    from guard.commands.progress import AGAIN, progress
    from guard.commands.web import remote_address

    with gc_paused(last=True):
        with progress(output.quiet, AGAIN if output.cache else "") as tell:
            settings = RunSettings(
                select=output.select, jobs=jobs(output), store=store(output), progress=tell, debug=debug
            )
            report = accepted_by_commits(repository, judge_selection(repository, selection, config, settings))
            if any(given.partition("=")[0] in WITH_EDITS for given in output.formats):
                # Late: only formats that can show edits pay for what makes them.
                from guard.commands.suggesting import suggesting

                report = suggesting(report, repository, selection, config, settings, output)
        status = finish(report, output, covered_by(report), remote_address(repository))
    return NOTHING_CHECKED if status == 0 and selection.unanswered else status


def _fix(paths: tuple[str, ...], config_file: str | None, output: OutputOptions, write: bool) -> int:
    from guard.commands.fixing import fix_paths

    root = _root()
    config = load_config(None, config_file) if config_file else _config_of(root)
    output = configured(output, config, root)
    return fix_paths(paths, config, root, output.select, output.ignore, write)


def _lint_only(
    paths: tuple[str, ...],
    config_file: str | None,
    output: OutputOptions,
    notices: tuple[str, ...] = (),
    standard_input: str | None = None,
) -> int:
    from guard.commands.linting import lint_paths, lint_text, unread_settings

    started = time.monotonic()
    root = _root()
    config = load_config(None, config_file) if config_file else _config_of(root)
    output = configured(output, config, root)
    if standard_input is not None:
        result = lint_text(sys.stdin.buffer.read(), standard_input, config, root, store(output))
    else:
        result = lint_paths(paths, config, root, jobs(output), store(output))
    unseen = {outcome.subject for outcome in result.outcomes if outcome.subject is not None}
    unread = () if config_file else unread_settings([*paths, *([standard_input] if standard_input else [])], root)
    reason = None
    if not result.files and not unseen:
        reason = "no Python file"
    elif len(unseen) >= result.files and all(finding.path in unseen for finding in result.findings):
        reason = "no file could be analysed"
    report = Report(
        command="check",
        version=__version__,
        findings=result.findings,
        outcomes=(Outcome("lint", Status.SKIPPED if reason else Status.RAN, reason), *result.outcomes),
        files=result.files,
        seconds=time.monotonic() - started,
        notices=(*(notices or ("no merge was checked: only paths were given",)), *unread),
    )
    if standard_input is None and any(given.partition("=")[0] in WITH_EDITS for given in output.formats):
        from guard.commands.suggesting import suggesting_in_files

        report = suggesting_in_files(report, config, root, output)
    folders = [_shown(path, root) for path in paths]
    return finish(report, output, covered_by(report, lambda path: any(_is_in(path, folder) for folder in folders)))


def _shown(path: str, root: Path) -> str:
    """The path as findings show it: relative to the root, `.` for the root itself."""
    full = Path(path).resolve()
    return full.relative_to(root.resolve()).as_posix() if full.is_relative_to(root.resolve()) else full.as_posix()


def _is_in(path: str, folder: str) -> bool:
    return folder in (".", path) or path.startswith(f"{folder}/")


def configured(output: OutputOptions, config: Config, root: Path | None) -> OutputOptions:
    """The options with the gaps filled from the configuration."""
    named = config.baseline if root is None or config.baseline is None else str(root / config.baseline)
    return dataclasses.replace(
        output,
        select=output.select or config.select,
        ignore=(*output.ignore, *config.ignore),
        fail_on=output.fail_on or config.fail_on,
        persona=output.persona or config.persona,
        docs_url=config.docs_url,
        per_file_ignores=(*output.per_file_ignores, *config.per_file_ignores),
        baseline=output.baseline or (Path(named) if named else None),
    )


def jobs(output: OutputOptions) -> int:
    """How many processes to use."""
    return output.jobs or os.cpu_count() or 1


def store(output: OutputOptions) -> FactStore:
    """The cache, or nothing with `--no-cache`."""
    return DiskStore(tell=complain) if output.cache else NullStore()


def _is_repository_expected() -> bool:
    """Whether there is a repository that git cannot open: git is missing, too old, or distrusts the owner."""
    if "GIT_DIR" in os.environ:
        return True
    here = Path.cwd()
    return any((folder / ".git").exists() or (folder / "HEAD").is_file() for folder in (here, *here.parents))


def _root() -> Path:
    """The nearest folder above that holds a repository or a configuration; the working directory without one.

    No git is started for this: a hook on one file has no time for it.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".git").exists() or (folder / "guard.toml").exists():
            return folder
    return here


def _config_of(root: Path) -> Config:
    from guard.config import load

    return load(root)
