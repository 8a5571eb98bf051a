"""The cache: facts come back, other processes are not waited for, and losing it is no error."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time
from pathlib import Path

import pytest

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


DAMAGE = {
    "noise": lambda file: file.write_bytes(bytes(range(256)) * 40),
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:5000]),
    "another program's": lambda file: _foreign(file, "create table other (a)"),
    "another layout": lambda file: _foreign(file, "create table facts (kind, name)"),
    "pages overwritten": lambda file: file.write_bytes(file.read_bytes()[:4096] + b"\xff" * 60_000),
}  # fmt: skip


def _foreign(file: Path, statement: str) -> None:
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_cache_is_replaced_and_said_so(tmp_path: Path, how: str) -> None:
    store = DiskStore(tmp_path)
    for number in range(500):
        store.put("kind", str(number), b"value" * 20)
    store.flush()
    (file,) = tmp_path.glob("*.sqlite")
    assert store._connection is not None
    store._connection.close()
    DAMAGE[how](file)
    os.utime(file, (1, 1))
    told: list[str] = []
    second = DiskStore(tmp_path, told.append)
    for number in range(500):
        second.get("kind", str(number))
    second.put("kind", "new", b"again")
    second.flush()
    assert DiskStore(tmp_path, told.append).get("kind", "new") == b"again"
    (line,) = told
    assert str(file) in line
    assert "was replaced" in line or "was empty and was made again" in line


def test_a_cache_that_cannot_be_replaced_is_said_so(tmp_path: Path) -> None:
    DiskStore(tmp_path).get("kind", "key")
    (file,) = tmp_path.glob("*.sqlite")
    file.unlink()
    file.mkdir()
    told: list[str] = []
    store = DiskStore(tmp_path, told.append)
    store.put("kind", "key", b"value")
    store.flush()
    assert store.get("kind", "key") is None
    assert file.is_dir()


def test_the_cache_is_not_read_by_another_state_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module that can change a fact is part of the stamp, in whatever folder it stands."""
    import shutil

    import guard
    from guard.store.cache import _code_version

    copy = tmp_path / "guard"
    shutil.copytree(Path(guard.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(guard, "__file__", str(copy / "__init__.py"))
    stamps = {_code_version()}
    for room in ("documents", "judge", "sync", "provenance", "checks", "lint"):
        module = next(path for path in (copy / room).rglob("*.py"))
        module.write_text(module.read_text() + "\n# changed\n")
        stamps.add(_code_version())
    assert len(stamps) == 7
