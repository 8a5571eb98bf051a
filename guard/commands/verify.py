"""`guard verify`: run the gradient invariances against a tree. The only verb that runs the analysed code."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import click

from guard import __version__
from guard.commands.check import configured
from guard.commands.output import CLEAN, NOTHING_CHECKED, OutputOptions, finish, output_options
from guard.commands.progress import Progress, progress
from guard.commands.related import with_lint, with_report
from guard.commands.settings import load_config
from guard.errors import GuardError
from guard.invariance.case import Case, Cut
from guard.invariance.measuring import selected
from guard.invariance.selection import SelectionError, compile_expression
from guard.invariance.selftest import run as run_self_test
from guard.invariance.session import Request, records
from guard.invariance.tree import open_tree
from guard.invariance.verdict import CHECK, Verdict, beside, judge
from guard.lint.ruleset import RuleSet, load_rules
from guard.model import Finding, Outcome, Report, Status
from guard.report.plain import plural


@click.command("verify")
@click.option(
    "--tree", "tree", default=".", metavar="REV|DIR", help="Tree to measure; `installed` is the package of --python."
)
@click.option("--against", metavar="REV|DIR", help="A second tree, shown beside the first; what is new comes first.")
@click.option("--fail-on-new", is_flag=True, help="With --against: what both trees show alike is a warning, no error.")
@click.option(
    "--python",
    metavar="EXE",
    envvar="GUARD_VERIFY_PYTHON",
    help="Interpreter that has torch. Default: guard's own if it has it, else python3 of the path.",
)
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help="Where ranks run. Default: auto."
)
@click.option(
    "--ranks", type=click.IntRange(min=1), help="Most ranks a cut may use. Default: 4, or the number of GPUs."
)
@click.option(
    "--suite", type=click.Choice(["essential", "full"]), default="essential", help="How many cases. Default: essential."
)
@click.option("-k", "expression", default="", metavar="EXPR", help="Only matching cases: words with and, or, not.")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=60.0, help="Seconds one run of ranks may take. Default: 60."
)
@click.option("--pool", is_flag=True, hidden=True, help="Persistent ranks on the CPU too, as on GPUs.")
@click.option(
    "--report",
    "check_report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON report of guard check: its findings on the same definitions are named beside ours.",
)
@click.option(
    "--records",
    "recorded",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Measure nothing: report what torchrun's worker wrote to its --output for this --tree.",
)
@click.option("--self-test", is_flag=True, help="Edit a copy of the tree in known ways and see that the suite notices.")
@click.option("--list", "listed", is_flag=True, help="List the chosen cases, tiers, cuts and tolerances; run nothing.")
@output_options
def verify(
    tree: str,
    against: str | None,
    fail_on_new: bool,
    python: str | None,
    device: str,
    ranks: int | None,
    suite: str,
    expression: str,
    timeout: float,
    pool: bool,
    check_report: Path | None,
    recorded: Path | None,
    self_test: bool,
    listed: bool,
    output: OutputOptions,
) -> int:
    """Prove on a tree that gradients do not depend on how a batch is cut.

    This runs the code of the tree, in processes of the interpreter given by --python.
    """
    started = time.monotonic()
    try:
        compile_expression(expression or "all")
    except SelectionError as error:
        raise GuardError(f"-k: {error}") from error
    if listed:
        return _list(suite, expression, ranks or 0)
    if fail_on_new and not against:
        raise GuardError("--fail-on-new compares with another tree: give --against REV|DIR as well")
    output = configured(output, load_config(None), Path.cwd())
    if not self_test and not selected(suite, expression, ranks=ranks or 0):
        return finish(_nothing(suite, expression), output)
    request = Request(interpreter(python), device, ranks, suite, expression, timeout, pool=pool)
    with _interruptible():
        if self_test:
            report = _self_test(tree, request)
        else:
            rules = load_rules()  # a rule that does not load is said now, not after minutes of measuring
            with progress(output.quiet) as tell:
                verdict = (
                    from_records(tree, request, rules, recorded) if recorded else measure(tree, request, rules, tell)
                )
                other = measure(against, request, rules, tell) if against else None
            findings = with_report(verdict.findings, check_report) if check_report else verdict.findings
            if other:
                findings = beside(findings, verdict, other, fail_on_new)
            report = _report([verdict, *([other] if other else [])], findings)
    report = dataclasses.replace(report, seconds=time.monotonic() - started)
    unproven = [row for row in report.invariance if row.tree == tree and row.status == "skipped"]
    if not unproven:
        return finish(report, output)
    said = f"not proven: {plural(len(unproven), 'measurement')} of {len(report.invariance)} could not be made"
    code = finish(dataclasses.replace(report, notices=(*report.notices, said)), output)
    return NOTHING_CHECKED if code == CLEAN else code


def _nothing(suite: str, expression: str) -> Report:
    """The report of a choice that leaves no case, with where there would be some."""
    reason = f"no case of the {suite} suite is selected by -k {expression!r}"
    if suite != "full" and (others := selected("full", expression)):
        reason += f"; --suite full has {plural(len(others), 'measurement')} of that name"
    return Report(command="verify", version=__version__, outcomes=(Outcome(CHECK, Status.SKIPPED, reason),))


def _list(suite: str, expression: str, ranks: int) -> int:
    """Print the cases that would be measured."""
    chosen: dict[str, tuple[Case, list[Cut]]] = {}
    for case, cut in selected(suite, expression, ranks=ranks):
        chosen.setdefault(case.name, (case, []))[1].append(cut)
    for case, cuts in chosen.values():
        click.echo(f"{case.code} {case.name} ({case.tier.value}): {case.claim}")
        click.echo(f"    cuts: {', '.join(cut.label() for cut in cuts)}")
        click.echo(f"    within {case.tolerance:g}: {case.tolerance_reason}")
    return CLEAN if chosen else NOTHING_CHECKED


def _report(verdicts: list[Verdict], findings: tuple[Finding, ...]) -> Report:
    return Report(
        command="verify",
        version=__version__,
        findings=findings,
        outcomes=tuple(outcome for each in verdicts for outcome in each.outcomes),
        invariance=tuple(row for each in verdicts for row in each.rows),
        notices=tuple(each.notice for each in verdicts if each.notice),
    )


def _self_test(tree: str, request: Request) -> Report:
    """Try known fixes and known damage on a copy of the tree; what is not noticed is a failed check."""
    outcomes, notices = [], []
    with tempfile.TemporaryDirectory(prefix="guard-verify-", ignore_cleanup_errors=True) as folder:
        found = open_tree(tree, Path(folder), request.python)
        scratch = Path(folder) / "ranks"
        scratch.mkdir()
        for turn in run_self_test(found.folder, scratch, request):
            name, where = turn.mutation.name, f"{turn.mutation.case} {turn.mutation.cut}"
            said = f"{where}: {turn.before} -> {turn.after}"
            if turn.noticed is None:
                outcomes.append(Outcome("self-test", Status.SKIPPED, turn.reason, 0.0, name))
            elif turn.noticed:
                notices.append(f"noticed: {name} ({said})")
            else:
                outcomes.append(Outcome("self-test", Status.FAILED, f"not noticed by {said}", 0.0, name))
    if notices:
        outcomes.append(Outcome("self-test", Status.RAN))
    return Report(command="verify", version=__version__, outcomes=tuple(outcomes), notices=tuple(notices))


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let a termination signal unwind like Ctrl-C, so that no process and no folder stays."""
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def interpreter(given: str | None) -> str:
    """The interpreter that measures.

    Raises:
        GuardError: there is none of that name.
    """
    here = sys.executable if importlib.util.find_spec("torch") else None
    found = shutil.which(given) if given else here or shutil.which("python3") or sys.executable
    if not found:
        raise GuardError(f"--python {given}: there is no such interpreter")
    return str(Path(found).absolute())


