"""`guard contains`: which branch has which fix, by content and effect."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import click

from guard import __version__
from guard.checks.pins import Pins, broken_in_tree, load_pins
from guard.commands.check import configured, jobs
from guard.commands.output import FOUND, OutputOptions, finish, output_options
from guard.commands.progress import progress
from guard.commands.settings import load_config
from guard.commands.target import other_branches
from guard.errors import GitError, GuardError
from guard.git import Commit, Repository
from guard.lint.ruleset import RuleSet
from guard.model import Containment, Outcome, Report, Status, Verdict
from guard.parallel import in_processes
from guard.provenance.absent import LACKING, absent_fixes
from guard.provenance.blame import pull_request
from guard.provenance.containment import Branch, Contained, Ledger
from guard.provenance.landings import Landings, named, read_landings


class _SeveralBranches(click.Command):
    """Lets `--in` and `--missing` take the words that follow them, as `--in REV…` in the documentation."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--in` in front of each further revision."""
        told: list[str] = []
        inside = False
        for word in args:
            if word == "--in":
                inside = True
            elif word.startswith("-"):
                inside = False
                told.append(word)
            else:
                told += ["--in", word] if inside else [word]
        return super().parse_args(ctx, told)


@click.command("contains", cls=_SeveralBranches)
@click.argument("fixes", nargs=-1, metavar="FIX...")
@click.option("--in", "revisions", multiple=True, metavar="REV...", help="The branches to ask. Default: HEAD.")
@click.option("--missing", nargs=2, metavar="MAIN DEV", help="List the fixes that MAIN has and DEV lacks or has dead.")
@click.option("--since", metavar="DATE", help="With --missing: ask about all fixes of MAIN since then, merged or not.")
@click.option("--exit-code", is_flag=True, help="Exit 1 where a fix is not in effect in one of the branches.")
@click.option("--config", "config_file", metavar="FILE", help="Settings, instead of the repository's own.")
@output_options
def contains(
    fixes: tuple[str, ...],
    revisions: tuple[str, ...],
    missing: tuple[str, str] | None,
    since: str | None,
    exit_code: bool,
    config_file: str | None,
    output: OutputOptions,
) -> int:
    """Tell which branch has which fix, by content and effect, not by SHA.

    FIX is a commit, a pull request (`#5798`), or the name or id of a pin in `rules/pins`.
    """
    if bool(fixes) == bool(missing):
        raise GuardError("name the fixes to look for, or two branches: guard contains --missing MAIN DEV")
    if missing and revisions:
        raise GuardError("--missing names both branches; --in goes with FIX")
    started = time.monotonic()
    with Repository.open() as repository, progress(output.quiet) as tell:
        repository.require_history()
        config = load_config(repository, config_file)
        output = configured(output, config, repository.work_tree)
        if missing:
            rows, notices = _missing(repository, missing, since, jobs(output), tell)
        else:
            asked = revisions or ("HEAD",)
            tips = [repository.resolve(revision) for revision in asked]
            tell("reading the log")
            landings = read_landings(repository, [*tips, *other_branches(repository, config)])
            rows, notices = _table(repository, landings, fixes, asked, jobs(output), tell), ()
    report = Report(
        command="contains",
        version=__version__,
        contains=tuple(rows),
        outcomes=(Outcome("contains", Status.RAN, None, time.monotonic() - started),),
        seconds=time.monotonic() - started,
        notices=notices,
    )
    status = finish(report, output)
    lacking = any(row.status in LACKING for row in rows)
    return FOUND if status == 0 and exit_code and lacking else status


