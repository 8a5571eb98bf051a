"""Who gives an attribute of a name to some object, in one tree."""

from __future__ import annotations

from collections.abc import Iterable

from guard.checks.breaks.gathering import FourWorlds, is_test
from guard.documents.kinds import is_python


class Givers:
    """Files, classes and assignments of one tree that give attributes. Files are asked only about names they hold."""

    def __init__(self, worlds: FourWorlds, tree: str) -> None:
        self._worlds = worlds
        self._tree = tree
        self._files: dict[str, list[str]] | None = None
        self._untouched: dict[str, list[str]] = {}

    def files(self, name: str) -> list[str]:
        """Files that give an attribute of this name."""
        if self._files is None:
            self._files = {}
            if self._tree != "base":
                self._book(self._files, self._worlds.trees.touched)
        if self._tree == "base" and name not in self._files:
            # Few names are asked of the base, and few of its files are read.
            paths = [path for path in self._worlds.trees.touched if is_python(path)]
            found: dict[str, list[str]] = {}
            self._book(found, (path for path in paths if self._worlds.speaks("base", path, name)))
            self._files[name] = found.get(name, [])
        if name not in self._untouched:
            paths = self._worlds.mentions([name])
            self._untouched[name] = [path for path in paths if self._worlds.gives(path, name)]
        return [*self._files.get(name, ()), *self._untouched[name]]

    def _book(self, files: dict[str, list[str]], paths: Iterable[str]) -> None:
        world = self._worlds[self._tree]
        for path in paths:
            view = world.view(path) if path in world.index.paths else None
            given = {name for _, segment in (view.outline.parts if view else ()) for name in segment.attributes}
            for attribute in given:
                files.setdefault(attribute, []).append(path)

    def anywhere(self, name: str, *, tests: bool) -> bool:
        """Whether anything gives such an attribute; what tests give counts for tests only."""
        return any(tests or not is_test(path) for path in self.files(name))

    def below(self, path: str, owner: str, name: str) -> bool:
        """Whether a class that derives from `owner` gives the attribute: the base may count on that."""
        world = self._worlds[self._tree]
        for file in self.files(name):
            view = world.view(file)
            for kinds in view.classes.values() if view else ():
                for kind in kinds:
                    if name not in kind.members and name not in kind.stored:
                        continue
                    order = world.order(file, kind.qualname)[0]
                    if any((at, one.qualname) == (path, owner) for at, one in order[1:]):
                        return True
        return False

    def place(self, name: str, owner: tuple[str, str] | None) -> tuple[str, int] | None:
        """Where this tree gives the attribute: in the class `owner`, else anywhere."""
        world = self._worlds[self._tree]
        if owner:
            path = self._worlds.path_in(self._tree, owner[0])
            for at, kind in world.order(path, owner[1])[0] if path else ():
                line = kind.members.get(name) or kind.stored.get(name)
                view = world.view(at)
                if line and view:
                    return at, view.line_of(kind) - kind.line + line
            return None
        for path in sorted(self.files(name), key=is_test):
            view = world.view(path)
            for offset, segment in view.outline.parts if view else ():
                for kind in segment.classes:
                    line = kind.members.get(name) or kind.stored.get(name)
                    if line:
                        return path, offset + line
                for dest, _, line in segment.options:
                    if dest == name:
                        return path, offset + line
        return None
