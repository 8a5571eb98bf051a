"""Missing modules and members: an import, a `module.name` or a name in a string that merged does not have.

Reason: one side renames or deletes a definition, the other side adds or keeps an import of it in a file that the
first never touched; the merge is clean. Modules with `__getattr__`, star imports from outside and files that do not
parse are unknown, not missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from guard.checks.breaks.comparison import Comparison
from guard.checks.breaks.difference import PARENTS, Break, State, is_new, origin_side
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.modules import ModuleView, Target
from guard.checks.breaks.names import definition_line
from guard.checks.breaks.project_index import World
from guard.documents.outline import Flag, Import
from guard.model import Confidence, Related, Severity, Side


class Use(NamedTuple):
    """One use of a member of a module: by import, by attribute, or by a string that a patch resolves."""

    kind: str
    text: str  # identity of the use inside its file
    scope: str
    line: int
    flags: int
    target: Target
    module: Target
    name: str


def missing_members(comparison: Comparison) -> Iterator[Break]:
    """Breaks by missing thing and file."""
    worlds = comparison.worlds
    check = _MemberCheck(worlds)
    for path in (*worlds.paths, *worlds.mentions(_names_lost_by_both(worlds))):
        fresh: dict[tuple[str, str], list[Use]] = {}
        for use in uses(worlds.merged, path):
            if use.target.kind == "missing" and is_new(check.states(path, use)):
                fresh.setdefault((use.module.path or use.module.name, use.name), []).append(use)
        for group in fresh.values():
            yield check.broken(path, group)


def uses(world: World, path: str) -> Iterator[Use]:
    """All uses of modules of the repository in a file."""
    view = world.view(path)
    if view is None or view.outline.error:
        return
    modules = {name for name in view.imports if world.member(path, name).kind == "module"}
    for offset, segment in view.outline.parts:
        for fact in segment.imports:
            yield from _of_import(world, path, fact, offset)
        for access in segment.accesses:
            kind, text = access.root
            if (kind != "global" or text not in modules) and kind != "import":
                continue
            if access.flags & Flag.GUARD_ATTRIBUTE:
                continue
            target = world.start(path, access.root)
            for index, name in enumerate(access.path):
                if target.kind != "module":
                    break
                module, target = target, world.member_of(target, name)
                if (access.scope, name) not in segment.probed:
                    text = ".".join((access.root.text, *access.path[: index + 1]))
                    yield Use("attribute", text, access.scope, offset + access.line, access.flags, target, module, name)
        for text, scope, line in segment.targets:
            found = _of_string(world, text)
            if found is not None:
                module, target, name = found
                yield Use("string", text, scope, offset + line, 0, target, module, name)


def _of_import(world: World, path: str, fact: Import, offset: int) -> Iterator[Use]:
    module = world.index.find(fact.module, fact.level, path)
    text = f"{'.' * fact.level}{fact.module}:{fact.name or ''}"
    place = (text, fact.scope, offset + fact.line, fact.flags)
    if module.kind == "missing":
        name = fact.module.rpartition(".")[2]
        yield Use("import", *place, module, Target("module", "", fact.module), name)
    elif module.kind == "module" and fact.name not in {None, "*"}:
        name = fact.name or ""
        yield Use("import", *place, world.member_of(module, name), module, name)


def _of_string(world: World, text: str) -> tuple[Target, Target, str] | None:
    """`a.b.c` in a string: the longest prefix that is a module, then one member of it."""
    parts = text.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = world.index.find(".".join(parts[:cut]), 0, "")
        if module.kind == "module" and module.path:
            return module, world.member_of(module, parts[cut]), parts[cut]
        if module.kind == "external":
            return None
    return None


class _MemberCheck:
    def __init__(self, worlds: FourWorlds) -> None:
        self._worlds = worlds
        self._uses: dict[tuple[str, str], dict[tuple[str, str], list[Use]]] = {}

    def states(self, path: str, use: Use) -> Callable[[str], State]:
        """What each tree says of the same use."""
        return lambda tree: self._state(tree, path, use)

    def _state(self, tree: str, path: str, use: Use) -> State:
        there = self._worlds.path_in(tree, path)
        if there is None:
            return State.ABSENT
        same = self._by_text(tree, there).get((use.kind, use.text))
        if not same:
            return State.ABSENT
        return State.BAD if any(found.target.kind == "missing" for found in same) else State.OK

    def _by_text(self, tree: str, path: str) -> dict[tuple[str, str], list[Use]]:
        known = self._uses.get((tree, path))
        if known is None:
            known = self._uses[tree, path] = {}
            for use in uses(self._worlds[tree], path):
                known.setdefault((use.kind, use.text), []).append(use)
        return known

    def broken(self, path: str, group: list[Use]) -> Break:
        first = next((use for use in group if not use.flags & Flag.GUARD_IMPORT), group[0])
        guarded = all(use.flags & (Flag.GUARD_IMPORT | Flag.TYPING) for use in group)
        module = first.module.path or first.module.name.replace("/", ".")
        places = {tree: at for tree in PARENTS if (at := _definition(self._worlds[tree], first))}
        sides = [Side(tree) for tree in places]
        said = f"`{first.name}` is not in {module}" if first.module.path else f"there is no module {module}"
        told = f" ({sides[0].value} has it)" if len(sides) == 1 else " (both sides have it)" if sides else ""
        verb = {"import": "imported", "attribute": "read", "string": "named in a string"}[first.kind]
        related = [
            Related(path, use.line, f"also used in {use.scope or '<module>'}") for use in group if use is not first
        ]
        if first.module.path:
            related.append(Related(first.module.path, 1, f"the module that has no `{first.name}`"))
        return Break(
            code="GRD302",
            path=path,
            symbol=first.scope or "<module>",
            subject=first.name,
            line=first.line,
            message=f"`{first.name}` is {verb} here, but {said} in merged{told}",
            severity=Severity.WARNING if guarded else Severity.ERROR,
            confidence=Confidence.MEDIUM if guarded else Confidence.HIGH,
            related=tuple(related[:20]),
            lost_side=sides[0] if len(sides) == 1 else None,
            came_from=origin_side(self.states(path, first)),
            reader=first.name,
            definition=first.name,
            definition_places=places,
        )


def _definition(world: World, use: Use) -> tuple[str, int] | None:
    """Where another tree defines what a use asks for."""
    if not use.module.path:
        module = world.index.find(use.module.name, 0, "")
        return (module.path, 1) if module.kind == "module" and module.path else None
    view = world.view(use.module.path)
    line = definition_line(view, use.name, "") if view else None
    return (use.module.path, line) if line else None


def _names_lost_by_both(worlds: FourWorlds) -> set[str]:
    """Module-level names that both parents have in a file and merged has not: readers may be anywhere."""
    lost: set[str] = set()
    every = set(worlds["ours"].index.paths) & set(worlds["theirs"].index.paths)
    for path in worlds.trees.touched:
        if path not in every:
            continue
        views = [worlds[tree].view(path) for tree in PARENTS]
        both = set.intersection(*(view.names for view in views if isinstance(view, ModuleView)))
        now = worlds.merged.view(path)
        lost |= both - (now.names if now else set())
        if now is None:
            lost.add(path.rpartition("/")[2].removesuffix(".py"))
    return lost
