"""The measuring process: `python worker.py --tree DIR`, or `torchrun … -m guard.invariance.worker --tree DIR`.

It runs under the user's interpreter and needs torch and the standard library besides the tree. Started by path, it
makes the `guard` package known without putting the folder that holds it, and what else is installed there, on the path.
One JSON record a line: `start`, then `case` for every case and cut, then `end`; or `fatal` with the reason.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def _know_guard() -> None:
    """Make `guard` importable when this file was started by path."""
    here = Path(__file__).resolve()
    if sys.path and sys.path[0] and Path(sys.path[0]).resolve() == here.parent:
        del sys.path[0]
    if "guard" not in sys.modules:
        root = here.parents[1]
        spec = importlib.util.spec_from_file_location(
            "guard", root / "__init__.py", submodule_search_locations=[str(root)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules["guard"] = package
        spec.loader.exec_module(package)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    _know_guard()
    from guard.invariance.measuring import main

    raise SystemExit(main(sys.argv[1:]))
