"""GRD309 for files that are not Python: what both sides brought once and merged has twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from guard.checks.text_findings import quoted, symbol_of
from guard.codes import name_of
from guard.config import Config
from guard.documents.kinds import is_python
from guard.documents.units import MAXIMUM_BYTES, Document, document, is_binary
from guard.globs import path_matches
from guard.judge.text_doubles import doubled_units
from guard.model import Confidence, Evidence, Finding, Related, Severity, Verdict, fingerprint
from guard.sync.trees import FourTrees

_SHOWN = 12  # lines of the second copy that evidence shows


def doubled(trees: FourTrees, config: Config) -> Iterator[Finding]:
    """One finding for each file of merged that has twice what either side has once; git joins such files in silence."""
    for path in trees.touched:
        entries = [tree.get(path) for tree in (trees.ours, trees.theirs, trees.merged)]
        if any(entry is None or entry.kind != "file" for entry in entries) or is_python(path, stubs=True):
            continue
        ours, theirs, merged = (entry for entry in entries if entry is not None)
        if len({ours, theirs, merged}) < 3 or path_matches(path, config.golden):
            continue
        data = [trees.read(entry.sha) for entry in (ours, theirs, merged)]
        if any(is_binary(blob) or len(blob) > MAXIMUM_BYTES for blob in data) or not _may_be_doubled(data):
            continue
        documents = [document(path, blob) for blob in data]
        if len({found.kind for found in documents}) > 1:
            documents = [document(path, blob, "lines") for blob in data]
        found = _finding(path, documents)
        if found is not None:
            yield found


def _may_be_doubled(data: list[bytes]) -> bool:
    """Whether some line stands once in each parent and twice in merged; most files end here."""
    ours, theirs, merged = (Counter(line.strip() for line in blob.split(b"\n")) for blob in data)
    return any(count == 2 and ours[line] == 1 == theirs[line] for line, count in merged.items())


def _finding(path: str, documents: list[Document]) -> Finding | None:
    merged = documents[2]
    pairs = doubled_units(documents[:2], merged)
    if not pairs:
        return None
    first, second = pairs[0]
    listed = quoted([copy for _, copy in pairs], merged)
    stands = "stands" if len(pairs) == 1 else "stand"
    lines = merged.lines[second.line - 1 : min(pairs[-1][1].end_line, second.line + _SHOWN - 1)]
    evidence = [
        "\n".join(held.lines[unit.line - 1 : unit.end_line])
        for held in documents[:2]
        for unit in held.units
        if unit.key == second.key
    ]
    return Finding(
        code="GRD309",
        name=name_of("GRD309"),
        severity=Severity.WARNING,
        path=path,
        line=second.line,
        message=f"{listed} {stands} twice in merged; ours and theirs each have it once",
        fingerprint=fingerprint("GRD309", path, symbol_of([second], merged.kind), " ".join(u.text for _, u in pairs)),
        confidence=Confidence.HIGH,
        end_line=second.end_line,
        symbol=symbol_of([second], merged.kind),
        subject=second.label or None,
        verdict=Verdict.REVIVED,
        evidence=Evidence(ours=evidence[0], theirs=evidence[-1], merged="\n".join(lines)),
        related=(Related(path, first.line, "the first copy", "merged"),),
        score=2.0,
    )
