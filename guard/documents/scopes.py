"""The scope that a survey is in: what it binds, and what it reads and must leave to the scope around it."""

from __future__ import annotations

import functools

from guard.documents.outline import Access, Call, Root

UNKNOWN = Root("local", "")
NO_NAME = Root("value", "")


@functools.lru_cache(maxsize=65536)
def global_root(name: str) -> Root:
    """A name that no scope has claimed yet. One object a name: there are hundreds of thousands of them."""
    return Root("global", name)


@functools.lru_cache(maxsize=65536)
def _local_root(name: str) -> Root:
    return Root("local", name)


# The fields of a `Read`, an `Access` or a `Call` before it is known where its first name comes from: hundreds of
# thousands of them are handed from scope to scope, and made into facts at the end.
OpenRead = tuple[str, str, int, int]
OpenAccess = tuple[Root, tuple[str, ...], str, int, int]
OpenCall = tuple[Root, tuple[str, ...], str, int, tuple[str, ...], tuple[str, ...], bool, int, int]


class Scope:
    """One module, class, function or comprehension while it is being read.

    Attributes:
        kind: `module`, `class`, `function`.
        qualname: dotted name of the scope, empty for the module.
        bound: local names and where they come from.
        outer: names declared `global` or `nonlocal`.
        keys: locals that were assigned, with the keys where that was one dictionary (see `Ledger.known_keys`).
    """

    __slots__ = ("accesses", "bound", "calls", "keys", "kind", "outer", "owner", "parent", "qualname", "reads")

    def __init__(self, kind: str, qualname: str, parent: Scope | None, owner: str = "") -> None:
        self.kind = kind
        self.qualname = qualname
        self.parent = parent
        self.owner = owner
        self.bound: dict[str, Root] = {}
        self.outer: dict[str, str] = {}
        self.keys: dict[str, tuple[str, ...] | None] = {}
        self.reads: list[OpenRead] = []
        self.accesses: list[OpenAccess] = []
        self.calls: list[OpenCall] = []

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
        meant = {
            name: _local_root(name) if root is UNKNOWN else root
            for name, root in self.bound.items()
            if name not in self.outer
        }
        around.reads += [read for read in self.reads if read[0] not in meant]
        for access in self.accesses:
            root = access[0]
            found = meant.get(root[1]) if root[0] == "global" else None
            if found is None:
                around.accesses.append(access)
            else:
                keep.accesses.append(Access(found, *access[1:]))
        for call in self.calls:
            root = call[0]
            found = meant.get(root[1]) if root[0] == "global" else None
            if found is None:
                around.calls.append(call)
            else:
                keep.calls.append(Call(found, *call[1:]))


class Keep:
    """Accesses and calls whose first name is resolved."""

    __slots__ = ("accesses", "calls")

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.calls: list[Call] = []
