"""Bring along what restored code reads: the import or definition of a name that merged does not have."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from guard.checks import run_check
from guard.checks.contract import CheckContext
from guard.config import Config
from guard.documents.kinds import is_python
from guard.documents.statements import type_of_definition
from guard.errors import GuardError
from guard.git import Entry
from guard.git.patch import store_blob
from guard.merging.hunks import lines_of
from guard.merging.resolve import UNREADABLE
from guard.merging.syntax import Block, Node, read
from guard.model import Finding, Severity, Side, Status
from guard.sync.trees import FourTrees

Changes = dict[str, Entry | None]
WithChanges = Callable[[FourTrees, Mapping[str, Entry | None]], FourTrees]
_NAMES = ("GRD301", "GRD302")


def breaks(trees: FourTrees, config: Config) -> dict[str, Finding]:
    """The breaks of a sync by fingerprint, notes aside.

    Raises:
        GuardError: the check failed, so that its silence proves nothing.
    """
    run = run_check("broken", CheckContext(trees, config))
    if run.outcome.status is Status.FAILED:
        raise GuardError(f"the restoration cannot be tried: the check broken failed: {run.outcome.reason}")
    return {item.fingerprint: item for item in run.result.findings if item.severity is not Severity.NOTE}


def brought(trees: FourTrees, missing: Finding, side: Side | None = None) -> Changes:
    """Merged with a name that a break finds missing: imported or defined as a side has it.

    Arguments:
        trees: the sync, merged as it is to be patched.
        missing: an undefined name, or a member that a module does not have.
        side: whose form to look at first.

    Returns:
        The new entry of the file; empty where no side has the name, or the break is of another kind.
    """
    if missing.code not in _NAMES or not missing.subject or not is_python(missing.path):
        return {}
    name = missing.subject.rsplit(".", 1)[-1]
    for tree in dict.fromkeys([side or Side.THEIRS, Side.THEIRS, Side.OURS]):
        for path in _places(trees, missing, name):
            given, merged = trees.blob(tree.value, path), trees.blob("merged", path)
            text = _with_name(given, merged, name) if given and merged else None
            if text is not None:
                return {path: Entry(trees.merged[path].mode, store_blob(trees.repository, text))}
    return {}


def _places(trees: FourTrees, missing: Finding, name: str) -> Iterator[str]:
    """Where the name may have to be: the file that reads it, or the module that it is imported from."""
    if missing.code == "GRD301":
        yield missing.path
        return
    try:
        body = ast.walk(ast.parse(trees.blob("merged", missing.path) or b""))
    except UNREADABLE:
        return
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == name for alias in node.names):
            stem = node.module.replace(".", "/")
            yield from (path for path in trees.merged if path.endswith((f"{stem}.py", f"{stem}/__init__.py")))


def _with_name(given: bytes, merged: bytes, name: str) -> bytes | None:
    """A file with the import or definition of a name as another version has it; None where that has none."""
    memo: dict[str, ast.Module] = {}
    try:
        source, target = read(given.decode(), memo), read(merged.decode(), memo)
    except (*UNREADABLE, UnicodeDecodeError):
        return None
    for node in source.nodes:
        statement = node.only
        if isinstance(statement, ast.Import | ast.ImportFrom):
            alias = next((alias for alias in statement.names if (alias.asname or alias.name) == name), None)
            if alias is not None:
                line = ast.unparse(_alone(statement, alias)) + "\n"
                return _inserted(target, _behind_imports(target), line)
        elif isinstance(statement, type_of_definition) and statement.name == name:
            return _inserted(target, _behind_same(source, target, node), node.lead + node.text)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and name in _targets(statement):
            return _inserted(target, _behind_imports(target), node.text)
    return None


def _alone(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(statement, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(statement.module, [alias], statement.level)


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _behind_imports(block: Block) -> int:
    """The line behind the last import of the top level that stands before any definition."""
    line = 0
    for node in block.nodes:
        if isinstance(node.only, type_of_definition):
            break
        if node.documentation or isinstance(node.only, ast.Import | ast.ImportFrom):
            line = node.end
    return line


def _behind_same(source: Block, target: Block, wanted: Node) -> int:
    """The line behind the definition that the wanted one follows in the source; else the end."""
    there = {node.key: node.end for node in target.nodes if node.key}
    before = source.nodes[: source.nodes.index(wanted)]
    for node in reversed(before):
        if isinstance(node.only, type_of_definition) and node.key in there:
            return there[node.key]
    return target.end


def _inserted(block: Block, line: int, text: str) -> bytes:
    above, below = "".join(block.lines[:line]), "".join(block.lines[line:])
    if above and not above.endswith("\n"):
        above += "\n"
    lines = lines_of(text)
    return (above + "".join(lines) + ("" if text.endswith("\n") else "\n") + below).encode()


def completed(
    trees: FourTrees,
    changes: Mapping[str, Entry | None],
    known: Mapping[str, Finding],
    config: Config,
    side: Side | None,
    with_changes: WithChanges,
) -> tuple[Changes, Sequence[Finding]]:
    """Changes with what they need, and the breaks that they bring up all the same.

    Arguments:
        trees: the sync before the changes.
        known: its breaks.
        with_changes: gives the sync with some files of merged changed.
    """
    made: Changes = dict(changes)
    for _ in range(_MOST_STEPS):
        patched = with_changes(trees, made)
        new = [finding for mark, finding in breaks(patched, config).items() if mark not in known]
        more: Changes = {}
        for finding in new:
            more.update(brought(with_changes(patched, more), finding, side))
        if not more:
            return made, new
        made.update(more)
    patched = with_changes(trees, made)
    return made, [finding for mark, finding in breaks(patched, config).items() if mark not in known]


_MOST_STEPS = 3