def _table(
    repository: Repository,
    landings: Landings,
    fixes: Sequence[str],
    revisions: Sequence[str],
    workers: int,
    tell: Callable[[str], None],
) -> list[Containment]:
    ledger = Ledger(repository, landings)
    pins = {text: pin for text in fixes if (pin := _pin(repository, text)) is not None}
    wanted = [[] if text in pins else _commits(repository, ledger, text) for text in fixes]
    tell(f"reading {len(wanted)} fixes")
    for commits in wanted:
        for commit in commits:
            ledger.fix(commit)
    branches = [ledger.branch(revision) for revision in dict.fromkeys(revisions)]
    tell(f"asking {len(branches)} branches")

    def ask(branch: Branch) -> list[Contained]:
        return [
            ledger.contains(commits, branch) if commits else _holds(pins[text], repository, branch)
            for text, commits in zip(fixes, wanted, strict=True)
        ]

    answers = in_processes(ask, branches, workers)
    return [
        containment(commits[0], answers[column][line], branch.name, ledger.fix(commits[0]).numeric)
        if commits
        else _pinned(pins[text], answers[column][line], branch.name)
        for line, (text, commits) in enumerate(zip(fixes, wanted, strict=True))
        for column, branch in enumerate(branches)
    ]


def _pin(repository: Repository, text: str) -> Pins | None:
    """The pin of the work tree that has this name or id."""
    pins = load_pins(repository.work_tree) if repository.work_tree is not None else None
    if pins is None:
        return None
    rules = [rule for rule in pins.rules if text in (rule.id, rule.name)]
    content = tuple(pin for pin in pins.content if text in (pin.id, pin.name))
    return Pins(RuleSet(tuple(rules), text), content) if rules or content else None


def _holds(pin: Pins, repository: Repository, branch: Branch) -> Contained:
    """Whether a pin holds in a branch: broken is missing, and without its place it was never there."""
    findings, outcomes = broken_in_tree(pin, repository, branch.entries)
    broken = [finding for finding in findings if finding.verdict is not Verdict.LOST]
    if broken:
        return Contained("missing", (broken[0].path, broken[0].line), symbol=broken[0].symbol)
    if findings or outcomes:
        return Contained("not-merged", None)
    places = [path for rule in pin.rules for clause in rule.match if clause.in_ for path in clause.in_.path]
    places += [pinned.path for one in pin.content for pinned in one.definitions]
    return Contained("present", (places[0], 1) if places else None, share=1.0)


def _pinned(pin: Pins, answer: Contained, revision: str) -> Containment:
    one = (*pin.rules, *pin.content)[0]
    place = f"{answer.place[0]}:{answer.place[1]}" if answer.place else None
    number = one.origin[0] if one.origin else None
    return Containment(one.name, number, revision, answer.status, place, None, one.summary, one.numeric)


def _commits(repository: Repository, ledger: Ledger, text: str) -> list[Commit]:
    """The commits that a FIX means; a pull request that the branches do not name is looked for on all branches."""
    try:
        return named(repository, ledger.landings, text)
    except GitError:
        if not text.startswith("#"):
            raise
    heads = repository.git_here("for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes").decode().split()
    for commit in repository.commits(list(dict.fromkeys(heads))):
        ledger.landings.add(commit)
    return named(repository, ledger.landings, text)


def _missing(
    repository: Repository,
    pair: tuple[str, str],
    since: str | None,
    workers: int,
    tell: Callable[[str], None],
) -> tuple[list[Containment], tuple[str, ...]]:
    tips = [repository.resolve(revision) for revision in pair]
    tell("reading the log")
    ledger = Ledger(repository, read_landings(repository, tips))
    having, lacking = (ledger.branch(revision) for revision in pair)
    found = absent_fixes(ledger, having, lacking, since, workers, tell)
    rows = [
        containment(item.commit, item.answer, lacking.name, item.numeric, item.answer.by or item.brought_by)
        for item in found
    ]
    numeric = sum(item.numeric for item in found)
    about = f"since {since}" if since else "that it has not merged"
    return rows, (f"{len(rows)} fixes of {having.name} {about} are not in effect in {lacking.name}, {numeric} numeric",)


def containment(commit: Commit, answer: Contained, revision: str, numeric: bool, by: str | None = None) -> Containment:
    """One answer as a row of the report."""
    place = f"{answer.place[0]}:{answer.place[1]}" if answer.place else None
    return Containment(
        commit.sha,
        pull_request(commit.message),
        revision,
        answer.status,
        place,
        by or answer.by,
        commit.subject,
        numeric,
    )
