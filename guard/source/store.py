"""Remembered facts: what was computed of a content once need not be computed again."""

from __future__ import annotations

from typing import Protocol


class FactStore(Protocol):
    """Bytes by kind and key. A key names content (a blob's SHA, a hash of rules), so an entry never goes stale."""

    def get(self, kind: str, key: str) -> bytes | None:
        """What was put under this kind and key, or None."""

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Remember a value; failing to is no error."""


class NullStore:
    """Remembers nothing."""

    def get(self, kind: str, key: str) -> bytes | None:  # noqa: ARG002
        """None, always."""
        return None

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Nothing happens."""
