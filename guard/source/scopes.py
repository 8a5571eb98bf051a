"""The scope that a survey is in: what it binds, and what it reads and must leave to the scope around it."""

from __future__ import annotations

import functools

from guard.source.outline import Access, Call, Read, Root

UNKNOWN = Root("local", "")
NO_NAME = Root("value", "")


@functools.lru_cache(maxsize=65536)
def global_root(name: str) -> Root:
    """A name that no scope has claimed yet. One object a name: there are hundreds of thousands of them."""
    return Root("global", name)


@functools.lru_cache(maxsize=65536)
def _local_root(name: str) -> Root:
    return Root("local", name)


class Scope:
    """One module, class, function or comprehension while it is being read.

    Attributes:
        kind: `module`, `class`, `function`.
        qualname: dotted name of the scope, empty for the module.
        bound: local names and where they come from.
        outer: names declared `global` or `nonlocal`.
    """

    __slots__ = ("accesses", "bound", "calls", "kind", "outer", "owner", "parent", "qualname", "reads")

    def __init__(self, kind: str, qualname: str, parent: Scope | None, owner: str = "") -> None:
        self.kind = kind
        self.qualname = qualname
        self.parent = parent
        self.owner = owner
        self.bound: dict[str, Root] = {}
        self.outer: dict[str, str] = {}
        self.reads: list[Read] = []
        self.accesses: list[Access] = []
        self.calls: list[Call] = []

    def bind(self, name: str, root: Root = UNKNOWN) -> None:
        """Bind a name; one that is bound to two different things may be anything."""
        known = self.bound.get(name)
        self.bound[name] = root if known is None or known == root else UNKNOWN

    def close(self, keep: Keep) -> None:
        """Resolve what this scope binds, and hand the rest to the scope that Python would ask next."""
        around = self.parent
        while around is not None and around.kind == "class":
            around = around.parent
        if around is None:
            raise ValueError("the module's scope stays open")
        bound, outer = self.bound, self.outer
        around.reads += [read for read in self.reads if read.name not in bound or read.name in outer]
        for access in self.accesses:
            root = self._resolve(access.root)
            if root is access.root:
                around.accesses.append(access)
            else:
                keep.accesses.append(access._replace(root=root))
        for call in self.calls:
            root = self._resolve(call.root)
            if root is call.root:
                around.calls.append(call)
            else:
                keep.calls.append(call._replace(root=root))

    def _resolve(self, root: Root) -> Root:
        if root.kind != "global" or root.text in self.outer:
            return root
        known = self.bound.get(root.text)
        if known is None:
            return root
        return _local_root(root.text) if known is UNKNOWN else known


class Keep:
    """Accesses and calls whose first name is resolved."""

    __slots__ = ("accesses", "calls")

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.calls: list[Call] = []
