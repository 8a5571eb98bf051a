"""The few calls of GitHub's and GitLab's REST interfaces by which a comment is found, written and renewed."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from guard.errors import GuardError
from guard.report.plain import one_line

_SECONDS = 30.0
_PAGES = 100  # of a hundred comments each: more than any discussion has


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of the discussion: where it is changed, its text, and whether the owner of the token wrote it."""

    address: str
    body: str
    own: bool


@dataclass(frozen=True, slots=True)
class Discussion:
    """The comments of one pull or merge request.

    Attributes:
        list_address: where comments are listed and added.
        one_address: prefix of the address of one comment.
        user_address: tells whose the token is.
        headers: of every call; they hold the token, which no message shows.
        update: the method that changes a comment.
        most: characters that a comment may have.
    """

    list_address: str
    one_address: str
    user_address: str
    headers: Mapping[str, str]
    update: str
    most: int

    def keep(self, marker: str, body: str) -> str:
        """Renew the comment that starts with the marker, or write the first one.

        Returns:
            `written`, `renewed` or `unchanged`.

        Raises:
            GuardError: the server refuses, or does not answer.
        """
        known = next((each for each in self._comments() if each.own and each.body.startswith(marker)), None)
        if known is None:
            self._call("POST", self.list_address, {"body": body})
            return "written"
        if known.body.strip() == body.strip():
            return "unchanged"
        self._call(self.update, known.address, {"body": body})
        return "renewed"

    def _comments(self) -> Iterator[Comment]:
        me = self._me()
        for page in range(1, _PAGES + 1):
            joint = "&" if "?" in self.list_address else "?"
            listed = self._call("GET", f"{self.list_address}{joint}per_page=100&page={page}")
            for each in listed:
                author = each.get("user") or each.get("author") or {}
                # The token of a job may not ask who it is; what a job writes is a bot's.
                own = author.get("id") == me if me is not None else author.get("type") == "Bot"
                yield Comment(f"{self.one_address}/{each['id']}", each.get("body") or "", own)
            if len(listed) < 100:
                return

    def _me(self) -> int | None:
        try:
            found = self._call("GET", self.user_address)
        except GuardError:
            return None
        return found.get("id") if isinstance(found, dict) else None

    def _call(self, method: str, address: str, content: Mapping[str, str] | None = None) -> Any:
        data = json.dumps(content).encode() if content is not None else None
        headers = {"User-Agent": "guard", "Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(address, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            detail = one_line(error.read(2000).decode("utf-8", "replace"))
            raise GuardError(
                f"{method} {address}: {error.code} {one_line(error.reason)} {detail[:300]}".strip()
            ) from None
        except (urllib.error.URLError, TimeoutError, ValueError) as error:
            raise GuardError(f"{method} {address}: {one_line(str(getattr(error, 'reason', error)))}") from None


def github(environ: Mapping[str, str], number: int | None) -> Discussion:
    """The pull request that a GitHub job works on.

    Arguments:
        environ: GITHUB_TOKEN or GH_TOKEN, GITHUB_REPOSITORY, GITHUB_API_URL, GITHUB_EVENT_PATH and GITHUB_REF.
        number: of the pull request; None takes that of the event.

    Raises:
        GuardError: one of them is missing.
    """
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    repository = _needed(environ, "GITHUB_REPOSITORY", "OWNER/NAME")
    if not token:
        raise GuardError("GITHUB_TOKEN is not set: a comment needs a token that may write to pull requests")
    number = number or _pull_of_event(environ)
    if number is None:
        raise GuardError("which pull request? Give --number: this is no event of one")
    api = _address(environ.get("GITHUB_API_URL") or "https://api.github.com")
    name = urllib.parse.quote(repository)
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    issues = f"{api}/repos/{name}/issues"
    return Discussion(f"{issues}/{number}/comments", f"{issues}/comments", f"{api}/user", headers, "PATCH", 65_000)


def gitlab(environ: Mapping[str, str], number: int | None) -> Discussion:
    """The merge request that a GitLab job works on.

    Arguments:
        environ: GITLAB_TOKEN, CI_API_V4_URL, CI_PROJECT_ID and CI_MERGE_REQUEST_IID.
        number: of the merge request in its project; None takes the job's.

    Raises:
        GuardError: one of them is missing.
    """
    token = environ.get("GITLAB_TOKEN")
    if not token:
        raise GuardError(
            "GITLAB_TOKEN is not set: a note needs a project access token with the scope api (a job token may not)"
        )
    api = _address(_needed(environ, "CI_API_V4_URL", "https://HOST/api/v4"))
    project = urllib.parse.quote(_needed(environ, "CI_PROJECT_ID", "the number of the project"), safe="")
    given = environ.get("CI_MERGE_REQUEST_IID", "")
    number = number or (int(given) if given.isdecimal() else None)
    if number is None:
        raise GuardError("which merge request? Give --number: this is no pipeline of one")
    notes = f"{api}/projects/{project}/merge_requests/{number}/notes"
    listed = f"{notes}?sort=asc&order_by=created_at"
    return Discussion(listed, notes, f"{api}/user", {"PRIVATE-TOKEN": token}, "PUT", 900_000)


def _needed(environ: Mapping[str, str], name: str, what: str) -> str:
    value = environ.get(name)
    if not value:
        raise GuardError(f"{name} is not set ({what}): outside of a job set it by hand")
    return value


def _address(given: str) -> str:
    """An address that a token may be sent to: over TLS, or to this machine.

    Raises:
        GuardError: it is another one.
    """
    parts = urllib.parse.urlsplit(given)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}):
        return given.rstrip("/")
    raise GuardError(f"{given} is no https address: a token is not sent in the clear")


def _pull_of_event(environ: Mapping[str, str]) -> int | None:
    parts = environ.get("GITHUB_REF", "").split("/")
    return int(parts[2]) if parts[:2] == ["refs", "pull"] and len(parts) > 2 and parts[2].isdecimal() else None
