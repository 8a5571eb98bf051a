"""The Action and the workflows: their files against the tools that know them, their scripts by running them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hooked import FEATURE, PATH, ROOT, Hooked

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
NIGHTLY = ROOT / ".github" / "workflows" / "nightly-sync.yml"
TOOLS = Path(sys.executable).parent
MARKER = "<!-- guard report -->"
OWN = {"full_name": "team/repo"}
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="no jq on this machine, which gh's --jq stands for")

# What `gh api` does with the calls of the workflow: answers from a folder, remembers comments.
GH = """\
#!{python}
import json, os, subprocess, sys
from pathlib import Path

state = Path(os.environ["GH_STATE"])
arguments = sys.argv[2:]
method, query, endpoint, body, fields = "GET", None, None, None, {{}}
while arguments:
    word = arguments.pop(0)
    if word == "--method":
        method = arguments.pop(0)
    elif word == "--jq":
        query = arguments.pop(0)
    elif word in ("-f", "-F"):
        key, _, value = arguments.pop(0).partition("=")
        fields[key] = Path(value[1:]).read_text() if value.startswith("@") else value
    elif not word.startswith("-"):
        endpoint = word
comments = json.loads((state / "comments.json").read_text())
if method == "POST":
    comments.append({{"id": 100 + len(comments), "user": {{"type": "Bot"}}, "body": fields["body"]}})
elif method == "PATCH":
    number = int(endpoint.rsplit("/", 1)[1])
    next(one for one in comments if one["id"] == number)["body"] = fields["body"]
(state / "comments.json").write_text(json.dumps(comments))
if method != "GET":
    sys.exit(0)
answers = json.loads((state / "answers.json").read_text())
answer = comments if endpoint.endswith("/comments") else answers.get(endpoint)
if answer is None:
    sys.exit(f"gh: Not Found: {{endpoint}}")
if query:
    done = subprocess.run(["jq", "-r", query], input=json.dumps(answer), text=True, capture_output=True, check=True)
    print(done.stdout, end="")
