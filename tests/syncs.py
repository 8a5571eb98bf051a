"""Syncs made of four given trees, as real merges, and the command line run on them in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from guard import cli
from tests.conftest import Workshop

Files = Mapping[str, str | bytes]


def set_tree(workshop: Workshop, files: Files) -> None:
    """Make the work tree hold just these files."""
    for name in workshop.git("ls-files", "-z").split("\0"):
        place = workshop.folder / name
        if name and name not in files and (place.is_file() or place.is_symlink()):
            place.unlink()
    workshop.write(dict(files))


def make_sync(
    workshop: Workshop,
    base: Files,
    ours: Files,
    theirs: Files,
    merged: Files,
    *,
    ours_message: str = "ours (#11)",
    theirs_message: str = "Fix theirs (#22)",
) -> str:
    """Branches main (theirs) and dev (ours) with a merge of main into dev that has the tree `merged`.

    Returns:
        The merge's SHA; HEAD is dev, at the merge.
    """
    if workshop.git("rev-parse", "--verify", "-q", "HEAD", check=False):
        workshop.branch("main")
    set_tree(workshop, base)
    workshop.commit("base")
    workshop.branch("dev")
    set_tree(workshop, ours)
    workshop.commit(ours_message)
    workshop.switch("main")
    set_tree(workshop, theirs)
    workshop.commit(theirs_message)
    workshop.switch("dev")
    workshop.git("merge", "--no-ff", "--no-commit", "-q", "main", check=False)
    set_tree(workshop, merged)
    return workshop.commit("Merge branch 'main' into dev")


@dataclass(frozen=True)
class Answer:
    """What one run of the command line gave."""

    status: int
    output: str
    errors: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report."""
        document: dict[str, Any] = json.loads(self.output)
        return document

    def findings(self, *codes: str) -> list[dict[str, Any]]:
        """Findings of these codes (or prefixes), all without any."""
        return [f for f in self.report["findings"] if not codes or f["code"].startswith(codes)]


class Guard:
    """`guard` as a function: runs the command line in a folder and captures what it says."""

    def __init__(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path | None = None
    ) -> None:
        self._capsys, self._monkeypatch, self.folder = capsys, monkeypatch, folder

    def __call__(self, *arguments: str, folder: Path | None = None) -> Answer:
        place = folder or self.folder
        if place is not None:
            self._monkeypatch.chdir(place)
        self._monkeypatch.setattr("sys.argv", ["guard", *arguments])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = self._capsys.readouterr()
        return Answer(int(ended.value.code or 0), captured.out, captured.err)

    def check(self, *arguments: str, folder: Path | None = None) -> Answer:
        """`guard check` as JSON, in one process."""
        return self("check", *arguments, "--output-format", "json", "--jobs", "1", folder=folder)
