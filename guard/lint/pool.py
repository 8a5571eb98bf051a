"""Spread work over processes where that pays; a worker that dies costs its own files only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from guard.documents.gc_paused import gc_paused
from guard.lint.records import FileResult
from guard.lint.source import Source
from guard.model import Outcome, Status

# What forked workers inherit: set before the fork, empty otherwise.
_work: list[tuple[Sequence[Source], Callable[[Source], FileResult]]] = []


def spread(sources: Sequence[Source], lint: Callable[[Source], FileResult], jobs: int) -> list[FileResult]:
    """Lint every source, in order.

    Args:
        sources: the files.
        lint: lints one; never raises.
        jobs: processes to use; 1 stays in this one.
    """
    if jobs <= 1 or len(sources) < 2:
        with gc_paused():
            return [lint(source) for source in sources]
    # A hook on one file never comes here, and does not pay for these imports.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Forked workers share the sources and parsed rules without a copy; with other threads running a fork is not safe.
    can_fork = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if not can_fork:
        with gc_paused():
            return [lint(source) for source in sources]
    _work.append((sources, lint))
    chunks = _chunks(sources, jobs * 4)
    results: list[FileResult | None] = [None] * len(sources)
    try:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
            futures = [(chunk, pool.submit(_lint_chunk, chunk)) for chunk in chunks]
            for chunk, future in futures:
                try:
                    rows = future.result()
                except (BrokenProcessPool, OSError, RuntimeError) as problem:
                    rows = [_died(sources[i], problem) for i in chunk]
                for i, row in zip(chunk, rows, strict=True):
                    results[i] = row
    finally:
        _work.clear()
    return [row if row is not None else _died(sources[i], None) for i, row in enumerate(results)]


def _chunks(sources: Sequence[Source], count: int) -> list[list[int]]:
    """Indices in chunks of about equal bytes, big files first, so that no worker ends long after the others."""
    chunks: list[list[int]] = [[] for _ in range(min(count, len(sources)))]
    sizes = [0] * len(chunks)
    for i in sorted(range(len(sources)), key=lambda i: -len(sources[i].data)):
        least = sizes.index(min(sizes))
        chunks[least].append(i)
        sizes[least] += len(sources[i].data) + 200
    return chunks


def _lint_chunk(chunk: list[int]) -> list[FileResult]:
    sources, lint = _work[-1]
    with gc_paused():
        return [lint(sources[i]) for i in chunk]


def _died(source: Source, problem: BaseException | None) -> FileResult:
    reason = f"not analysed: a worker process ended ({problem})" if problem else "not analysed: a worker process ended"
    return FileResult((), Outcome("lint", Status.FAILED, reason, subject=source.path), {})
