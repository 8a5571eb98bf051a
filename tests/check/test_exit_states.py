"""Exit 0, 1, 2 and 3 of `guard check`, and what it says with each."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

BASE = {"c.yaml": "a: 1\nb: 1\n"}
OURS = {"c.yaml": "a: 2\nb: 1\n"}
THEIRS = {"c.yaml": "a: 1\nb: 2\n"}


def sync(workshop: Workshop) -> str:
    return make_sync(workshop, BASE, OURS, THEIRS, THEIRS)


@pytest.mark.parametrize(("least", "status"), [("error", 0), ("warning", 1), ("note", 1), ("never", 0)])
def test_fail_on(workshop: Workshop, guard: Guard, least: str, status: int) -> None:
    merge = sync(workshop)
    answer = guard.check("--merge", merge, "--select", "GRD2", "--fail-on", least, folder=workshop.folder)
    assert (answer.status, [f["severity"] for f in answer.findings("GRD208")]) == (status, ["warning"])


def test_fail_on_from_the_configuration(workshop: Workshop, guard: Guard) -> None:
    merge = sync(workshop)
    (workshop.folder / "pyproject.toml").write_text('[tool.guard]\nfail-on = "warning"\n')
    assert guard.check("--merge", merge, "--select", "GRD2", folder=workshop.folder).status == 1
    assert guard.check("--merge", merge, "--select", "GRD2", "--fail-on", "error").status == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("protectd = []\n", "guard.toml:1: unknown key 'protectd'"),
        ('\n\nfail-on = "sometimes"\n', "guard.toml:3: fail_on must be one of"),
        ("target = 3\n", "guard.toml:1: tool.guard.target must be of type str"),
        ('[[coupled]]\nreason = "x"\n', "needs the key 'paths'"),
        ('[[take-theirs]]\npaths = ["a"]\nuntil = 3\n', "guard.toml:3: unknown key 'until'"),
        ("a = [\n", "guard.toml:"),
        ('ignore = ["GRD999x"]\n', "GRD999x"),
    ],
)
def test_a_wrong_configuration_is_exit_2(workshop: Workshop, guard: Guard, settings: str, said: str) -> None:
    merge = sync(workshop)
    (workshop.folder / "guard.toml").write_text(settings)
    answer = guard.check("--merge", merge, folder=workshop.folder)
    assert (answer.status, answer.output) == (2, "")
    assert said in answer.errors


@pytest.mark.parametrize(
    ("which", "said"),
    [
        (("--merge", "nonsense"), "unknown revision 'nonsense'"),
        (("--merge", "-x"), "is not a revision"),
        (("--merge=--output=/tmp/x",), "is not a revision"),
        (("--ours", "HEAD"), "--ours and --theirs go together"),
        (("--since", "HEAD~1", "--merge", "HEAD"), "--since cannot be combined"),
        (("--merge", "HEAD", "-o", "yaml"), "no report format 'yaml'"),
        (("--merge", "HEAD", "--select", "GRD7"), "no code or rule is called 'GRD7'"),
        (("--merge", "HEAD", "--config", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("missing.py",), "missing.py does not exist"),
        (("--merge", "HEAD", "missing.py"), "missing.py does not exist, neither in the work tree nor"),
        (("--merge", "HEAD", ".."), ".. is outside of the repository"),
        (("--merge", "HEAD", "/"), "/ is outside of the repository"),
        (("--merge", ""), "--merge is empty"),
        (("--since", ""), "--since is empty"),
        (("--ours", "HEAD^", "--theirs", ""), "--theirs is empty"),
        (("--landed", "HEAD", "--merge", ""), "--merge is empty"),
    ],
)
def test_what_cannot_run_is_exit_2(workshop: Workshop, guard: Guard, which: tuple[str, ...], said: str) -> None:
    sync(workshop)
    answer = guard("check", *which, folder=workshop.folder)
    assert (answer.status, answer.output) == (2, "")
    assert said in answer.errors


def test_unrelated_histories_and_no_repository_are_exit_2(workshop: Workshop, guard: Guard, tmp_path: Path) -> None:
    sync(workshop)
    other = workshop.git("commit-tree", "HEAD^{tree}", "-m", "other root")
    answer = guard.check("--ours", "HEAD", "--theirs", other, folder=workshop.folder)
    assert answer.status == 2
    assert "unrelated histories" in answer.errors
    (tmp_path / "empty").mkdir()
    answer = guard.check("--merge", "HEAD", folder=tmp_path / "empty")
    assert answer.status == 2
    assert "is not in a git repository" in answer.errors


def test_nothing_checked_is_exit_3(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"a.txt": "1\n"})
    plain = workshop.commit("plain", {"a.txt": "2\n"})
    answer = guard.check("--merge", plain, folder=workshop.folder)
    assert answer.status == 3
    assert "is not a merge" in answer.errors


def test_with_no_merge_in_the_range_it_lints_and_says_so(workshop: Workshop, guard: Guard) -> None:
    start = workshop.commit("base", {"a.py": "a = 1\n"})
    workshop.commit("plain", {"a.py": "a = 2\n"})
    answer = guard.check("--since", start, folder=workshop.folder)
    outcomes = {(o["check"], o["status"]) for o in answer.report["outcomes"] if not o["subject"]}
    assert answer.status == 0
    assert ("lint", "ran") in outcomes
    assert ("lost", "skipped") in outcomes
    shown = guard("check", "--since", start)
    assert "no merge was checked" in shown.output


def test_ignored_findings_do_not_fail(workshop: Workshop, guard: Guard) -> None:
    merge = sync(workshop)
    answer = guard.check(
        "--merge", merge, "--select", "GRD2", "--ignore", "GRD208", "--fail-on", "warning", folder=workshop.folder
    )
    assert (answer.status, answer.findings("GRD208")) == (0, [])


def test_nothing_is_written_into_the_repository(workshop: Workshop, guard: Guard) -> None:
    merge = sync(workshop)

    def state() -> dict[str, tuple[int, int]]:
        files = [path for path in workshop.folder.rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in files}

    before = state()
    answer = guard.check("--merge", merge, folder=workshop.folder)
    found = next(f["fingerprint"] for f in answer.findings("GRD208"))
    guard("explain", found, "--merge", merge)
    assert guard("restore", found, "--merge", merge).status == 0
    assert state() == before


def test_paths_are_relative_to_the_working_directory(workshop: Workshop, guard: Guard, tmp_path: Path) -> None:
    base, ours, theirs = ({f"conf/{name}": text for name, text in side.items()} for side in (BASE, OURS, THEIRS))
    merge = make_sync(workshop, base, ours, theirs, theirs)
    folder = workshop.folder / "conf"
    (tmp_path / "way").symlink_to(folder)
    for path in ("c.yaml", ".", "../conf", "./c.yaml", str(folder / "c.yaml"), str(tmp_path / "way" / "c.yaml")):
        answer = guard.check("--merge", merge, path, folder=folder)
        assert [f["path"] for f in answer.findings("GRD208")] == ["conf/c.yaml"], path
    (folder / "c.yaml").unlink()
    assert guard.check("--merge", merge, "c.yaml", folder=folder).findings("GRD2"), "it is in what is judged"
    bare = tmp_path / "bare"
    workshop.git("clone", "-q", "--bare", ".", str(bare))
    assert guard.check("--merge", merge, "conf", folder=bare).findings("GRD2")
    assert guard.check("--merge", merge, "c.yaml", folder=bare).status == 2


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("check --merge HEAD --fail-on never >/dev/full", 2),
        ("rules >/dev/full", 2),
        ("check --merge HEAD --fail-on warning | true", 1),
        ("rules | true", 2),
        ("check --merge HEAD --fail-on warning >&-", 1),
        ("check --merge HEAD -o json=/dev/full", 2),
    ],
)
def test_output_that_nobody_can_read(workshop: Workshop, command: str, status: int) -> None:
    if "/dev/full" in command and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    sync(workshop)
    guard = f"{sys.executable} -m guard {command}"
    script = f"set -o pipefail; {guard}"
    done = subprocess.run(["bash", "-c", script], cwd=workshop.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr


def test_a_fault_is_exit_2_and_not_findings(workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    sync(workshop)
    monkeypatch.setattr("guard.commands.output.render", lambda *_: 1 // 0)
    answer = guard("check", "--merge", "HEAD", folder=workshop.folder)
    assert answer.status == 2
    assert "ZeroDivisionError" in answer.errors


def test_a_device_or_pipe_is_written_to_and_not_replaced(workshop: Workshop, guard: Guard, tmp_path: Path) -> None:
    sync(workshop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    guard("check", "--merge", "HEAD", "-o", f"concise={pipe}", folder=workshop.folder)
    assert b"c.yaml" in os.read(reader, 1 << 16)
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    guard("check", "--merge", "HEAD", "-o", f"json={link}", folder=workshop.folder)
    assert link.is_symlink()
    assert "c.yaml" in guard("check", "--merge", "HEAD", "-o", "concise=/dev/stdout", folder=workshop.folder).output


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1", "git config --global --add safe.directory"),
        ("PATH", "/nonexistent", "git is not on the PATH"),
        ("GIT_DIR", "/nonexistent", "not a git repository"),
    ],
)
def test_a_repository_that_git_cannot_open_is_not_a_plain_folder(
    workshop: Workshop, guard: Guard, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    sync(workshop)
    monkeypatch.setenv(name, value)
    answer = guard("check", folder=workshop.folder)
    assert (answer.status, answer.output) == (2, "")
    assert said in answer.errors


def test_a_plain_folder_is_linted_and_said_to_be_one(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    answer = guard("check", folder=tmp_path)
    assert (answer.status, answer.errors) == (0, "")
    assert "no merge was checked: this is no git repository" in answer.output


def test_what_has_no_end_is_no_file_to_lint(guard: Guard, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from pipe import x\n\n\ndef f(y):\n    return process_mtp_loss(y, x)\n")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    (tmp_path / "gone.py").symlink_to("nowhere.py")
    answer = guard.check(".", folder=tmp_path)
    assert answer.report["summary"]["files"] == 1
    assert [(o["subject"], o["status"]) for o in answer.report["outcomes"] if o["subject"]] == [
        ("nowhere.py", "skipped")
    ]


def test_a_file_that_does_not_parse_is_an_error_at_its_line_and_not_analysed(workshop: Workshop, guard: Guard) -> None:
    workshop.write({"a.py": "def f(:\n", "b.py": "x = = 1\n", "c.py": "x = 1\n"})
    alone = guard.check("a.py", "b.py", folder=workshop.folder)
    assert alone.status == 1
    told = [("GRD904", "error", "a.py", 1), ("GRD904", "error", "b.py", 1)]
    assert [(f["code"], f["severity"], f["path"], f["line"]) for f in alone.report["findings"]] == told
    assert [outcome["reason"] for outcome in alone.report["outcomes"]] == [
        "no file could be analysed",
        "not analysed: line 1: invalid syntax",
        "not analysed: line 1: invalid syntax",
    ]
    beside = guard.check("a.py", "c.py", folder=workshop.folder)
    assert beside.status == 1
    assert [(f["code"], f["path"]) for f in beside.report["findings"]] == [("GRD904", "a.py")]
    assert [outcome["status"] for outcome in beside.report["outcomes"]] == ["ran", "skipped"]
