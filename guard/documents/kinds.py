"""What kind of document a path is: the one place that knows file endings."""

from __future__ import annotations

import re
from posixpath import splitext

_CODE = re.compile(r"\.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hip|inl|js|ts|jsx|tsx|java|go|rs|proto|css|scss|mm)")
_PROSE = re.compile(r"\.(md|markdown|mdx|rst|adoc)")
_DATA = {".json": "json", ".ipynb": "json", ".yaml": "yaml", ".yml": "yaml", ".cff": "yaml", ".toml": "toml"}
_SCRIPT = re.compile(
    r"(?:^|/)(?:Docker|Container|Make|GNUmake|make|Jenkins|Snake|Just|just|Rake|Vagrant)file(?:\.[\w.-]+)?$"
    r"|(?:^|/)CMakeLists\.txt$|\.(?:sh|bash|zsh|ksh|mk|cmake|dockerfile|Dockerfile|bat|ps1|slurm|sbatch)$"
)
_PYTHON = {".py": "python", ".pyi": "stub"}


def kind_of(path: str) -> str:
    """How a file is read: `python`, `stub`, `json`, `yaml`, `toml`, `prose`, `code` (C-like), `script` or `lines`."""
    ending = splitext(path)[1]
    known = _PYTHON.get(ending) or _DATA.get(ending := ending.lower())
    if known is not None:
        return known
    if _PROSE.fullmatch(ending):
        return "prose"
    if _CODE.fullmatch(ending):
        return "code"
    return "script" if _SCRIPT.search(path) else "lines"


def is_python(path: str, *, stubs: bool = False) -> bool:
    """Whether a file is a Python module.

    Arguments:
        stubs: count stub files (`.pyi`) too.
    """
    return path.endswith((".py", ".pyi") if stubs else ".py")
