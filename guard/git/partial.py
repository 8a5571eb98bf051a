"""A partial clone: which remote has what it lacks, and bringing that in batches.

git would fetch a missing object on its own, one at a time, with the programs that the clone's configuration names
(`core.sshCommand`, `remote.*.uploadpack`). guard asks for what it needs itself, from a git directory of its own that
knows nothing but the remote's address and the headers to send.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from guard.errors import GitError
from guard.git.command import GitCommand

# Transports that git itself has. `ext::` and other helpers run a program that the address names.
PROTOCOLS = "file:git:http:https:ssh"
_REMOTE = re.compile(r"^remote\.(?P<name>.*)\.(?P<key>url|promisor|partialclonefilter)$", re.IGNORECASE | re.DOTALL)
_HEADER = re.compile(r"^http\.(?:.*\.)?extraheader$", re.IGNORECASE | re.DOTALL)
# Objects named in one request; servers limit how long they work on one.
_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Promisor:
    """The remote that promised the objects a partial clone lacks.

    Attributes:
        name: as the clone calls it.
        url: its address.
        headers: `http.*.extraheader` settings: what a CI job authenticates with.
        refused: why it is not asked, if it is not.
    """

    name: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    refused: str | None = None


def promisor_of(listing: bytes) -> Promisor | None:
    """The promisor remote of a clone's own configuration; None where the clone is not partial.

    Arguments:
        listing: what `git config -z --list` prints.
    """
    remotes: dict[str, dict[str, str]] = {}
    headers, named = [], None
    for key, value in _settings(listing):
        match = _REMOTE.match(key)
        if match:
            remotes.setdefault(match["name"], {}).setdefault(match["key"].lower(), value)
        elif _HEADER.match(key):
            headers.append((key, value))
        elif key.lower() == "extensions.partialclone":
            named = value
    promised = [name for name, keys in remotes.items() if "promisor" in keys or name == named]
    if named is not None and named not in promised:
        promised.append(named)
    if not promised:
        return None
    name = named if named in promised else promised[0]
    url = remotes.get(name, {}).get("url", "")
    return Promisor(name, url, tuple(headers), _refusal(name, url))


def _settings(listing: bytes) -> Iterator[tuple[str, str]]:
    """Keys and values of `git config -z --list`."""
    for entry in listing.split(b"\0"):
        key, _, value = entry.decode("utf-8", "surrogateescape").partition("\n")
        if key:
            yield key, value


def _refusal(name: str, url: str) -> str | None:
    if name.startswith("-"):
        return f"the remote's name {name!r} is an option of git"
    if not url:
        return f"the remote {name!r} has no address"
    if url.startswith("-"):
        return f"the remote's address {url!r} is an option of git"
    if re.match(r"[A-Za-z0-9][A-Za-z0-9+.-]*::", url):
        return f"the remote's address {url!r} names a program"
    return None


@dataclass(slots=True)
class Fetcher:
    """Brings objects of a partial clone into the scratch directory. Each is asked for once.

    Attributes:
        directory: an empty folder for git's use.
        objects: object directory that gets what was brought.
        borrowed: content of `info/alternates` for it.
    """

    promisor: Promisor
    directory: Path
    objects: Path
    object_format: str
    failed: str | None = None
    _asked: set[str] = field(default_factory=set)
    _command: GitCommand | None = None

    def bring(self, shas: Iterable[str]) -> None:
        """Fetch objects, in batches. What the remote does not give stays missing; `failed` then says why."""
        wanted = sorted(set(shas) - self._asked)
        self._asked.update(wanted)
        if not wanted:
            return
        if self.promisor.refused is not None:
            self.failed = self.promisor.refused
            return
        for start in range(0, len(wanted), _BATCH):
            try:
                self._fetch(wanted[start : start + _BATCH])
            except GitError as error:
                self.failed = str(error)

    def _fetch(self, shas: Sequence[str]) -> None:
        if self._command is None:
            self._command = self._make()
        options = ("--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--quiet")
        settings = ("-c", "fetch.negotiationAlgorithm=noop", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
        stdin = "".join(f"{sha}\n" for sha in shas).encode("ascii")
        self._command.run(*settings, "fetch", *options, "--stdin", "promisor", stdin=stdin)

    def _make(self) -> GitCommand:
        (self.directory / "refs").mkdir(parents=True)
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")
        (self.directory / "config").write_text(_configuration(self.object_format, self.promisor), "utf-8")
        places = {
            "GIT_DIR": self.directory,
            "GIT_COMMON_DIR": self.directory,
            "GIT_OBJECT_DIRECTORY": self.objects,
            "GIT_WORK_TREE": self.directory,
            "GIT_GRAFT_FILE": os.devnull,
        }
        # The user's own configuration counts here: it knows how to authenticate.
        environment = {name: str(place) for name, place in places.items()}
        quiet = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": "", "GIT_ALLOW_PROTOCOL": PROTOCOLS}
        return GitCommand(self.directory, {**environment, **quiet})


def _configuration(object_format: str, promisor: Promisor) -> str:
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = false", "[extensions]"]
    if object_format != "sha1":
        lines.append(f"\tobjectFormat = {object_format}")
    lines += ['[remote "promisor"]', f"\turl = {_quoted(promisor.url)}", "\tpromisor = true"]
    lines.append("\tpartialclonefilter = blob:none")
    for key, value in promisor.headers:
        address = key[len("http.") : -len(".extraheader")] if key.count(".") > 1 else ""
        lines += [f"[http {_quoted(address)}]" if address else "[http]", f"\textraheader = {_quoted(value)}"]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
