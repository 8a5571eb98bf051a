"""Four small trees made into a real merge, and judged."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from guard.checks.breaks import check_broken
from guard.checks.contract import CheckContext, CheckResult
from guard.git import Repository
from guard.store.facts import FactStore, NullStore
from guard.sync import topology, trees
from tests.conftest import Workshop

Files = dict[str, str | bytes | None]
Judge = Callable[..., CheckResult]


def _plain(files: Files) -> Files:
    return {path: dedent(text).lstrip("\n") if isinstance(text, str) else text for path, text in files.items()}


@pytest.fixture
def judge(workshop: Workshop) -> Judge:
    """Judge a merge of ours and theirs; `merged` is laid over git's automatic merge."""

    def run(
        base: Files, ours: Files, theirs: Files, merged: Files | None = None, store: FactStore | None = None
    ) -> CheckResult:
        start = workshop.commit("base", _plain(base))
        workshop.branch("theirs", start)
        workshop.commit("Change of theirs (#7)", _plain(theirs))
        workshop.branch("ours", start)
        workshop.commit("Change of ours", _plain(ours))
        merge = workshop.merge("theirs", _plain(merged or {}))
        with Repository.open(workshop.folder) as repository:
            context = CheckContext(
                trees.load(repository, topology.from_merge(repository, merge)), store=store or NullStore(), debug=True
            )
            return check_broken(context)

    return run


def told(result: CheckResult) -> list[tuple[str, str, str, str | None]]:
    """Code, path, symbol and subject of each finding, sorted."""
    return sorted((found.code, found.path, found.symbol, found.subject) for found in result.findings)