def _tell(tell: Progress, label: str, record: Mapping[str, Any]) -> None:
    """Progress: one line a measurement where nobody watches."""
    match record["type"]:
        case "start":
            tell.begin(record["cases"], "measurement")
        case "begin":
            tell(f"{label}: {record['case']}")
        case "case":
            tell.done(f"{record['case']} {Cut(**record['cut']).label()}: {record['status']}")


def measure(given: str, request: Request, rules: RuleSet, tell: Progress) -> Verdict:
    """Measure one tree, with everything temporary below one folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="guard-verify-", ignore_cleanup_errors=True) as folder:
        started = time.monotonic()
        found = open_tree(given, Path(folder), request.python)
        scratch = Path(folder) / "ranks"
        scratch.mkdir()
        taken = []
        for record in records(request, found.folder, scratch):
            taken.append(record)
            _tell(tell, found.label, record)
        verdict = judge(found, taken, time.monotonic() - started)
        return dataclasses.replace(verdict, findings=with_lint(verdict.findings, found, rules))


def from_records(given: str, request: Request, rules: RuleSet, file: Path) -> Verdict:
    """Judge what a worker under torchrun has written.

    Raises:
        GuardError: the file holds no records.
    """
    try:
        taken = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise GuardError(f"--records {file}: line is no JSON ({error})") from error
    if not any(isinstance(each, dict) and each.get("type") == "start" for each in taken):
        raise GuardError(f"--records {file} holds no records of a worker")
    if not any(each["type"] in {"end", "fatal"} for each in taken):
        taken.append({"type": "fatal", "reason": f"{file} has no end: the run stopped early, or still goes on"})
    with tempfile.TemporaryDirectory(prefix="guard-verify-", ignore_cleanup_errors=True) as folder:
        found = open_tree(given, Path(folder), request.python)
        verdict = judge(found, taken, sum(each.get("seconds", 0.0) for each in taken))
        return dataclasses.replace(verdict, findings=with_lint(verdict.findings, found, rules))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
