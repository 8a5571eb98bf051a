"""`guard comment` against a server of this machine that keeps comments as GitHub and GitLab do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from guard.commands.comment import body_of
from guard.report.markdown import MARKER
from tests.syncs import Guard

TOKEN = "s3cret-token"
FORGES = ["github", "gitlab"]


class Forge:
    """Comments of one request, those of others among them; who calls with the right token owns the id 7."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.calls: list[tuple[str, str]] = []
        self.knows_me = True
        self.refuses = False
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                return

            def _answer(self, status: int, document: object) -> None:
                data = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _do(self) -> None:
                parts = urlsplit(self.path)
                forge.calls.append((self.command, parts.path))
                told = self.headers.get("Authorization", "").removeprefix("Bearer ") or self.headers.get(
                    "PRIVATE-TOKEN"
                )
                size = int(self.headers.get("Content-Length") or 0)
                sent = json.loads(self.rfile.read(size)) if size else {}
                if told != TOKEN or (forge.refuses and self.command != "GET"):
                    self._answer(403, {"message": "Resource not accessible by integration"})
                elif parts.path.endswith("/user"):
                    self._answer(200 if forge.knows_me else 403, {"id": 7})
                elif self.command == "GET":
                    page = int(parse_qs(parts.query)["page"][0])
                    self._answer(200, forge.comments[100 * (page - 1) : 100 * page])
                elif self.command == "POST":
                    forge.add(sent["body"], 7, "Bot")
                    self._answer(201, {})
                else:
                    number = int(parts.path.rpartition("/")[2])
                    next(each for each in forge.comments if each["id"] == number)["body"] = sent["body"]
                    self._answer(200, {})

            do_GET = do_POST = do_PATCH = do_PUT = _do  # noqa: N815

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def add(self, body: str, author: int, kind: str = "User") -> None:
        who = {"id": author, "type": kind}
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": who, "author": who})


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    kept = Forge()
    thread = threading.Thread(target=kept.server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{kept.server.server_address[1]}"
    for name, value in {
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REPOSITORY": "team/repo",
        "GITHUB_API_URL": address,
        "GITHUB_REF": "refs/pull/12/merge",
        "GITLAB_TOKEN": TOKEN,
        "CI_API_V4_URL": f"{address}/api/v4",
        "CI_PROJECT_ID": "99",
        "CI_MERGE_REQUEST_IID": "12",
    }.items():
        monkeypatch.setenv(name, value)
    yield kept
    kept.server.shutdown()
    kept.server.server_close()
    thread.join()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    file = tmp_path / "guard.md"
    file.write_text(f"{MARKER}\n### guard: #5798 is reverted\n")
    return file


@pytest.mark.parametrize("name", FORGES)
def test_one_comment_is_written_renewed_and_left(forge: Forge, guard: Guard, report: Path, name: str) -> None:
    for number in range(130):
        forge.add(f"talk {number}", 1)
    run = lambda *more: guard("comment", str(report), f"--{name}", *more, folder=report.parent)  # noqa: E731
    assert run().errors.startswith("written")
    assert forge.comments[-1]["body"].startswith(f"{MARKER}\n### guard: #5798")
    assert run().errors.startswith("unchanged")
    report.write_text(f"{MARKER}\n### guard: nothing lost\n")
    assert run("--link", "https://example.org/run/1").errors.startswith("renewed")
    assert len(forge.comments) == 131
    assert forge.comments[-1]["body"].endswith("nothing lost\n\n[The whole report](https://example.org/run/1)\n")
    places = {path for method, path in forge.calls if method == "POST"}
    expected = {
        "github": "/repos/team/repo/issues/12/comments",
        "gitlab": "/api/v4/projects/99/merge_requests/12/notes",
    }
    assert places == {expected[name]}


@pytest.mark.parametrize("name", FORGES)
def test_the_comment_of_another_is_never_taken_for_ones_own(
    forge: Forge, guard: Guard, report: Path, name: str
) -> None:
    forge.add(f"{MARKER}\nI only look like guard", 1)
    assert guard("comment", str(report), f"--{name}", folder=report.parent).status == 0
    assert [each["body"].splitlines()[1] for each in forge.comments] == [
        "I only look like guard",
        "### guard: #5798 is reverted",
    ]


def test_the_token_of_a_job_knows_its_bots_comment(forge: Forge, guard: Guard, report: Path) -> None:
    forge.knows_me = False
    forge.add(f"{MARKER}\na person", 1)
    forge.add(f"{MARKER}\nolder report", 41, "Bot")
    assert guard("comment", str(report), "--github", folder=report.parent).errors.startswith("renewed")
    assert forge.comments[0]["body"].endswith("a person")
    assert "#5798" in forge.comments[1]["body"]


@pytest.mark.parametrize("name", FORGES)
def test_what_the_server_refuses_is_exit_2_without_the_token(
    forge: Forge, guard: Guard, report: Path, name: str
) -> None:
    forge.refuses = True
    answer = guard("comment", str(report), f"--{name}", folder=report.parent)
    assert answer.status == 2
    assert "403" in answer.errors
    assert "Resource not accessible" in answer.errors
    assert TOKEN not in answer.errors


@pytest.mark.parametrize(
    ("unset", "said"),
    [
        ("GITHUB_TOKEN", "GITHUB_TOKEN is not set"),
        ("GITHUB_REPOSITORY", "GITHUB_REPOSITORY is not set"),
        ("GITHUB_REF", "Give --number"),
    ],
)
def test_what_is_missing_is_named(
    forge: Forge, guard: Guard, report: Path, monkeypatch: pytest.MonkeyPatch, unset: str, said: str
) -> None:
    monkeypatch.delenv(unset)
    monkeypatch.delenv("GH_TOKEN", raising=False)
    answer = guard("comment", str(report), "--github", folder=report.parent)
    assert (answer.status, said in answer.errors) == (2, True)
    assert forge.calls == []


def test_a_token_is_not_sent_in_the_clear(
    forge: Forge, guard: Guard, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://example.org")
    answer = guard("comment", str(report), "--github", folder=report.parent)
    assert (answer.status, "no https address" in answer.errors) == (2, True)


def test_reports_one_below_the_other_within_the_limit(tmp_path: Path) -> None:
    one, two = tmp_path / "a.md", tmp_path / "b.md"
    assert "the check could not run" in body_of((one, two), None, 1000)
    one.write_text(f"{MARKER}\nfirst\n")
    two.write_text(f"{MARKER}\nsecond\n")
    assert body_of((one, two), None, 1000) == f"{MARKER}\nfirst\n\n---\n\nsecond\n"
    two.write_text(f"{MARKER}\n{'x' * 2000}\n")
    said = body_of((one, two), "https://example.org", 1000)
    assert len(said) <= 1000
    assert "does not fit" in said
    one.write_text(f"{MARKER}\n{'x' * 2000}\n")
    assert len(body_of((one,), "https://example.org", 1000)) <= 1000
