"""Leave the cyclic collector out of work that makes millions of small objects which stay."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def gc_paused(*, last: bool = False) -> Iterator[None]:
    """No garbage collection inside: millions of small objects stay, and the collector would walk them for nothing.

    Arguments:
        last: this is the work of the process, and it ends soon after: what stays is not walked at the end either.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if last:
            gc.freeze()
        if collecting:
            gc.enable()
