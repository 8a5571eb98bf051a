"""Three versions of one file, joined as `guard merge` joins them: git's own edit scripts, a real object store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from guard.git import Entry, Repository
from guard.git.patch import store_blob
from guard.merging.conflicted import conflicted_files
from guard.merging.hunks import Hunk, lines_of, three_way
from guard.merging.resolve import FileResolution
from guard.merging.resolving import resolve_file
from guard.merging.restoring import line_edits
from tests.conftest import Workshop


@dataclass(frozen=True)
class Joined:
    """A joined file."""

    resolution: FileResolution

    @property
    def text(self) -> str:
        """The text; a conflict must be left open for there to be none."""
        assert not self.resolution.open, [outcome.reason for outcome in self.resolution.open]
        return "".join(line for part in self.resolution.segments if not isinstance(part, Hunk) for line in part)

    @property
    def reasons(self) -> list[str]:
        """Why hunks are open."""
        return [outcome.reason for outcome in self.resolution.open]


Join = Callable[..., Joined]


def join_text(base: str, ours: str, theirs: str, path: str = "m.py") -> Joined:
    """Join three programs by the edit scripts of Python's own difflib, without git."""
    lines = [lines_of(text) for text in (base, ours, theirs)]
    scripts = [[(e.start, e.end, e.first, e.last) for e in line_edits(lines[0], form)] for form in lines[1:]]
    return Joined(resolve_file(path, three_way(lines[0], lines[1], lines[2], scripts[0], scripts[1]), {}))


@pytest.fixture(scope="package")
def join(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Join]:
    """Join base, ours and theirs of a file."""
    workshop = Workshop(tmp_path_factory.mktemp("joins"))
    with Repository.open(workshop.folder) as repository:

        def joined(base: str, ours: str, theirs: str, path: str = "module.py") -> Joined:
            texts = (base, ours, theirs)
            stages = {n: Entry("100644", store_blob(repository, text.encode())) for n, text in enumerate(texts, 1)}
            (found,) = conflicted_files(repository, {path: stages}, None)
            assert not found.reason, found.reason
            return Joined(resolve_file(path, found.segments, {}))

        yield joined
