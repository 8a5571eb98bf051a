"""The findings that were last shown in a repository, so that `accept` need not judge everything again.

They stand in a file of their own beside the cache: unlike its facts they do not depend on the code of guard alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from guard.model import Report
from guard.store.baseline import STALE
from guard.store.cache import default_directory

MOST = 5000
_OF_A_SYNC = ("GRD2", "GRD3", "GRD4")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the user was shown of one finding.

    Attributes:
        fingerprint, code, path: as in the finding.
        merge: the sync that it was found in, if there was one.
        subject: as in the finding; of a stale baseline entry its fingerprint.
        standing: whether the last check showed it and nothing accepted it.
        range: the options that selected what it was shown of, as words.
    """

    fingerprint: str
    code: str
    path: str
    merge: str | None = None
    subject: str | None = None
    range: tuple[str, ...] = ()
    standing: bool = False


def remember(root: Path, report: Report, shown: Collection[str]) -> None:
    """Keep the findings of a run, the newest `MOST` of the repository; stale entries are those of the last run only.

    Arguments:
        shown: the fingerprints that the reader got to see.

    A full disk or a read-only home is no error: `accept` then asks for another run.
    """
    known = {seen.fingerprint: replace(seen, standing=False) for seen in recall(root) if seen.code != STALE}
    for finding in report.findings:
        known.pop(finding.fingerprint, None)
        of_sync = finding.merge if finding.code.startswith(_OF_A_SYNC) else None
        standing = finding.accepted is None and finding.fingerprint in shown and finding.code != STALE
        known[finding.fingerprint] = Seen(
            finding.fingerprint,
            finding.code,
            finding.path,
            of_sync,
            finding.subject,
            report.range_of(finding),
            standing,
        )
    text = json.dumps([astuple(seen) for seen in list(known.values())[-MOST:]])
    file = _file(root)
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, "ascii")
        partial.replace(file)


def recall(root: Path) -> list[Seen]:
    """The findings that were shown in this repository, oldest first; empty where nothing was kept."""
    try:
        rows = json.loads(_file(root).read_text("ascii"))
        return [Seen(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6]) for row in rows]
    except (OSError, ValueError, TypeError, LookupError):  # a file that something else wrote to is no reason to stop
        return []


def root_of(directory: Path) -> Path:
    """The nearest folder above that is a repository, bare or not, or has a `guard.toml`; else the folder itself.

    No git is started for this: a hook on one file has no time for it.
    """
    directory = directory.resolve()
    for folder in (directory, *directory.parents):
        is_bare = (folder / "objects").is_dir() and (folder / "HEAD").is_file()
        if is_bare or (folder / ".git").exists() or (folder / "guard.toml").exists():
            return folder
    return directory


def _file(root: Path) -> Path:
    mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return default_directory() / f"seen-{mark}.json"
