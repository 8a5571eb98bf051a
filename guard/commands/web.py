"""The web address of a repository, from the address of its remote, for links to commits, lines and requests."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from guard.git import Repository

_SCP = re.compile(r"(?:[\w.+-]+@)?(?P<host>[\w.-]+\.[\w.-]+):(?P<path>(?!/)[^\s:]+)")


def remote_address(repository: Repository) -> str | None:
    """Web address of the remote; None where there is none, or it is no place of the web."""
    name = repository.remote()
    url = repository.git_here("config", "--get", f"remote.{name}.url", accept=(0, 1)).decode("utf-8", "replace")
    return web_address_of(url.strip())


def web_address_of(remote: str) -> str | None:
    """The address at which people read a repository.

    Args:
        remote: as git has it: `https://…`, `ssh://git@host/…` or `git@host:owner/name.git`. A user, a password and a
            port for ssh are left out.

    Returns:
        `https://host/owner/name`, with `/-` behind it for GitLab, or None.
    """
    scp = _SCP.fullmatch(remote)
    if scp:
        host, path = scp["host"], scp["path"]
    else:
        try:
            parts = urlsplit(remote)
            port = parts.port
        except ValueError:
            return None
        if parts.scheme not in {"https", "http", "ssh", "git"} or not parts.hostname:
            return None
        host, path = parts.hostname, parts.path
        if port and parts.scheme in {"https", "http"}:
            host += f":{port}"
    path = quote(path.strip("/").removesuffix(".git"))
    if not path or "/" not in path:
        return None
    return f"https://{host}/{path}" + ("/-" if "gitlab" in host else "")
