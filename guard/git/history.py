"""Patches of a side's history, told without what a clone lacks."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence

from guard.errors import MissingObjectError
from guard.git.repository import PATCHES, Repository

_CHANGE = re.compile(rb":\d+ \d+ ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*")


def patches(repository: Repository, arguments: Sequence[str], paths: Sequence[str]) -> bytes:
    """What `git log` prints of the patches to some files; files of which a version is not here are left out.

    Arguments:
        arguments: of `git log`, without paths.
        paths: files to look in; empty for all.

    Raises:
        MissingObjectError: without paths, where something is missing.
    """
    try:
        return repository.git("log", *arguments, "--", *paths)
    except MissingObjectError:
        if not paths:
            raise
    versions = _versions(repository, arguments, paths)
    sizes = repository.sizes(sha for shas in versions.values() for sha in shas)
    whole = [path for path in paths if all(sizes[sha] is not None for sha in versions[path])]
    return repository.git("log", *arguments, "--", *whole) if whole else b""


def _versions(repository: Repository, arguments: Sequence[str], paths: Sequence[str]) -> dict[str, set[str]]:
    """The blobs that the patches to each file are made of."""
    plain = [argument for argument in arguments if argument not in PATCHES and not argument.startswith("--format")]
    raw = repository.git("log", "--raw", "--no-abbrev", "-z", "--format=", *plain, "--", *paths)
    versions: dict[str, set[str]] = defaultdict(set)
    for field, path in itertools.pairwise(part.lstrip(b"\n") for part in raw.split(b"\0")):
        match = _CHANGE.fullmatch(field)
        if match is not None:
            shas = (sha.decode("ascii") for sha in match.groups())
            versions[path.decode("utf-8", "surrogateescape")].update(sha for sha in shas if sha.strip("0"))
    return versions
