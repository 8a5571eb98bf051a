"""`guard accept`: remember findings that a person has judged and accepted, with the reason."""

from __future__ import annotations

import datetime
import re
import sys
from pathlib import Path

import click

from guard.commands.replace_file import replace_file
from guard.commands.say import say
from guard.config import load
from guard.errors import GuardError, NothingCheckedError
from guard.report.plain import one_line, plural
from guard.store import baseline
from guard.store.seen import Seen, recall, root_of

DEFAULT_FILE = "guard-baseline.txt"
_MARK = re.compile(r"[0-9a-f]{8,16}")


@click.command("accept")
@click.argument("fingerprints", nargs=-1, metavar="FINGERPRINT...")
@click.option("--all", "everything", is_flag=True, help="Every finding that the last check showed and that stands.")
@click.option("--reason", help="Why it is accepted; the next reader judges by this.")
@click.option(
    "--expires", metavar="YYYY-MM-DD", type=click.DateTime(["%Y-%m-%d"]), help="Last day on which it is accepted."
)
@click.option("--baseline", "file", type=click.Path(path_type=Path), help=f"The file. Default: {DEFAULT_FILE}.")
@click.option(
    "--prune", is_flag=True, help="Take out what ran out, what the last check called stale, and FINGERPRINTs."
)
def accept(
    fingerprints: tuple[str, ...],
    everything: bool,
    reason: str | None,
    expires: datetime.datetime | None,
    file: Path | None,
    prune: bool,
) -> int:
    """Remember accepted findings, by fingerprint, as `guard check` printed them; `-` reads them from standard input.

    A commit can do the same for its own sync with a trailer: "Guard-Accept: FINGERPRINT reason".
    """
    root = root_of(Path.cwd())
    config = load(root)
    fingerprints = _read(fingerprints)
    file = file or root / (config.baseline or DEFAULT_FILE)
    known = baseline.read(file) if file.exists() else ()
    today = datetime.datetime.now(datetime.UTC).date()
    if prune:
        if reason or expires or everything:
            raise GuardError("--prune takes entries out; --reason and --expires belong to new ones")
        stale = {seen.subject for seen in recall(root) if seen.code == baseline.STALE and seen.subject}
        marks = [_checked(mark) for mark in fingerprints]
        named = {entry.fingerprint for entry in known if any(entry.fingerprint.startswith(mark) for mark in marks)}
        return _prune(file, known, baseline.prune(known, stale | named, today))
    if everything and fingerprints:
        raise GuardError("--all accepts every finding of the last check: leave the fingerprints out")
    if not fingerprints and not everything:
        raise GuardError("which finding? Give its fingerprint, the 16 hex digits that guard check printed with it")
    if reason is None or not reason.strip():
        raise GuardError("--reason is required: an acceptance that nobody can judge later is a silenced check")
    day = expires.date() if expires else None
    if day is not None and day < today:
        raise GuardError(f"--expires {day} has passed")
    seen = recall(root)
    chosen = [one for one in seen if one.standing] if everything else [_find(mark, seen) for mark in fingerprints]
    if not chosen:
        raise NothingCheckedError("no finding stands in what guard check last showed here: there is nothing to accept")
    new = [_entry(one, reason, day) for one in chosen]
    replace_file(file, baseline.format_entries(baseline.add(known, new)))
    for entry in new:
        say(f"accepted {entry.fingerprint} {entry.code} {one_line(entry.path)}")
    if config.baseline is None:
        say(f'wrote {file}; set baseline = "{file.name}" in [tool.guard], or give --baseline {file.name}')
    else:
        say(f"wrote {file}")
    return 0


def _read(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, with what standard input holds in the place of `-`."""
    if "-" not in words:
        return words
    lines = sys.stdin.read().splitlines()
    given = [word for line in lines for word in line.partition("#")[0].split()]
    return (*(word for word in words if word != "-"), *given)


def _checked(mark: str) -> str:
    if not _MARK.fullmatch(mark):
        raise GuardError(f"{mark!r} is no fingerprint: it has 16 hex digits, of which at least 8 are needed")
    return mark


def _find(mark: str, seen: list[Seen]) -> Seen:
    """The one finding that was shown with this fingerprint.

    Raises:
        GuardError: none, or several.
    """
    _checked(mark)
    found = [one for one in seen if one.fingerprint.startswith(mark)]
    if not found:
        raise GuardError(
            f"no finding {mark} was shown in this repository: run guard check first (and without --no-cache)"
        )
    if len(found) > 1:
        raise GuardError(f"{mark} may be any of {', '.join(one.fingerprint for one in found)}: give more digits")
    return found[0]


def _entry(seen: Seen, reason: str, expires: datetime.date | None) -> baseline.Entry:
    merge = seen.merge[:12] if seen.merge else None
    return baseline.Entry(seen.path, seen.code, seen.fingerprint, reason, expires, merge)


def _prune(file: Path, known: tuple[baseline.Entry, ...], kept: tuple[baseline.Entry, ...]) -> int:
    if not file.exists():
        raise GuardError(f"{file} is not there: there is nothing to prune")
    replace_file(file, baseline.format_entries(kept))
    say(f"took {plural(len(known) - len(kept), 'entry', 'entries')} out of {file}")
    return 0
