"""The order of the layers (DESIGN §8), read from the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import guard

ROOT = Path(guard.__file__).parent
FACTS = {"model", "errors", "codes", "globs", "config", "parallel", "__init__"}
ORDER = [  # each layer may import from those above it, and from itself where it is one package
    FACTS,
    {"git", "documents", "store"},
    {"project", "sync"},
    {"judge"},
    {"provenance", "merging", "lint"},
    {"checks", "invariance"},
    {"report"},
    {"commands"},
    {"cli"},
    {"__main__"},
]


def _below(room: str) -> set[str]:
    """The rooms that this one may import from."""
    allowed: set[str] = set()
    for layer in ORDER:
        if room in layer:
            return allowed | (layer if layer is FACTS else {room})
        allowed |= layer
    raise AssertionError(f"{room} has no layer")


def _modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)


def _room(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level
            assert not prefix, f"{package}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def test_every_import_points_down() -> None:
    wrong = []
    for path in _modules():
        room = _room(path)
        for name in _imports(ast.parse(path.read_text()), str(path)):
            parts = name.split(".")
            if parts[0] != "guard":
                continue
            target = parts[1] if len(parts) > 1 else "__init__"
            if not (ROOT / target).is_dir() and not (ROOT / f"{target}.py").is_file():
                target = "__init__"  # a name of the package itself
            if target not in _below(room):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert wrong == []


def test_only_git_starts_git_and_nobody_uses_a_shell() -> None:
    wrong = []
    for path in _modules():
        room = _room(path)
        for name in _imports(ast.parse(path.read_text()), str(path)):
            if name.split(".")[0] == "git" and room != "git":
                wrong.append(f"{path.relative_to(ROOT)} imports GitPython")
        if "shell=True" in path.read_text():
            wrong.append(f"{path.relative_to(ROOT)} uses a shell")
    assert wrong == []


def test_only_cli_and_commands_print() -> None:
    wrong = []
    for path in _modules():
        if _room(path) in {"cli", "commands", "__main__"} or "invariance" in path.parts:
            continue  # a rank process of the invariance suite answers on its standard output
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert wrong == []


def test_torch_stays_below_invariance() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in _modules()
        if _room(path) != "invariance"
        for name in _imports(ast.parse(path.read_text()), str(path))
        if name.split(".")[0] in {"torch", "megatron"}
    ]
    assert wrong == []


def test_modules_stay_small() -> None:
    sizes = sorted(len(path.read_text().splitlines()) for path in _modules())
    assert sizes[-1] <= 400
    assert sizes[len(sizes) // 2] <= 150


def test_only_documents_knows_what_a_python_file_is_called() -> None:
    suffix = re.compile(r"""endswith\(\(?["']\.pyi?["']""")
    asking = [path for path in _modules() if suffix.search(path.read_text())]
    assert [_room(path) for path in asking] == ["documents"]
