"""The findings that were last shown in a repository, so that `accept` need not judge everything again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from guard.memory.baseline import STALE
from guard.model import Report
from guard.source.store import FactStore

KIND = "seen"
MOST = 5000


@dataclass(frozen=True, slots=True)
class Seen:
    """What the user was shown of one finding.

    Attributes:
        fingerprint, code, path, message: as in the finding.
        merge: the sync that it was found in, if there was one.
        subject: as in the finding; of a stale baseline entry its fingerprint.
    """

    fingerprint: str
    code: str
    path: str
    message: str
    merge: str | None = None
    subject: str | None = None


def remember(store: FactStore, root: Path, report: Report) -> None:
    """Keep the findings of a run, the newest `MOST` of the repository. Stale entries are those of the last run only."""
    merge = report.merges[0].merged if len(report.merges) == 1 else None
    known = {seen.fingerprint: seen for seen in recall(store, root) if seen.code != STALE}
    for finding in report.findings:
        known.pop(finding.fingerprint, None)
        of_sync = merge if finding.code.startswith(("GRD2", "GRD3", "GRD4")) else None
        known[finding.fingerprint] = Seen(
            finding.fingerprint, finding.code, finding.path, finding.message, of_sync, finding.subject
        )
    rows = [[seen.fingerprint, seen.code, seen.path, seen.message, seen.merge, seen.subject] for seen in known.values()]
    if rows:
        store.put(KIND, str(root), json.dumps(rows[-MOST:]).encode())


def recall(store: FactStore, root: Path) -> list[Seen]:
    """The findings that were shown in this repository, oldest first; empty where nothing was kept."""
    value = store.get(KIND, str(root))
    if value is None:
        return []
    try:
        return [Seen(*row) for row in json.loads(value)]
    except (ValueError, TypeError):  # a cache that something else wrote to is no reason to stop
        return []


def root_of(directory: Path) -> Path:
    """The nearest folder above that is a repository, bare or not, or has a `guard.toml`; else the folder itself.

    No git is started for this: a hook on one file has no time for it.
    """
    directory = directory.resolve()
    for folder in (directory, *directory.parents):
        if (folder / ".git").exists() or (folder / "guard.toml").exists() or (folder / "objects").is_dir():
            return folder
    return directory
