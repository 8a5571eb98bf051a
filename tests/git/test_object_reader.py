"""One pipe to git has one owner: whoever reads at the same time as whom, each gets the object that it asked for."""

from __future__ import annotations

import hashlib
import multiprocessing
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from guard.errors import GitError, MissingObjectError
from guard.git import Repository
from guard.git.objects import ObjectReader
from tests.conftest import Workshop


def git_name(data: bytes) -> str:
    """The name that git gives a blob, by its definition."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@pytest.fixture
def texts(workshop: Workshop) -> list[str]:
    """Many blobs, small ones and some larger than a pipe holds; gives their names."""
    draw = random.Random(5)
    files = {f"f{n}.txt": "".join(f"{n} {draw.random()}\n" for _ in range(n * n * 40)) for n in range(1, 24)}
    workshop.commit("texts", dict(files))
    return [git_name(text.encode()) for text in files.values()]


def test_threads_read_what_they_ask_for(workshop: Workshop, texts: list[str]) -> None:
    with Repository.open(workshop.folder) as repository, ThreadPoolExecutor(4) as pool:
        wanted = texts * 20
        random.Random(1).shuffle(wanted)
        assert [git_name(data) for data in pool.map(repository.blob, wanted)] == wanted


def test_a_missing_object_leaves_the_pipe_in_step(workshop: Workshop, texts: list[str]) -> None:
    with Repository.open(workshop.folder) as repository:
        for sha in texts:
            for missing in ("1" * 40, "nonsense", f"{sha}:a b.py", "two\nlines", f"HEAD:{'x' * 5000}"):
                with pytest.raises(MissingObjectError):
                    repository.blob(missing)
            assert git_name(repository.blob(sha)) == sha


def test_a_turn_that_was_cut_off_spoils_no_later_answer(
    workshop: Workshop, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Repository.open(workshop.folder) as repository:
        reader = repository._reader()
        ask = reader._ask

        def interrupted(name: str) -> bytes | None:
            reader._requests.write(name.encode() + b"\n")
            reader._requests.flush()
            raise KeyboardInterrupt

        monkeypatch.setattr(reader, "_ask", interrupted)
        with pytest.raises(KeyboardInterrupt):
            repository.blob(texts[-1])
        monkeypatch.setattr(reader, "_ask", ask)
        with pytest.raises(GitError):
            reader.read(texts[0])
        assert [git_name(repository.blob(sha)) for sha in texts] == texts


def test_an_answer_that_is_not_what_was_asked_for_is_an_error(workshop: Workshop, texts: list[str]) -> None:
    """Names that git understands and that are no full names: the object's own name in the answer differs."""
    with Repository.open(workshop.folder) as repository:
        for name in (texts[0][:12], "HEAD"):
            with pytest.raises(GitError):
                repository.blob(name)


def _elsewhere(reader: ObjectReader, sha: str, answer: multiprocessing.Queue[str]) -> None:
    try:
        reader.read(sha)
    except RuntimeError as error:
        answer.put(str(error))


def test_a_reader_cannot_be_shared_with_another_process(workshop: Workshop, texts: list[str]) -> None:
    with Repository.open(workshop.folder) as repository:
        reader = repository._reader()
        with pytest.raises(TypeError):
            pickle.dumps(reader)
        context = multiprocessing.get_context("fork")
        answer: multiprocessing.Queue[str] = context.Queue()
        child = context.Process(target=_elsewhere, args=(reader, texts[0], answer))
        child.start()
        assert "belongs to the process" in answer.get(timeout=30)
        child.join()
        assert git_name(reader.read(texts[0])) == texts[0]


def _all(repository: Repository, wanted: list[str], answer: multiprocessing.Queue[list[str]]) -> None:
    answer.put([git_name(repository.blob(sha)) for sha in wanted])


def test_forked_processes_read_through_pipes_of_their_own(workshop: Workshop, texts: list[str]) -> None:
    context = multiprocessing.get_context("fork")
    answer: multiprocessing.Queue[list[str]] = context.Queue()
    with Repository.open(workshop.folder) as repository:
        repository.blob(texts[0])
        wanted = texts * 5
        children = [context.Process(target=_all, args=(repository, wanted, answer)) for _ in range(3)]
        for child in children:
            child.start()
        assert [git_name(repository.blob(sha)) for sha in wanted] == wanted
        assert [answer.get(timeout=60) for _ in children] == [wanted] * 3
        for child in children:
            child.join()


def test_closing_does_not_wait_for_an_answer_that_nobody_reads(workshop: Workshop, tmp_path: Path) -> None:
    workshop.commit("large", {"large.txt": "x" * 5_000_000})
    with Repository.open(workshop.folder) as repository:
        reader = repository._reader()
        reader._in_step = False
        reader._requests.write(git_name(b"x" * 5_000_000).encode() + b"\n")
        reader._requests.flush()
        reader.close()


def test_an_index_of_its_own_for_each_use(workshop: Workshop) -> None:
    from guard.git.index import write_tree

    workshop.commit("one", {"a.txt": "a\n"})
    blob = workshop.git("rev-parse", "HEAD:a.txt")
    with Repository.open(workshop.folder) as repository, ThreadPoolExecutor(4) as pool:

        def tree(number: int) -> str:
            return write_tree(repository, "".join(f"100644 {blob}\tf{number}_{k}\0" for k in range(50)).encode())

        made = list(pool.map(tree, range(12)))
        for number, sha in enumerate(made):
            assert sorted(repository.entries(sha)) == sorted(f"f{number}_{k}" for k in range(50))
