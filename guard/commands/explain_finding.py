"""The half of `guard explain` that speaks of findings: judge the range again and show all the evidence of one."""

from __future__ import annotations

import shlex

import click

from guard import __version__
from guard.codes import CODES
from guard.commands.judgement import RunSettings
from guard.commands.looking_up import Found, look_up, selection_of
from guard.commands.output import OutputOptions, emit
from guard.commands.progress import progress
from guard.commands.range_options import RangeOptions
from guard.commands.settings import load_config
from guard.git import Repository
from guard.model import Report
from guard.report import safe_lines
from guard.report.finding_page import Standing, finding_page
from guard.report.next_steps import accept_command, restorable
from guard.report.paint import Paint

_MOST_TESTS = 20


def explain_finding(key: str, chosen: RangeOptions, config_file: str | None, output: OutputOptions) -> int:
    """Show one finding.

    Arguments:
        key: its fingerprint, or a unique prefix of six digits or more.

    Raises:
        GuardError: no finding of the range has it, or several have.
    """
    from guard.commands.check import jobs, store

    with Repository.open() as repository:
        config = load_config(repository, config_file)
        selection = selection_of(repository, chosen, config, (key,))
        with progress(output.quiet) as tell:
            settings = RunSettings(select=(), jobs=jobs(output), store=store(output), progress=tell)
            (found,) = look_up(repository, selection, config, [key], settings)
        if output.formats and any(given.partition("=")[0] != "text" for given in output.formats):
            report = Report(command="explain", version=__version__, findings=(found.finding,))
            emit(report, output.formats, output.view())
            return 0
        standing = _standing(repository, found, chosen.words() or selection.exact.words())
    view = output.view()
    page = finding_page(found.finding, standing, Paint(view.color), view.width)
    click.echo(safe_lines(page, view.color), nl=False, color=view.color)
    return 0


def _standing(repository: Repository, found: Found, words: tuple[str, ...]) -> Standing:
    finding, sync = found.finding, found.sync
    meaning = CODES[finding.code][1] if finding.code in CODES else ""
    options = shlex.join(words)
    accept = accept_command(finding)
    if sync is None:
        return Standing(meaning, accept=accept)
    files = repository.entries(sync.checked)
    tests = list(dict.fromkeys(path for origin in finding.origins for path in origin.tests))[:_MOST_TESTS]
    restore = f"guard restore {finding.fingerprint} {options}".rstrip() + "  (prints a patch; --apply writes it)"
    return Standing(
        meaning,
        f"{sync.merge[:10]} {sync.subject}",
        (("base", sync.bases[0]), ("ours", sync.ours), ("theirs", sync.theirs), ("merged", sync.checked)),
        tuple((path, path in files) for path in tests),
        restore if restorable(finding) else None,
        accept,
    )
