"""The pieces that a joined text is put together from, and the places that it was joined at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from guard.merging.syntax import Node, Part

VERSIONS = ("base", "ours", "theirs")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the joined text.

    Attributes:
        version: whose lines it is; empty for text made of several.
        start, end: those lines.
        text: what stands there.
        made_of: the lines that a text of several was made of, by version.
    """

    version: str
    start: int
    end: int
    text: str
    made_of: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was joined or refused: its lines by version, and why."""

    spans: tuple[tuple[str, Span], ...]
    reason: str


def reformatted(base: Node, ours: Node, theirs: Node) -> tuple[Piece, str] | None:
    """What stands where at most one side changed the code, and how; None where both did, or their comments differ."""
    if theirs.says(base) and theirs.comments in (base.comments, ours.comments):
        return own_text("ours", ours), "theirs only reformatted it"
    if ours.says(base) and ours.comments in (base.comments, theirs.comments):
        return own_text("theirs", theirs), "ours only reformatted it"
    if not ours.says(theirs):
        return None
    if ours.comments == theirs.comments:
        forms = own_text("ours", ours), own_text("theirs", theirs)
        return max(forms, key=lambda item: (len(item.text), item.text)), "both sides made the same change"
    if base.comments in (ours.comments, theirs.comments):
        kept = own_text("ours", ours) if base.comments == theirs.comments else own_text("theirs", theirs)
        return kept, "both sides made the same change"
    return None


def common(one: Sequence[int], other: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of equal numbers in order."""
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + k, block.b + k) for block in blocks for k in range(block.size)]


def same_nodes(one: Sequence[Node], other: Sequence[Node]) -> bool:
    """Whether two runs of statements say the same."""
    return len(one) == len(other) and all(a.says(b) for a, b in zip(one, other, strict=True))


def fuller(ours: Node, theirs: Node) -> list[Piece]:
    """Of two forms of one statement the one with more comments, else the longer one."""
    forms = (("ours", ours), ("theirs", theirs))
    version, node = max(forms, key=lambda f: (len(words(f[1].lead)) + len(f[1].comments), len(f[1].text), f[1].text))
    return whole_node(version, node)


def whole_node(version: str, node: Node) -> list[Piece]:
    """A statement with what stands before it."""
    return [lines_at(version, node.lines, (node.first, node.end))]


def own_text(version: str, node: Node) -> Piece:
    """A statement without what stands before it."""
    return Piece(version, node.start, node.end, node.text)


def lines_at(version: str, lines: Sequence[str], span: Span) -> Piece:
    """Lines of a version."""
    return Piece(version, span[0], span[1], "".join(lines[span[0] : span[1]]))


def whole_part(part: Part) -> str:
    """The text of a header and its block."""
    return "".join(part.lines[part.start : part.block.end])


def words(text: str) -> list[str]:
    """The lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def spans_of(nodes: Sequence[Node], *, lead: bool = False) -> tuple[tuple[str, Span], ...]:
    """The lines of a statement in the three versions, or those before it."""
    return tuple(
        (version, (node.first, node.start) if lead else (node.start, node.end))
        for version, node in zip(VERSIONS, nodes, strict=True)
    )


class Lead:
    """The lines before a statement, as something that has lines."""

    def __init__(self, node: Node) -> None:
        self.lines = node.lines
