"""Keep what a check found by content: a second look at the same trees costs what reading the trees costs.

The key names everything that the answer depends on: the check, the four trees, the commits that attribution asks, and
the configuration (the store itself keeps states of guard's code apart). JSON, since a cache that others may write to
must not run anything.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from guard.checks.contract import CheckResult
from guard.config import Config
from guard.model import Status
from guard.store.facts import FactStore
from guard.sync.trees import TREES, FourTrees

KIND = "check"
Kept = TypeVar("Kept")


def key_of(name: str, trees: FourTrees, config: Config) -> str:
    """Identity of everything that a check's answer depends on."""
    sync = trees.sync
    digest = hashlib.sha256(repr((name, sync.merge, sync.checked, sync.ours, sync.theirs, sync.bases, config)).encode())
    for tree in TREES:
        for path, entry in sorted(getattr(trees, tree).items()):
            digest.update(f"{entry.mode} {entry.sha} {path}\0".encode("utf-8", "surrogateescape"))
        digest.update(b"\1")
    digest.update(repr(sorted(trees.unread.items())).encode())
    return digest.hexdigest()


def recall(store: FactStore, key: str) -> CheckResult | None:
    """What was kept of a check under a key; None where nothing is, or nothing that can be read."""
    return recall_as(store, key, CheckResult)


def keep(store: FactStore, key: str, found: CheckResult) -> None:
    """Keep a result; one with a failure inside is asked for again the next time."""
    if not any(outcome.status is Status.FAILED for outcome in found.outcomes):
        keep_as(store, key, found)


def remembered(
    store: FactStore, key: str, kind: type[Kept], ask: Callable[[], Kept], whole: Callable[[Kept], bool]
) -> Kept:
    """An answer of several checks, from the store or asked for now and written there at once.

    Arguments:
        key: names everything that it depends on.
        kind: the frozen dataclass that the answer is.
        ask: gives it.
        whole: whether an answer is worth keeping: nothing in it failed.
    """
    known = recall_as(store, key, kind)
    if known is None:
        known = ask()
        if whole(known):
            keep_as(store, key, known)
            store.flush()
    return known


def recall_as(store: FactStore, key: str, kind: type[Kept]) -> Kept | None:
    """What was kept under a key, as a frozen dataclass; None where nothing is, or nothing that can be read."""
    data = store.get(KIND, key)
    if data is None:
        return None
    try:
        return typing.cast("Kept", _read(kind, json.loads(data)))
    except (ValueError, TypeError, KeyError):
        return None


def keep_as(store: FactStore, key: str, found: Any) -> None:
    """Keep a dataclass."""
    store.put(KIND, key, json.dumps(dataclasses.asdict(found), separators=(",", ":")).encode())


def _read(kind: Any, value: Any) -> Any:
    """A value of JSON as the type that a field declares."""
    origin = typing.get_origin(kind)
    if origin in {typing.Union, types.UnionType}:
        options = [option for option in typing.get_args(kind) if option is not type(None)]
        return None if value is None else _read(options[0], value)
    if origin is tuple:
        kinds = typing.get_args(kind)
        if len(kinds) == 2 and kinds[1] is Ellipsis:
            return tuple(_read(kinds[0], item) for item in value)
        return tuple(_read(each, item) for each, item in zip(kinds, value, strict=True))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return typing.cast("Any", kind)(**{name: _read(hints[name], item) for name, item in value.items()})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if not isinstance(value, kind) and not (kind is float and isinstance(value, int)):
        raise TypeError(f"{kind} expected")
    return value
