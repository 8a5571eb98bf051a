"""The file of accepted findings: one sorted line each, with the reason and, if given, the day it runs out.

A line reads `FINGERPRINT CODE PATH [merge=SHA] [expires=YYYY-MM-DD] # reason`, so that a diff of the file shows one
decision a line and two branches that each accept something merge without a conflict in meaning.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from guard.codes import CODES
from guard.config import read_regular
from guard.errors import ConfigError
from guard.model import Finding, Report, Severity, Status, fingerprint

HEADER = "# Findings of guard that were accepted: fingerprint code path [merge=sha] [expires=date] # reason\n"
STALE = "GRD903"
_LINE = re.compile(
    r"(?P<mark>[0-9a-f]{16}) (?P<code>GRD\d{3}) (?P<path>\S+)"
    r"(?: merge=(?P<merge>[0-9a-f]{7,64}))?(?: expires=(?P<day>\S+))? # (?P<why>.+)"
)
_TRAILER = re.compile(r"^Guard-Accept:[ \t]*(?P<mark>[0-9a-f]{8,16})(?:[ \t]+(?P<why>\S.*))?$", re.MULTILINE | re.I)


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One accepted finding.

    Attributes:
        path, code, fingerprint: of the finding.
        reason: why it is accepted.
        expires: last day on which it counts.
        merge: the sync that it was found in; only a run that judges this sync can tell that it is stale.
        line: where it stands in the file; 0 for a new one.
    """

    path: str
    code: str
    fingerprint: str
    reason: str
    expires: datetime.date | None = None
    merge: str | None = None
    line: int = dataclasses.field(default=0, compare=False)


