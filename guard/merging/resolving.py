"""Resolve the hunks of one file with what reads its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guard.documents.kinds import is_python
from guard.merging.hunks import Hunk, Segment
from guard.merging.listed import joins, resolve_listed
from guard.merging.resolve import FileResolution, HunkOutcome, resolve_python

_UNKNOWN = "guard joins no files of this kind"


def resolve_file(path: str, segments: Sequence[Segment], keep_open: Mapping[int, str]) -> FileResolution:
    """Join the hunks of a file; those it cannot join are open, with the reason.

    Arguments:
        path: tells the kind of the file.
        segments: the file as git joined it.
        keep_open: numbers of hunks that are not to be resolved, with the reason.
    """
    if is_python(path, stubs=True):
        return resolve_python(segments, keep_open)
    if joins(path):
        return resolve_listed(path, segments, keep_open)
    outcomes: list[HunkOutcome] = []
    position = 0
    for part in segments:
        size = len(part.ours if isinstance(part, Hunk) else part)
        if isinstance(part, Hunk):
            outcomes.append(HunkOutcome(part, len(outcomes), False, _UNKNOWN, (position, position + size)))
        position += size
    return FileResolution(tuple(segments), tuple(outcomes))