"""


def script(file: Path, name: str) -> str:
    """The `run` text of the step with this name."""
    document = yaml.safe_load(file.read_text("utf-8"))
    jobs: list[Any] = [document["runs"]] if "runs" in document else list(document["jobs"].values())
    return next(str(step["run"]) for job in jobs for step in job["steps"] if step.get("name") == name)


class Runner:
    """Runs a step as GitHub's runner does: `bash -e -o pipefail`, with files for outputs and summary."""

    def __init__(self, folder: Path, hooked: Hooked) -> None:
        self.folder = folder
        self.place = folder / "checkout"
        hooked.git("clone", "--quiet", str(hooked.place), str(self.place))
        programs = folder / "runner" / "guard" / "bin"
        programs.mkdir(parents=True)
        shutil.copy(folder / "tools" / "guard", programs / "guard")
        self.summary = folder / "summary"
        self.summary.write_text("")
        self.environment = {
            **hooked.environment,
            "RUNNER_TEMP": str(folder / "runner"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": "team/repo",
        }

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.place, env=self.environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def step(self, text: str, **variables: str) -> tuple[int, str, dict[str, str]]:
        outputs = self.folder / "outputs"
        outputs.write_text("")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text],
            cwd=self.place,
            env={**self.environment, "GITHUB_OUTPUT": str(outputs), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, dict(line.split("=", 1) for line in outputs.read_text().splitlines())


@pytest.fixture
def lossy(tmp_path: Path) -> Runner:
    """A checkout of a sync branch `main2dev/1` whose merge lost main's fix #7."""
    hooked = Hooked(tmp_path)
    hooked.commit({PATH: FEATURE}, "Scale it (#8)")
    hooked.git("checkout", "--quiet", "-b", "main2dev/1")
    hooked.git("merge", "--quiet", "--strategy-option=ours", "--message=Merge main into dev", "main")
    runner = Runner(tmp_path, hooked)
    runner.git("checkout", "--quiet", "--detach", "origin/main2dev/1")
    return runner


def github(runner: Runner, answers: dict[str, Any], comments: list[dict[str, Any]]) -> dict[str, str]:
    state = runner.folder / "gh"
    state.mkdir()
    (state / "answers.json").write_text(json.dumps(answers))
    (state / "comments.json").write_text(json.dumps(comments))
    program = runner.folder / "tools" / "gh"
    program.write_text(GH.format(python=sys.executable))
    program.chmod(0o755)
    return {"GH_STATE": str(state), "TARGET": "dev", "SOURCE": "main", "SYNC_PREFIX": "main2dev/", "REQUESTED": ""}


@pytest.mark.skipif(not (TOOLS / "zizmor").exists(), reason="zizmor is not installed beside this Python")
def test_zizmor_finds_nothing() -> None:
    done = subprocess.run(
        [TOOLS / "zizmor", "--offline", "--no-progress", "--quiet", *WORKFLOWS, ROOT / "action.yml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not (TOOLS / "check-jsonschema").exists(), reason="check-jsonschema is not installed")
@pytest.mark.parametrize(
    ("schema", "files"), [("vendor.github-workflows", WORKFLOWS), ("vendor.github-actions", [ROOT / "action.yml"])]
)
def test_the_files_follow_their_published_schema(schema: str, files: list[Path]) -> None:
    done = subprocess.run(
        [TOOLS / "check-jsonschema", "--builtin-schema", schema, *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflows_are_there() -> None:
    assert [file.name for file in WORKFLOWS] == ["ci.yml", "gpu.yml", "nightly-sync.yml", "release.yml"]


def test_actions_are_pinned_with_their_version() -> None:
    for file in [*WORKFLOWS, ROOT / "action.yml"]:
        for line in re.findall(r"uses: (.*)", file.read_text("utf-8")):
            assert line == "$/" or re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_no_script_takes_an_expression() -> None:
    for file in [*WORKFLOWS, ROOT / "action.yml"]:
        document = yaml.safe_load(file.read_text("utf-8"))
        jobs = [document["runs"]] if "runs" in document else document["jobs"].values()
        assert not [step for job in jobs for step in job["steps"] if "${{" in step.get("run", "")]


def test_only_the_job_that_comments_may_write_and_it_runs_no_foreign_code() -> None:
    jobs = yaml.safe_load(NIGHTLY.read_text("utf-8"))["jobs"]
    writers = {name for name, job in jobs.items() if "write" in job["permissions"].values()}
    assert writers == {"report"}
    assert not any("checkout" in step.get("uses", "") for step in jobs["report"]["steps"])


def test_init_writes_this_workflow() -> None:
    template = ROOT / "guard" / "commands" / "templates" / "nightly-sync.yml"
    assert template.read_text("utf-8") == NIGHTLY.read_text("utf-8")


def test_the_action_reports_a_loss(lossy: Runner) -> None:
    status, said, outputs = lossy.step(
        script(ROOT / "action.yml", "Check"),
        GUARD_SINCE="",
        GITHUB_BASE_REF="dev",
        GUARD_FAIL_ON="error",
        GUARD_ON_NOTHING="warn",
        GUARD_ARGS="--no-cache --jobs 1",
        GUARD_OUTPUT="out folder",
    )
    assert status == 1, said
    assert "::error file=moe/loss scale é.py,line=5" in said
    assert outputs["status"] == "1"
    assert int(outputs["errors"]) >= 1
    for kind, name in (("sarif", "sarif"), ("json", "json"), ("markdown", "md"), ("html", "html")):
        assert outputs[kind] == f"out folder/guard.{name}"
        assert (lossy.place / outputs[kind]).stat().st_size > 100
    assert lossy.summary.read_text().startswith(MARKER)


ACTION = {"GUARD_FAIL_ON": "error", "GUARD_ON_NOTHING": "warn", "GUARD_OUTPUT": "out", "GITHUB_BASE_REF": ""}


def test_the_action_checks_what_a_push_to_the_target_added(lossy: Runner) -> None:
    check = script(ROOT / "action.yml", "Check")
    before = lossy.git("rev-parse", "HEAD^1")
    status, said, outputs = lossy.step(check, **ACTION, GUARD_SINCE="", GUARD_ARGS="", GUARD_BEFORE=before)
    assert (status, outputs["status"]) == (1, "1"), said
    # The push of a new branch, and one that took the old commits away.
    for gone in ("0" * 40, "1" * 40):
        status, said, _ = lossy.step(check, **ACTION, GUARD_SINCE="", GUARD_ARGS="", GUARD_BEFORE=gone)
        assert status in {0, 1}, said
        assert ("the commit before the push is gone" in said) == (gone == "1" * 40)


def test_the_action_reads_its_arguments_as_a_shell_does(lossy: Runner) -> None:
    check = script(ROOT / "action.yml", "Check")
    variables = {**ACTION, "GUARD_SINCE": "origin/dev...HEAD"}
    arguments = "--no-cache\n  --output-format 'concise=a file.txt'\n--select GRD2,GRD3\n"
    assert lossy.step(check, **variables, GUARD_ARGS=arguments)[0] == 1
    assert "GRD2" in (lossy.place / "a file.txt").read_text()
    status, said, _ = lossy.step(check, **variables, GUARD_ARGS="--select 'GRD2")
    assert (status, "open quote" in said) == (2, True)


@pytest.mark.parametrize("name", ["nightly-sync.yml", "gpu.yml"])
def test_nothing_is_installed_by_a_name_that_nobody_was_asked_about(lossy: Runner, name: str) -> None:
    file = ROOT / ".github" / "workflows" / name
    document = yaml.safe_load(file.read_text("utf-8"))
    assert document["env"]["GUARD_PACKAGE"] == "${{ vars.GUARD_PACKAGE }}"
    status, said, _ = lossy.step(script(file, "Install guard"), GUARD_PACKAGE="")
    assert (status, "GUARD_PACKAGE" in said) == (2, True)


@pytest.mark.parametrize(("choice", "expected"), [("warn", 0), ("fail", 3)])
def test_the_action_never_passes_in_silence(lossy: Runner, choice: str, expected: int) -> None:
    status, said, outputs = lossy.step(
        script(ROOT / "action.yml", "Check"),
        GUARD_SINCE="HEAD",
        GUARD_FAIL_ON="error",
        GUARD_ON_NOTHING=choice,
        GUARD_ARGS="",
        GUARD_OUTPUT="out",
    )
    assert (status, outputs["status"]) == (expected, "3"), said
    assert ("::warning title=guard::nothing was checked" in said) == (choice == "warn")


def test_the_action_fails_where_guard_cannot_run(lossy: Runner) -> None:
    status, said, outputs = lossy.step(
        script(ROOT / "action.yml", "Check"),
        GUARD_SINCE="no-such-revision",
        GUARD_FAIL_ON="never",
        GUARD_ON_NOTHING="warn",
        GUARD_ARGS="",
        GUARD_OUTPUT="out",
    )
    assert status == 2, said
    assert outputs == {"status": "2"}


@needs_jq
def test_the_nightly_finds_the_newest_sync(lossy: Runner) -> None:
    pulls = [
        {"number": 13, "head": {"ref": "main2dev/3", "repo": {"full_name": "stranger/repo"}}},
        {"number": 12, "head": {"ref": "feature/x", "repo": OWN}},
        {"number": 11, "head": {"ref": "main2dev/2", "repo": OWN}},
        {"number": 9, "head": {"ref": "main2dev/1", "repo": OWN}},
    ]
    answers = {
        "repos/team/repo/pulls": pulls,
        "repos/team/repo/pulls/13": {"head": {"sha": "e" * 40, "repo": {"full_name": "stranger/repo"}}},
        "repos/team/repo/pulls/11": {"head": {"sha": "b" * 40, "repo": OWN}},
        "repos/team/repo/pulls/9": {"head": {"sha": "c" * 40, "repo": OWN}},
        "repos/team/repo/commits/dev": {"sha": "d" * 40},
    }
    variables = github(lossy, answers, [])
    find = script(NIGHTLY, "Find the sync")
    assert lossy.step(find, **variables)[2] == {"pull": "11", "head": "b" * 40}
    assert lossy.step(find, **{**variables, "REQUESTED": "9"})[2] == {"pull": "9", "head": "c" * 40}
    status, said, outputs = lossy.step(find, **{**variables, "REQUESTED": "13"})
    assert (status, outputs, "comes from a fork" in said) == (2, {}, True)
    status, said, outputs = lossy.step(find, **{**variables, "SYNC_PREFIX": "none/"})
    assert (status, outputs) == (0, {"pull": "", "head": "d" * 40})
    assert "::notice" in said


def test_the_nightly_check_with_and_without_a_pull_request(lossy: Runner) -> None:
    check = script(NIGHTLY, "Check")
    variables = {"TARGET": "dev", "SOURCE": "main", "GITHUB_SERVER_URL": "https://example.org"}
    status, said, _ = lossy.step(check, PULL="9", **variables)
    assert status == 1, said
    assert sorted(file.name for file in (lossy.place / "reports").iterdir()) == [
        "guard.html",
        "guard.json",
        "guard.md",
        "guard.sarif",
    ]
    assert "https://example.org/team/repo/pull/7" in (lossy.place / "reports" / "guard.md").read_text()
    # With no pull request the syncs of the last eight days count; these are from now.
    assert lossy.step(check, PULL="", **variables)[0] == 1
    status, said, _ = lossy.step(check, PULL="9", **{**variables, "TARGET": "nope"})
    assert (status, "there is no branch nope" in said) == (2, True)


@needs_jq
def test_the_nightly_comments_once_and_renews_the_comment(lossy: Runner) -> None:
    comment = script(NIGHTLY, "Comment once, and renew the comment")
    person = {"id": 1, "user": {"type": "User"}, "body": f"{MARKER} quoted by a person"}
    other = {"id": 2, "user": {"type": "Bot"}, "body": "coverage"}
    variables = {**github(lossy, {}, [person, other]), "PULL": "9", "RUN": "https://example.org/run/1"}
    reports, measured = lossy.place / "judged" / "guard-check", lossy.place / "measured" / "guard-verify"
    for folder in (reports, measured):
        folder.mkdir(parents=True)
    (reports / "guard.md").write_text(f"{MARKER}\n### guard: first\n")
    (measured / "guard.md").write_text(f"{MARKER}\n### guard: forged by the code of the sync\n")
    (measured / "verify.md").write_text(f"{MARKER}\n### guard: invariances\n")
    assert lossy.step(comment, **variables)[0] == 0
    (reports / "guard.md").write_text(f"{MARKER}\n### guard: second\n" + "x" * 64_960)
    assert lossy.step(comment, **variables)[0] == 0
    bodies = [one["body"] for one in json.loads((lossy.folder / "gh" / "comments.json").read_text())]
    assert not any("forged" in body for body in bodies)
    assert bodies[:2] == [person["body"], "coverage"]
    assert len(bodies) == 3
    assert bodies[2].startswith(f"{MARKER}\n### guard: second\n")
    assert bodies[2].endswith("\n[The whole report](https://example.org/run/1)\n")
    assert "invariances" not in bodies[2]
    assert len(bodies[2]) < 65_536
    (reports / "guard.md").unlink()
    lossy.step(comment, **variables)
    last = json.loads((lossy.folder / "gh" / "comments.json").read_text())[2]["body"]
    assert last.count(MARKER) == 1
    assert "could not run" in last
    assert "invariances" in last


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_verify_steps_pass_on_the_status(lossy: Runner, status: int) -> None:
    program = lossy.folder / "runner" / "guard" / "bin" / "guard"
    program.write_text(
        '#!/bin/sh\nfor word in "$@"; do case "$word" in markdown=*) echo "$@" > "${word#*=}";; esac; done\n'
        f"exit {status}\n"
    )
    done = lossy.step(script(NIGHTLY, "Verify"))
    assert done[0] == status
    assert "verify --tree HEAD --device cpu" in lossy.summary.read_text()
    gpu = ROOT / ".github" / "workflows" / "gpu.yml"
    assert lossy.step(script(gpu, "Measure"), TREE="HEAD", SUITE="full", RANKS="8")[0] == status
    assert "verify --device cuda --tree HEAD --suite full --ranks 8" in lossy.summary.read_text()