def read(file: Path) -> tuple[Entry, ...]:
    """The entries of a baseline file.

    Raises:
        ConfigError: the file is missing (a missing baseline must not look like an empty one) or a line is wrong.
    """
    try:
        text = read_regular(file).decode("utf-8")
    except OSError as error:
        raise ConfigError(
            f"{file}: the baseline cannot be read ({error.strerror}); `guard accept` makes it, or leave --baseline out"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: the baseline is not UTF-8") from error
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            entries.append(_parse(line, f"{file}:{number}", number))
    return tuple(entries)


def _parse(line: str, place: str, number: int) -> Entry:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ConfigError(f"{place}: expected `fingerprint code path [merge=SHA] [expires=YYYY-MM-DD] # reason`")
    expires = None
    if match["day"]:
        try:
            expires = datetime.date.fromisoformat(match["day"])
        except ValueError as error:
            raise ConfigError(f"{place}: {match['day']!r} is no date of the form YYYY-MM-DD") from error
    return Entry(unquote(match["path"]), match["code"], match["mark"], match["why"], expires, match["merge"], number)


def format_entries(entries: Iterable[Entry]) -> str:
    """The text of a baseline file: sorted by path, code and fingerprint, one line an entry, the last one of a kind."""
    unique = {entry.fingerprint: entry for entry in entries}
    lines = []
    for entry in sorted(unique.values(), key=lambda entry: (entry.path, entry.code, entry.fingerprint)):
        day = f" merge={entry.merge}" if entry.merge else ""
        day += f" expires={entry.expires.isoformat()}" if entry.expires else ""
        # Spaces, percent and control characters are quoted; other letters stay readable.
        path = "".join(char if char.isprintable() and char not in " %#" else quote(char) for char in entry.path)
        lines.append(f"{entry.fingerprint} {entry.code} {path}{day} # {' '.join(entry.reason.split())}\n")
    return HEADER + "".join(lines)


def covered_by(report: Report, linted: Callable[[str], bool] | None = None) -> Callable[[Entry], bool]:
    """Tell which entries a run would have found again, so that those it did not find are stale.

    Args:
        report: the facts of the run, before anything was selected from it.
        linted: whether the run linted a path, whole; None if it did not lint whole files.

    Returns:
        A function of an entry: a finding of a sync is covered if that sync was judged and no check was skipped or
        failed as a whole; a lint finding if its file was linted.
    """
    judged = [merge.merged for merge in report.merges]
    whole = all(outcome.status is Status.RAN for outcome in report.outcomes if outcome.subject is None)

    def covered(entry: Entry) -> bool:
        if entry.merge is not None:
            return whole and any(sha.startswith(entry.merge) for sha in judged)
        return entry.code.startswith(("GRD1", "GRD5", "GRD9")) and linted is not None and linted(entry.path)

    return covered


def add(entries: Sequence[Entry], new: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries with the new ones, which replace older ones of the same fingerprint."""
    return tuple({entry.fingerprint: entry for entry in (*entries, *new)}.values())


def prune(entries: Sequence[Entry], gone: Collection[str], today: datetime.date) -> tuple[Entry, ...]:
    """The entries that have not run out and whose fingerprint is not in `gone`. Never more than were given."""
    return tuple(entry for entry in entries if entry.fingerprint not in gone and not _is_over(entry, today))


def apply(
    report: Report,
    entries: Sequence[Entry],
    file: str,
    covered: Callable[[Entry], bool] | None = None,
    today: datetime.date | None = None,
) -> Report:
    """Mark the findings that an entry accepts, and report the entries that no longer hold.

    Args:
        report: the facts of a run.
        entries: the baseline.
        file: its path as the user knows it, for findings about it.
        covered: whether this run would have seen the entry's finding; None reports only entries that ran out.
        today: the day that expiry is compared with; None is today in UTC.

    Returns:
        The report with `accepted` set to the reason, and a GRD903 note for each stale entry: run out, or covered by
        this run and gone.
    """
    today = today or datetime.datetime.now(datetime.UTC).date()
    valid = {entry.fingerprint: entry for entry in entries if not _is_over(entry, today)}
    findings = tuple(
        dataclasses.replace(finding, accepted=valid[finding.fingerprint].reason)
        if finding.fingerprint in valid and finding.accepted is None
        else finding
        for finding in report.findings
    )
    present = {finding.fingerprint for finding in findings}
    stale = []
    for entry in entries:
        if _is_over(entry, today):
            stale.append(_stale(entry, file, f"the acceptance of {entry.code} ran out on {entry.expires}"))
        elif entry.fingerprint not in present and covered is not None and covered(entry):
            stale.append(_stale(entry, file, f"{entry.code} in {entry.path} no longer occurs: take the line out"))
    return dataclasses.replace(report, findings=findings + tuple(stale))


def trailers(message: str) -> dict[str, str]:
    """The accepted fingerprints of a commit message with their reasons.

    A trailer reads `Guard-Accept: FINGERPRINT reason` on a line of its own; one without a reason accepts nothing,
    since nobody could judge it later. At least eight hex digits name a finding.
    """
    return {match["mark"].lower(): match["why"].strip() for match in _TRAILER.finditer(message) if match["why"]}


def accept(report: Report, accepted: dict[str, str], by: str) -> Report:
    """Mark the findings whose fingerprint, or its start, is a key of `accepted` (from `trailers`), with who said so."""
    if not accepted:
        return report

    def reason(finding: Finding) -> str | None:
        if finding.accepted is not None:
            return finding.accepted
        return next((f"{why} ({by})" for mark, why in accepted.items() if finding.fingerprint.startswith(mark)), None)

    findings = tuple(dataclasses.replace(finding, accepted=reason(finding)) for finding in report.findings)
    return dataclasses.replace(report, findings=findings)


def _is_over(entry: Entry, today: datetime.date) -> bool:
    return entry.expires is not None and entry.expires < today


def _stale(entry: Entry, file: str, message: str) -> Finding:
    return Finding(
        code=STALE,
        name=CODES[STALE][0],
        severity=Severity.NOTE,
        path=file,
        line=max(entry.line, 1),
        message=message,
        fingerprint=fingerprint(STALE, file, "<module>", entry.fingerprint),
        subject=entry.fingerprint,
    )
