"""A conflicted file as git's merge left it: its three versions, and the hunks in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guard.documents.decoding import SourceText, decode
from guard.errors import NotAnalysedError
from guard.git import Entry, Repository
from guard.git.edit_scripts import edit_scripts
from guard.merging.hunks import Segment, filled, lines_of, read_markers, three_way

STAGES = {"base": 1, "ours": 2, "theirs": 3}


@dataclass(frozen=True, slots=True)
class Conflicted:
    """One conflicted file.

    Attributes:
        path: where it stands in the merge.
        segments: clean text and hunks; empty where it cannot be worked on.
        source: how its bytes are read and written.
        reason: why it cannot be worked on; empty where it can.
    """

    path: str
    segments: tuple[Segment, ...] = ()
    source: SourceText | None = None
    reason: str = ""


def conflicted_files(
    repository: Repository, stages: Mapping[str, Mapping[int, Entry]], contents: Mapping[str, bytes | None] | None
) -> list[Conflicted]:
    """The conflicted files of a merge, in the order of their paths.

    Arguments:
        stages: entries by path and stage, as the index or `merge-tree` has them.
        contents: what git (or whoever made the merge) left in the file; None where that does not exist yet.
    """
    found: dict[str, Conflicted] = {}
    texts: dict[str, dict[str, SourceText]] = {}
    for path in sorted(stages):
        reason, versions = _versions(repository, stages[path])
        if reason:
            found[path] = Conflicted(path, reason=reason)
        else:
            texts[path] = versions
    pairs = [(stages[path][1].sha, stages[path][stage].sha) for path in texts for stage in (2, 3)]
    scripts = edit_scripts(repository, pairs)
    for number, (path, versions) in enumerate(texts.items()):
        lines = [lines_of(versions[version].text) for version in STAGES]
        segments = three_way(lines[0], lines[1], lines[2], scripts[2 * number], scripts[2 * number + 1])
        reason = "" if contents is None else _differs(segments, contents.get(path))
        found[path] = Conflicted(path, reason=reason) if reason else Conflicted(path, tuple(segments), versions["ours"])
    return [found[path] for path in sorted(found)]


def _versions(repository: Repository, stages: Mapping[int, Entry]) -> tuple[str, dict[str, SourceText]]:
    """The three texts, or why they cannot be worked on."""
    if set(stages) != {1, 2, 3}:
        missing = [version for version, stage in STAGES.items() if stage not in stages]
        return f"{' and '.join(missing)} {'has' if len(missing) == 1 else 'have'} no such file", {}
    if any(entry.kind != "file" for entry in stages.values()):
        return "it is no regular file in all versions", {}
    versions = {}
    for version, stage in STAGES.items():
        data = repository.blob(stages[stage].sha)
        if b"\0" in data:
            return "it is no text", {}
        try:
            versions[version] = decode(data)
        except NotAnalysedError as error:
            return f"{version} cannot be read: {error}", {}
        if versions[version].encode(versions[version].text) != data:
            return f"{version} has line ends of several kinds", {}
    forms = {(text.encoding, text.newline or "\n", text.bom) for text in versions.values() if text.text}
    if len(forms) > 1:
        return "the versions differ in their encoding or line ends", {}
    return "", versions


def _differs(segments: Sequence[Segment], content: bytes | None) -> str:
    """Why what stands in the file is not the merge that git made; empty where it is."""
    if content is None:
        return "the file is not there"
    try:
        there = read_markers(decode(content).text)
    except NotAnalysedError:
        there = None
    if there is None:
        return "its conflict markers do not pair"
    # The styles of markers cut the hunks differently; filled with one side all of them give the same text.
    if any(filled(there[0], side) != filled(segments, side) for side in ("ours", "theirs")):
        return "it was edited since git merged it, or was merged with other options"
    return ""
