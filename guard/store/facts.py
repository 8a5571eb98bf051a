"""Where facts about blobs may be kept between runs: the protocol, and the store that keeps nothing."""

from __future__ import annotations

from typing import Protocol


class FactStore(Protocol):
    """Bytes by kind and key. A key names everything that the fact depends on, so that nothing ever goes stale."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The bytes kept under this kind and key, or None."""

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Keep bytes; a store that cannot write forgets them silently."""

    def flush(self) -> None:
        """Let what was put outlive this process, however it ends."""


class MemoryStore:
    """Keeps facts for the life of the process."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], bytes] = {}

    def get(self, kind: str, key: str) -> bytes | None:
        """The bytes kept under this kind and key, or None."""
        return self._facts.get((kind, key))

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Keep bytes until the process ends."""
        self._facts[kind, key] = data

    def flush(self) -> None:
        """Nothing outlives the process."""


class NullStore:
    """Keeps nothing: every question is answered afresh."""

    def get(self, kind: str, key: str) -> bytes | None:
        """Never has anything."""
        return None

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Forget at once."""

    def flush(self) -> None:
        """There is nothing to write."""
