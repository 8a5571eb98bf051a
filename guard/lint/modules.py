"""Names of modules and what a module's top level brings: imports, definitions, classes. Plain `ast`, nothing runs."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from guard.lint.nodes import BLOCKS
from guard.lint.patterns import dotted

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SOURCE_ROOTS = frozenset({"src", "lib", "python"})


def module_of(path: str) -> tuple[str, bool]:
    """Dotted module name of a path inside a tree, and whether it is a package's `__init__`."""
    parts = path.removesuffix(".py").split("/")
    if len(parts) > 1 and parts[0] in _SOURCE_ROOTS:
        parts = parts[1:]
    package = parts[-1] == "__init__"
    if package:
        parts = parts[:-1]
    return ".".join(parts), package


def candidate_paths(module: str) -> list[str]:
    """Paths, relative to a root of sources, at which a module may be."""
    base = module.replace(".", "/")
    return [f"{base}.py", f"{base}/__init__.py"]


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class: its bases as qualified names where known, its methods, and names assigned in its body."""

    name: str
    bases: tuple[str, ...]
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef]
    fields: tuple[str, ...]
    node: ast.ClassDef
    dataclass: bool


@dataclass(slots=True)
class ModuleFacts:
    """What one module defines and imports. `imports` maps a local name to a qualified one."""

    module: str
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)
    classes: dict[str, ClassFacts] = field(default_factory=dict)


def absolute(module: str, package: bool, level: int, target: str | None) -> str:
    """What `from <level dots><target> import …` in `module` refers to."""
    if level == 0:
        return target or ""
    parts = module.split(".") if module else []
    drop = level - 1 if package else level
    kept = parts[: len(parts) - drop] if drop <= len(parts) else []
    return ".".join([*kept, *([target] if target else [])])


def module_facts(tree: ast.Module, module: str, package: bool) -> ModuleFacts:
    """Read a module's imports (at any depth) and its top-level definitions, also those under `if` and `try`."""
    facts = ModuleFacts(module)
    aliases: list[tuple[str, ast.expr]] = []
    stack: list[tuple[ast.AST, bool]] = [(statement, True) for statement in reversed(tree.body)]
    while stack:
        node, top = stack.pop()
        if isinstance(node, ast.Import):
            for item in node.names:
                if item.asname:
                    facts.imports[item.asname] = item.name
                else:
                    root = item.name.partition(".")[0]
                    facts.imports.setdefault(root, root)
        elif isinstance(node, ast.ImportFrom):
            origin = absolute(module, package, node.level, node.module)
            for item in node.names:
                if item.name == "*":
                    facts.stars.append(origin)
                else:
                    facts.imports[item.asname or item.name] = f"{origin}.{item.name}" if origin else item.name
        elif isinstance(node, _DEFS):
            if top:
                facts.functions[node.name] = node
            stack.extend((child, False) for child in node.body)
        elif isinstance(node, ast.ClassDef):
            if top:
                facts.classes[node.name] = _class_facts(node)
            stack.extend((child, False) for child in node.body)
        elif isinstance(node, ast.Assign) and top:
            target = node.targets[0]
            if len(node.targets) == 1 and isinstance(target, ast.Name):
                aliases.append((target.id, node.value))
        else:
            for name in BLOCKS[node.__class__]:
                stack += [(child, top) for child in getattr(node, name)]
    for name, value in aliases:
        text = dotted(value)
        if text and "." in text and name not in facts.imports:
            root, _, rest = text.partition(".")
            if root in facts.imports:
                facts.imports[name] = f"{facts.imports[root]}.{rest}"
    return facts


def _class_facts(node: ast.ClassDef) -> ClassFacts:
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    fields: list[str] = []
    for item in node.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            methods[item.name] = item
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            fields.append(item.target.id)
        elif isinstance(item, ast.Assign):
            fields.extend(target.id for target in item.targets if isinstance(target, ast.Name))
    bases = tuple(text for text in map(dotted, node.bases) if text)
    decorators = [dotted(d.func if isinstance(d, ast.Call) else d) or "" for d in node.decorator_list]
    is_data = any(name.rpartition(".")[2] == "dataclass" for name in decorators)
    return ClassFacts(node.name, bases, methods, tuple(fields), node, is_data)
