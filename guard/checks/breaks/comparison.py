"""What every part of the check is given: the four linked trees, their calls, and who gives which attribute."""

from __future__ import annotations

import functools

from guard.checks.breaks.attribute_providers import Givers
from guard.checks.breaks.gathering import FourWorlds
from guard.checks.breaks.reach import Reached
from guard.sync.trees import TREES


class Comparison:
    """The four trees of one sync; what several parts need is worked out once, when the first one asks."""

    def __init__(self, worlds: FourWorlds) -> None:
        self.worlds = worlds

    @functools.cached_property
    def calls(self) -> Reached:
        """Calls and what they reach."""
        return Reached(self.worlds)

    @functools.cached_property
    def givers(self) -> dict[str, Givers]:
        """Who gives an attribute, by tree."""
        return {tree: Givers(self.worlds, tree) for tree in TREES}
