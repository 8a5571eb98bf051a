"""The ledger file that `guard history` writes; `guard.provenance.carried_losses` reads it back.

One JSON document, version 1. Keys are only ever added within a version.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from guard.checks.audit import Audit
from guard.errors import GuardError
from guard.model import Finding
from guard.provenance.carried_losses import VERSION


def write(file: Path, tip: str, audits: Iterable[Audit]) -> None:
    """Replace the ledger file whole.

    Raises:
        GuardError: it cannot be written.
    """
    told = list(audits)
    losses = [
        _loss(finding, audit)
        for audit in told
        for finding in (*audit.open, *audit.repaired)
        if finding.verdict is not None
    ]
    document = {
        "version": VERSION,
        "tip": tip,
        "syncs": [_sync(audit) for audit in told],
        "losses": sorted(losses, key=lambda row: (row["repaired_by"] is not None, row["date"], row["path"])),
    }
    text = json.dumps(document, ensure_ascii=True, indent=1) + "\n"
    try:
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(partial).chmod(0o644)
        Path(partial).replace(file)
    except OSError as error:
        raise GuardError(f"cannot write the ledger to {file}: {error.strerror or error}") from error


def _sync(audit: Audit) -> dict[str, Any]:
    row = audit.row
    return {
        "merge": row.merge.merged,
        "date": row.date,
        "ours": row.merge.ours,
        "theirs": row.merge.theirs,
        "subject": row.merge.subject,
        "lost": row.lost,
        "revived": row.revived,
        "breaks": row.breaks,
        "repaired": row.repaired,
        "open": row.open,
        "status": row.status.value,
        "reason": row.reason,
    }


def _loss(finding: Finding, audit: Audit) -> dict[str, Any]:
    return {
        "sync": audit.row.merge.merged,
        "date": audit.row.date,
        "code": finding.code,
        "path": finding.path,
        "symbol": finding.symbol,
        "side": finding.lost_side.value if finding.lost_side else None,
        "verdict": finding.verdict.value if finding.verdict else None,
        "numeric": finding.numeric,
        "commits": [origin.commit for origin in finding.origins],
        "fingerprint": finding.fingerprint,
        "message": finding.message,
        "repaired_by": finding.repaired_by.commit if finding.repaired_by else None,
    }
