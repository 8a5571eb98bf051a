"""What all verbs share at their edge: the common options, writing the report in its formats, and the exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import click

from guard.codes import CODES
from guard.commands.replace_file import replace_file
from guard.commands.say import say
from guard.config import FileIgnores
from guard.errors import ConfigError, GuardError
from guard.globs import path_matches
from guard.model import Finding, Report, Severity, Status
from guard.report import FORMATS, PERSONAS, View, render
from guard.store import baseline
from guard.store.seen import remember, root_of

CLEAN, FOUND, COULD_NOT_RUN, NOTHING_CHECKED = 0, 1, 2, 3
"""The exit codes (DESIGN §2)."""

WITH_EDITS = frozenset({"sarif", "rdjson", "html"})
"""Formats that can show what to change."""

DISTRIBUTION = "merge-regression-guard"
UNCUT = 1_000_000
"""Columns of what is no terminal: whatever reads it (grep, a log, a file) gets whole lines."""

_FAMILY = re.compile(r"GRD([1-69]\d?|5\d\d)?")
_Command = TypeVar("_Command", bound=Callable[..., Any])
Covered = Callable[[baseline.Entry], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class OutputOptions:
    """The common options as given; None or empty where the configuration may decide.

    Attributes:
        formats: each `FORMAT` or `FORMAT=FILE`.
        select: code prefixes or names to keep; empty means all.
        ignore: code prefixes or names to leave out.
        fail_on: least severity that fails the run, `never`, or None for the configured one.
        baseline: file of accepted findings, or None for the configured one.
        jobs: worker processes, or None for as many as there are cores.
        quiet: no progress, no hints and no notices; what was not checked is said all the same.
    """

    formats: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    baseline: Path | None = None
    persona: str | None = None
    color: str = "auto"
    verbose: int = 0
    timings: bool = False
    jobs: int | None = None
    cache: bool = True
    quiet: bool = False
    patches: bool = True
    docs_url: str | None = None
    per_file_ignores: tuple[FileIgnores, ...] = ()

    def view(self, link_base: str | None = None) -> View:
        """How this terminal and this reader want the report."""
        return View(
            color=wants_color(self.color),
            width=shutil.get_terminal_size().columns if sys.stdout.isatty() else UNCUT,
            persona=self.persona or PERSONAS[0],
            verbose=self.verbose,
            quiet=self.quiet,
            timings=self.timings,
            link_base=web_address(os.environ) or link_base,
            docs_base=documents_address(os.environ, self.docs_url),
        )


def output_options(command: _Command) -> _Command:
    """Add the common options to a click command; it gets them as one argument `output: OutputOptions`."""

    @functools.wraps(command)
    def with_output(**given: Any) -> Any:
        names = [field.name for field in dataclasses.fields(OutputOptions) if field.name != "docs_url"]
        values = {name: given.pop(name) for name in names}
        values["select"] = _split(values["select"])
        values["ignore"] = _split(values["ignore"])
        values["per_file_ignores"] = tuple(map(_file_ignores, values["per_file_ignores"]))
        return command(output=OutputOptions(**values), **given)

    options: tuple[Callable[[Any], Any], ...] = (
        click.option(
            "--output-format",
            "-o",
            "formats",
            multiple=True,
            metavar="FORMAT[=FILE]",
            shell_complete=_complete_format,
            help=f"Write the report as {', '.join(FORMATS)}; repeat it as FORMAT=FILE for several. Default: text.",
        ),
        click.option(
            "--select",
            multiple=True,
            shell_complete=_complete_code,
            metavar="CODE",
            help="Only these codes, prefixes or names.",
        ),
        click.option(
            "--ignore",
            multiple=True,
            shell_complete=_complete_code,
            metavar="CODE",
            help="Not these codes, prefixes or names.",
        ),
        click.option(
            "--per-file-ignores",
            multiple=True,
            metavar="PATTERN:CODE[,CODE]",
            help="Not these codes, prefixes or names in files that match, as in .gitignore.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice([*(severity.value for severity in Severity), "never"]),
            help="Least severity that makes the exit code 1. Default: error.",
        ),
        click.option("--baseline", type=click.Path(path_type=Path), help="File of accepted findings."),
        click.option("--persona", type=click.Choice(PERSONAS), help="How much the text shows."),
        click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours."),
        click.option("--verbose", "-v", count=True, help="Every group and place; twice: notes and all four trees too."),
        click.option("--quiet", "-q", is_flag=True, help="Findings, counts and what was not checked; nothing else."),
        click.option(
            "--patches/--no-patches",
            default=True,
            help="HTML, SARIF and RDJSON: work out the patch of each loss, the worst 30. Takes seconds each.",
        ),
        click.option("--timings", is_flag=True, help="Show the seconds of each check."),
        click.option("--jobs", type=click.IntRange(min=1), help="Worker processes. Default: the number of cores."),
        click.option("--cache/--no-cache", default=True, help="Remember parsed files between runs."),
    )
    decorated: Any = with_output
    for option in reversed(options):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _complete_format(_context: click.Context, _option: click.Parameter, start: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(start)]


def _complete_code(_context: click.Context, _option: click.Parameter, start: str) -> list[str]:
    names = (choice for code, (name, _) in CODES.items() for choice in (code, name))
    return [choice for choice in names if choice.startswith(start)]


def finish(report: Report, options: OutputOptions, covered: Covered | None = None, link_base: str | None = None) -> int:
    """Narrow the report to what was asked, mark accepted findings, write it and return the exit code.

    Args:
        report: the facts of the run.
        options: the common options, with the configuration already filled in.
        covered: whether an entry of the baseline would have been seen if it still held; None reports none as stale.
        link_base: web address of the repository for links.

    Raises:
        GuardError: a selector, format or file is wrong.
    """
    if options.baseline is not None and options.baseline.exists():
        entries = baseline.read(options.baseline)
        report = baseline.apply(report, entries, str(options.baseline), covered)
    elif options.baseline is not None:
        # Nothing is accepted then, so that a mistyped name cannot hide a finding.
        report = dataclasses.replace(report, notices=(*report.notices, _no_baseline(options.baseline)))
    if not report.rules and _asks_for_rules(options):
        from guard.commands.rulebook import rule_help

        report = dataclasses.replace(report, rules=rule_help(root_of(Path.cwd())))
    shown = narrow(report, options.select, options.ignore, options.per_file_ignores)
    if options.cache and report.findings:
        remember(root_of(Path.cwd()), report, {finding.fingerprint for finding in shown.findings})
    report = shown
    emit(report, options.formats, options.view(link_base), quiet=options.quiet)
    return exit_code(report, options.fail_on)


def _no_baseline(file: Path) -> str:
    return f"the baseline {file} is not there yet, so nothing is accepted; guard accept --all --reason 'why' makes it"


def _asks_for_rules(options: OutputOptions) -> bool:
    """Whether the run needs the rules' help or names: a hook on one file must not wait for all of them."""
    if any(given.partition("=")[0] in {"sarif", "html"} for given in options.formats):
        return True
    apart = (code for entry in options.per_file_ignores for code in entry.ignore)
    return any(not selector.startswith("GRD") for selector in (*options.select, *options.ignore, *apart))


