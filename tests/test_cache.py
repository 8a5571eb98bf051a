"""The cache: facts come back, other processes are not waited for, and losing it is no error."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time
from pathlib import Path

from guard.store.cache import DiskStore


def test_what_was_put_comes_back_in_another_run(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put("kind", "key", b"value")
    assert store.get("kind", "key") == b"value"
    store.flush()
    assert DiskStore(tmp_path).get("kind", "key") == b"value"
    assert DiskStore(tmp_path).get("kind", "other") is None


def test_a_key_with_a_file_name_that_is_not_utf_8(tmp_path: Path) -> None:
    key = "rules:lat\udce9in.py"
    store = DiskStore(tmp_path)
    store.put("kind", key, b"value")
    store.flush()
    assert DiskStore(tmp_path).get("kind", key) == b"value"


def _work(store: DiskStore, number: int) -> None:
    store.put("kind", f"child {number}", b"x")


def test_forked_processes_keep_what_they_found(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    store.put("kind", "parent", b"p")
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_work, args=(store, number)) for number in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    store.flush()
    fresh = DiskStore(tmp_path)
    assert [fresh.get("kind", f"child {number}") for number in range(4)] == [b"x"] * 4
    assert fresh.get("kind", "parent") == b"p"


def test_a_locked_cache_holds_nobody_up(tmp_path: Path) -> None:
    first = DiskStore(tmp_path)
    first.put("kind", "key", b"value")
    first.flush()
    (file,) = tmp_path.glob("*.sqlite")
    lock = sqlite3.connect(file, isolation_level=None)
    lock.execute("begin exclusive")
    other = DiskStore(tmp_path)
    started = time.monotonic()
    for number in range(1000):
        other.put("kind", str(number), b"value")
        other.get("kind", str(number))
    other.flush()
    assert time.monotonic() - started < 30, "each single write waited for the lock"
    lock.close()


def test_a_cache_that_cannot_be_kept_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    store = DiskStore(blocked)
    store.put("kind", "key", b"value")
    store.flush()
    assert store.get("kind", "key") is None
    (tmp_path / "broken").mkdir()
    broken = DiskStore(tmp_path / "broken")
    broken.put("kind", "key", b"value")
    broken.flush()
    for file in (tmp_path / "broken").iterdir():
        file.write_bytes(b"no database" * 1000)
    assert DiskStore(tmp_path / "broken").get("kind", "key") is None
