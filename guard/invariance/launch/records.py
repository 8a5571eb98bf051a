"""What a worker writes and what it measures with; standard library only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from guard.invariance.case import Run

Emit = Callable[[dict[str, Any]], None]


class Launcher(Protocol):
    """What measures a run, whatever the ranks are."""

    def measure(self, run: Run) -> Any:
        """One run on fresh or reused ranks."""

    def close(self) -> None:
        """End what was kept."""


def key_of(case: str, cut: dict[str, Any]) -> str:
    """Identity of one measurement in the file of records."""
    return json.dumps([case, cut], sort_keys=True)


def resume(output: Path | None, emit: Emit) -> set[str]:
    """What the file of records has already; a case that was begun and never ended hung: it is recorded as failed."""
    if output is None or not output.exists():
        return set()
    records = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines() if line.strip()]
    ended = {key_of(each["case"], each["cut"]) for each in records if each["type"] == "case"}
    for each in records:
        if each["type"] == "begin" and (key := key_of(each["case"], each["cut"])) not in ended:
            reason = "a rank hung or died; its stack is in the launcher's log"
            emit({**each, "type": "case", "status": "failed", "reason": reason})
            ended.add(key)
    return ended