def emit(report: Report, formats: Sequence[str], view: View, *, quiet: bool = False) -> None:
    """Write the report in every format, to its file or to standard output; text where none is given.

    Files are replaced whole or not at all. Colours go to standard output only.

    Raises:
        GuardError: an unknown format, two formats for standard output, or a file that cannot be written.
    """
    targets = [_target(given) for given in formats] or [("text", None)]
    if sum(1 for _, file in targets if file is None) > 1:
        raise GuardError("only one report format can go to standard output: give the others as FORMAT=FILE")
    for name, file in targets:
        if file is None:
            _print(render(report, name, view))
            continue
        replace_file(file, render(report, name, dataclasses.replace(view, color=False)))
        if not quiet:
            say(f"wrote {file} ({name}, {len(report.findings)} findings)", err=True)


def exit_code(report: Report, fail_on: Severity | str | None) -> int:
    """The exit code of a run that came to its end.

    Args:
        report: the facts.
        fail_on: least severity that fails; None means error, `never` none.

    Returns:
        2 if a check failed (silence of the others proves nothing), else 1 if a standing finding is at or above
        `fail_on`, else 3 if no check ran, else 0.
    """
    statuses = {outcome.status for outcome in report.outcomes}
    if Status.FAILED in statuses:
        return COULD_NOT_RUN
    if fail_on != "never":
        least = Severity(fail_on or Severity.ERROR).rank
        if any(finding.severity.rank <= least and finding.accepted is None for finding in report.findings):
            return FOUND
    return CLEAN if Status.RAN in statuses else NOTHING_CHECKED


