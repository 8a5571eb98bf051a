"""Progress on standard error: only on a terminal, and only for work that takes over half a second."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

_PATIENCE_SECONDS = 0.5


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that tells what is being done; the line is wiped at the end."""
    started = time.monotonic()
    shown = False

    def tell(text: str) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - started > _PATIENCE_SECONDS:
            print(f"\r\x1b[2K{text[:100]} …", end="", file=sys.stderr, flush=True)
            shown = True

    try:
        yield tell
    finally:
        if shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
