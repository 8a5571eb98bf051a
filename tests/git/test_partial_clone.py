"""Partial clones and damaged ones: nothing of the configuration runs, and what misses costs no more than itself."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from guard.errors import GitError, MissingObjectError
from guard.git import Repository
from guard.git.history import patches
from guard.git.partial import promisor_of
from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = {"loss.py": "def loss(x, n):\n    return x / n\n", "k.txt": "1\n", "a/big.py": "X = 1\n", "lib.so": "\0old\n"}
OURS = BASE | {"loss.py": "def loss(x, n):\n    return x / (n * 2)\n", "a/big.py": "X = 2\n"}
THEIRS = BASE | {"k.txt": "2\n", "lib.so": "\0new\n"}
MERGED = THEIRS  # ours is lost


@pytest.fixture
def source(make_workshop: Callable[[str], Workshop]) -> Workshop:
    """A remote that serves parts, with a merge that lost what ours did."""
    shop = make_workshop("source")
    make_sync(shop, BASE, OURS, THEIRS, MERGED, ours_message="Fix the loss (#12)")
    shop.git("config", "uploadpack.allowFilter", "true")
    shop.git("config", "uploadpack.allowAnySHA1InWant", "true")
    return shop


def clone(source: Workshop, place: Path, what: str = "blob:none") -> Workshop:
    source.git("clone", "-q", "--no-checkout", f"--filter={what}", f"file://{source.folder}", str(place))
    return Workshop(place)


def witness(folder: Path) -> tuple[str, Path]:
    """A program that leaves a file behind when it runs."""
    program, left = folder / "program", folder / "RAN"
    program.write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(left))}\n')
    program.chmod(0o755)
    return str(program), left


@pytest.mark.parametrize("what", ["blob:none", "blob:limit=1", "tree:0"])
def test_a_partial_clone_is_judged_as_the_whole_one(source: Workshop, guard: Guard, tmp_path: Path, what: str) -> None:
    partial = clone(source, tmp_path / "partial", what)
    whole = guard.check("--merge", "dev", "--no-cache", folder=source.folder)
    part = guard.check("--merge", "HEAD", "--no-cache", folder=partial.folder)
    assert whole.status == part.status == 1
    assert part.report["findings"] == whole.report["findings"]
    assert {f["path"] for f in part.findings("GRD2")} == {"a/big.py", "loss.py"}


def test_what_is_needed_comes_in_few_requests(
    source: Workshop, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from guard.git import partial as module

    asked: list[int] = []
    fetch = module.Fetcher._fetch
    monkeypatch.setattr(module.Fetcher, "_fetch", lambda self, shas: (asked.append(len(shas)), fetch(self, shas))[1])
    for n in range(30):
        source.write({f"pkg/m{n}.py": f"from loss import loss\nY{n} = loss({n}, 1)\n"})
    source.commit("Add users")
    source.switch("main")
    source.commit("main", {"k.txt": "3\n"})
    source.switch("dev")
    source.merge("main", {"k.txt": "2\n"})
    partial = clone(source, tmp_path / "partial")
    assert guard.check("--merge", "HEAD", "--no-cache", folder=partial.folder).status in (0, 1)
    assert sum(asked) > 10
    assert len(asked) <= 6, asked


PROGRAMS = {
    "uploadpack": lambda clone, program: clone.git("config", "remote.origin.uploadpack", program),
    "sshCommand": lambda clone, program: (
        clone.git("config", "core.sshCommand", program),
        clone.git("config", "remote.origin.url", "ssh://example.invalid/x"),
    ),
    "ext": lambda clone, program: (
        clone.git("config", "remote.origin.url", f"ext::{program} %S"),
        clone.git("config", "protocol.ext.allow", "always"),
        clone.git("config", "protocol.allow", "always"),
    ),
    "vcs": lambda clone, program: clone.git("config", "remote.origin.vcs", "ext"),
    "helper": lambda clone, program: (
        clone.git("config", "credential.helper", program),
        clone.git("config", "core.askPass", program),
        clone.git("config", "core.gitProxy", program),
    ),
    "name": lambda clone, program: clone.git(
        "config", "--rename-section", "remote.origin", f"remote.--upload-pack={program}"
    ),
    "address": lambda clone, program: clone.git("config", "remote.origin.url", f"--upload-pack={program}"),
}  # fmt: skip


@pytest.mark.parametrize("how", PROGRAMS)
@pytest.mark.parametrize("command", [("check",), ("check", "--merge", "HEAD"), ("check", "--since", "HEAD~1"),
                                     ("check", "--merge", "1" * 40), ("contains", "HEAD", "--in", "HEAD")])  # fmt: skip
def test_no_program_of_the_configuration_runs(
    source: Workshop, guard: Guard, tmp_path: Path, how: str, command: tuple[str, ...]
) -> None:
    partial = clone(source, tmp_path / "partial")
    program, left = witness(tmp_path)
    PROGRAMS[how](partial, program)
    (partial.folder / ".git/refs/heads/missing").write_text("1" * 40 + "\n")
    answer = guard(*command, folder=partial.folder)
    assert not left.exists(), left.read_text()
    assert "Traceback" not in answer.errors
    assert program not in answer.errors or how in ("name", "address", "ext"), answer.errors


def listing(settings: dict[str, str]) -> bytes:
    """Settings as `git config -z --list` prints them."""
    return "".join(f"{key}\n{value}\0" for key, value in settings.items()).encode()


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({"remote.origin.url": "https://example.org/x", "remote.origin.promisor": "true"}, None),
        ({"remote.--upload-pack=x.url": "https://e.org", "remote.--upload-pack=x.promisor": "true"}, "an option"),
        ({"remote.a.b.url": "--upload-pack=x", "remote.a.b.promisor": "true"}, "an option"),
        ({"remote.o.url": "ext::sh -c x", "remote.o.promisor": "true"}, "names a program"),
        ({"remote.o.promisor": "true"}, "no address"),
        ({"extensions.partialclone": "gone"}, "no address"),
    ],
)
def test_which_remote_is_asked(settings: dict[str, str], refused: str | None) -> None:
    promisor = promisor_of(listing(settings))
    assert promisor is not None
    assert (promisor.refused is None) if refused is None else refused in (promisor.refused or "")


def test_a_clone_without_a_promise_has_no_promisor() -> None:
    assert promisor_of(listing({"remote.origin.url": "https://example.org/x"})) is None


def forget(shop: Workshop, name: str) -> str:
    """Take an object out of a repository, as a clone that was cut short lacks it."""
    sha = shop.git("rev-parse", name)
    for pack in (shop.folder / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        pack.chmod(0o644)
        for file in pack.parent.glob(f"{pack.stem}.*"):
            file.unlink()
        import subprocess

        subprocess.run(["git", "unpack-objects", "-q"], cwd=shop.folder, input=data, check=True)
    place = shop.folder / ".git/objects" / sha[:2] / sha[2:]
    place.chmod(0o644)
    place.unlink()
    return sha


@pytest.mark.parametrize("path", ["lib.so", "a/big.py", "k.txt"])
@pytest.mark.parametrize("tree", ["dev~1", "main", "main~1"])
def test_a_missing_object_costs_its_own_file(source: Workshop, guard: Guard, path: str, tree: str) -> None:
    sha = forget(source, f"{tree}:{path}")
    answer = guard.check("--merge", "dev", "--no-cache", folder=source.folder)
    assert answer.status == 1, answer.errors
    assert "loss.py" in {finding["path"] for finding in answer.findings("GRD2")}
    told = [outcome for outcome in answer.report["outcomes"] if outcome.get("subject") == path]
    assert any("not in this clone" in (outcome["reason"] or "") for outcome in told), answer.report["outcomes"]
    assert any(f"git fetch origin {sha}" in (outcome["reason"] or "") for outcome in answer.report["outcomes"])


def test_a_rename_search_reads_only_what_can_be_read(source: Workshop, guard: Guard) -> None:
    """An unrelated library that went on one side, another that came: git compares them, and one is not here."""
    source.switch("main")
    source.commit("libs", {"lib.so": None, "libs/other.so": "\0" + "x" * 500, "new/loss2.py": BASE["loss.py"]})
    source.switch("dev")
    source.commit("Fix the loss again (#13)", {"moved.py": "def f():\n    return 1\n", "loss.py": OURS["loss.py"]})
    source.merge("main", {"loss.py": BASE["loss.py"]}, message="Merge main again")
    forget(source, "main:libs/other.so")
    answer = guard.check("--merge", "dev", "--no-cache", folder=source.folder)
    assert answer.status == 1, answer.errors + answer.output
    assert "loss.py" in {finding["path"] for finding in answer.findings("GRD2")}


def test_patches_leave_out_the_files_of_which_a_version_is_missing(source: Workshop) -> None:
    forget(source, "main~1:lib.so")
    with Repository.open(source.folder) as repository:
        tip = repository.resolve("main")
        with pytest.raises(MissingObjectError):
            repository.git("log", "-p", tip)
        told = patches(repository, ("-p", "--text", tip), ("lib.so", "k.txt"))
        assert b"k.txt" in told
        assert b"lib.so" not in told


def test_a_tree_that_unfolds_without_an_end_is_refused(workshop: Workshop) -> None:
    """Ten levels of ten names each, all one object: ten thousand million files in a few hundred bytes."""
    workshop.commit("base", {"a.py": "x = 1\n"})
    tree = workshop.git("rev-parse", "HEAD^{tree}")
    for _ in range(10):
        tree = workshop.git("mktree", stdin="".join(f"040000 tree {tree}\td{n}\n" for n in range(10)))
    commit = workshop.git("commit-tree", tree, "-p", "HEAD", "-m", "bomb")
    with Repository.open(workshop.folder) as repository, pytest.raises(GitError, match="more than"):
        repository.entries(commit)


def test_a_remote_that_is_named_as_an_option_is_in_no_line_to_paste(source: Workshop, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow"
    source.git("clone", "-q", "--depth=1", f"file://{source.folder}", str(shallow))
    Workshop(shallow).git("config", "--rename-section", "remote.origin", "remote.--upload-pack=touch x;")
    with Repository.open(shallow) as repository:
        assert "--upload-pack" not in repository.remote()