def matches(finding: Finding, selectors: Sequence[str]) -> bool:
    """Whether one of the selectors is a prefix of the finding's code or is its name."""
    return any(finding.code.startswith(selector) or finding.name == selector for selector in selectors)


def narrow(
    report: Report, select: Sequence[str], ignore: Sequence[str], per_file: Sequence[FileIgnores] = ()
) -> Report:
    """The report with the selected findings only.

    Raises:
        ConfigError: a selector names no code; taking it as "nothing" would silence a check by a typing error.
    """
    known = set(CODES) | {rule.code for rule in report.rules} | {finding.code for finding in report.findings}
    names = {name for name, _ in CODES.values()} | {rule.name for rule in report.rules}
    names |= {finding.name for finding in report.findings}
    for selector in (*select, *ignore, *(code for entry in per_file for code in entry.ignore)):
        # A family may have no member in this run, nor a repository any pin; of the others every code is known.
        family = _FAMILY.fullmatch(selector) is not None
        if not family and selector not in names and not any(code.startswith(selector) for code in known):
            raise ConfigError(f"no code or rule is called {selector!r}: `guard rules` lists them")
    if not select and not ignore and not per_file:
        return report
    kept = tuple(
        finding
        for finding in report.findings
        if (not select or matches(finding, select))
        and not (ignore and matches(finding, ignore))
        and not any(matches(finding, entry.ignore) and path_matches(finding.path, entry.paths) for entry in per_file)
    )
    return dataclasses.replace(report, findings=kept)


def wants_color(choice: str) -> bool:
    """Whether standard output gets colours: the option, else NO_COLOR, FORCE_COLOR, else whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def web_address(environ: Any) -> str | None:
    """Web address of the repository that a GitHub or GitLab job works on, from the job's variables."""
    server, name = environ.get("GITHUB_SERVER_URL"), environ.get("GITHUB_REPOSITORY")
    if server and name:
        return f"{server.rstrip('/')}/{name}"
    project: str | None = environ.get("CI_PROJECT_URL")
    return f"{project}/-" if project else None


def documents_address(environ: Any, configured: str | None) -> str | None:
    """Web address of guard's own documents: the setting `docs-url`, else where the installed guard came from."""
    if configured:
        return configured
    action = environ.get("GITHUB_ACTION_REPOSITORY")  # set while guard's own Action runs
    if action and action.rpartition("/")[2] == DISTRIBUTION:
        server = environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{action}/blob/{environ.get('GITHUB_ACTION_REF') or 'HEAD'}/docs"
    return documents_of_install(_install_record())


def documents_of_install(record: str | None) -> str | None:
    """The same from pip's record of a direct installation (PEP 610), which holds the repository and the commit."""
    try:
        origin = json.loads(record or "{}")
        address = str(origin["url"])
        if address.startswith("file://"):
            return f"{address.rstrip('/')}/docs"  # a checkout: its documents lie beside the code
        commit = str(origin["vcs_info"]["commit_id"])
    except (ValueError, KeyError, TypeError):
        return None
    if not address.startswith("https://"):
        return None
    return f"{address.removesuffix('.git').rstrip('/')}/blob/{commit}/docs"


def _install_record() -> str | None:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
    return None


def _split(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.strip() for text in given for part in text.split(",") if part.strip())


def _file_ignores(given: str) -> FileIgnores:
    pattern, colon, codes = given.rpartition(":")
    if not colon or not pattern or not _split((codes,)):
        raise GuardError(f"--per-file-ignores {given}: give it as PATTERN:CODE, as in 'tests/**:GRD101,GRD2'")
    return FileIgnores((pattern,), _split((codes,)))


def _target(given: str) -> tuple[str, Path | None]:
    name, separator, file = given.partition("=")
    if name not in FORMATS:
        raise GuardError(f"there is no report format {name!r}: choose from {', '.join(FORMATS)}")
    if separator and not file:
        raise GuardError(f"--output-format {given}: the file name is missing")
    return name, Path(file) if separator and file not in {"-", "/dev/stdout"} else None


def _print(text: str) -> None:
    """Write bytes, so that a terminal with another encoding cannot stop the run."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has seen enough; what would fail next is the flush at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
