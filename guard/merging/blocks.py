"""The three-way merge by syntax: blocks of statements, their headers, and what is inside them.

Each place that cannot be joined is recorded as a conflict with its lines in the three versions; each that was joined,
with the reason. Text is taken from the versions as it stands; new text is made only inside one statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from guard.merging.independence import apart
from guard.merging.joining import join_lines
from guard.merging.matching import identities, match
from guard.merging.members import Refused
from guard.merging.one_statement import join_header, join_statement, without_imported
from guard.merging.pieces import (
    VERSIONS,
    Lead,
    Piece,
    Place,
    Span,
    common,
    fuller,
    lines_at,
    own_text,
    reformatted,
    same_nodes,
    spans_of,
    whole_node,
    whole_part,
    words,
)
from guard.merging.syntax import Block, Node, Part, comments_in


@dataclass
class BlockMerge:
    """Joins three versions of one file.

    Attributes:
        conflicts: what could not be joined.
        joined: what was.
    """

    conflicts: list[Place] = field(default_factory=list)
    joined: list[Place] = field(default_factory=list)

    def block(self, base: Block, ours: Block, theirs: Block, scope: str) -> list[Piece]:
        """Join the statements of one block.

        Arguments:
            scope: `module`, `class` or `def`.
        """
        walk = _Walk(self, base, ours, theirs, scope)
        pieces = walk.pieces()
        spans = tuple(
            (version, (block.tail_start, block.end))
            for version, block in zip(VERSIONS, (base, ours, theirs), strict=True)
        )
        return [*pieces, *self.commentary(spans, base.tail, ours.tail, theirs.tail, ours, theirs)]

    def commentary(
        self,
        spans: tuple[tuple[str, Span], ...],
        base: str,
        ours: str,
        theirs: str,
        mine: Block | Node | Lead,
        yours: Block | Node | Lead,
    ) -> list[Piece]:
        """Join comments and blank lines."""
        places = dict(spans)
        if theirs in (base, ours) or (words(ours) == words(theirs) and len(ours) >= len(theirs)):
            return [lines_at("ours", mine.lines, places["ours"])]
        if base == ours or words(ours) == words(theirs):
            return [lines_at("theirs", yours.lines, places["theirs"])]
        if words(base) == words(theirs):
            return [lines_at("ours", mine.lines, places["ours"])]
        if words(base) == words(ours):
            return [lines_at("theirs", yours.lines, places["theirs"])]
        joined = join_lines(*(text.splitlines(keepends=True) for text in (base, ours, theirs)))
        if joined is None:
            self.refuse(spans, "the comments of both sides disagree")
            return [lines_at("ours", mine.lines, places["ours"])]
        self.note(spans, "comments of both sides")
        return [Piece("", 0, 0, "".join(joined), spans)]

    def node(self, base: Node, ours: Node, theirs: Node, scope: str) -> list[Piece]:
        """Join a statement that all three versions have."""
        spans = spans_of((base, ours, theirs), lead=True)
        lead = self.commentary(spans, base.lead, ours.lead, theirs.lead, Lead(ours), Lead(theirs))
        return [*lead, *self._own(base, ours, theirs, scope)]

    def _own(self, base: Node, ours: Node, theirs: Node, scope: str) -> list[Piece]:
        if theirs.text in (base.text, ours.text):
            return [own_text("ours", ours)]
        if base.text == ours.text:
            return [own_text("theirs", theirs)]
        spans = spans_of((base, ours, theirs))
        piece = reformatted(base, ours, theirs)
        if piece is not None:
            self.note(spans, piece[1])
            return [piece[0]]
        parts = [node.parts for node in (base, ours, theirs)]
        if all(parts):
            return self._parts(base, ours, theirs, scope)
        try:
            text = join_statement(base, ours, theirs)
        except Refused as reason:
            self.refuse(spans, str(reason))
            return [own_text("ours", ours)]
        self.note(spans, "edits of both sides in one statement")
        return [Piece("", 0, 0, text, spans)]

    def _parts(self, base: Node, ours: Node, theirs: Node, scope: str) -> list[Piece]:
        forms = base.parts, ours.parts, theirs.parts
        kinds = [[part.kind for part in parts] for parts in forms]
        if kinds[0] == kinds[1] == kinds[2]:
            return [piece for three in zip(*forms, strict=True) for piece in self._part(*three, scope)]
        signatures = [[part.code for part in parts] for parts in forms]
        for changed, other in ((1, 2), (2, 1)):
            if signatures[other] == signatures[0]:
                pieces = self._branches(forms[0], forms[changed], forms[other], changed == 1, scope)
                if pieces is not None:
                    return pieces
        self.refuse(spans_of((base, ours, theirs)), "both sides changed the branches of one statement")
        return [own_text("ours", ours)]

    def _branches(
        self, base: Sequence[Part], changed: Sequence[Part], other: Sequence[Part], by_ours: bool, scope: str
    ) -> list[Piece] | None:
        """Branches that one side put in or took out, joined with what the other side did inside them."""
        known = {part.code: number for number, part in enumerate(base)}
        if len(known) < len(base) or len({part.code for part in changed}) < len(changed):
            return None
        kept = [known[part.code] for part in changed if part.code in known]
        gone = [number for number in range(len(base)) if number not in kept]
        if kept != sorted(kept) or any(whole_part(base[number]) != whole_part(other[number]) for number in gone):
            return None
        pieces: list[Piece] = []
        for part in changed:
            number = known.get(part.code)
            if number is None:
                pieces.append(lines_at("ours" if by_ours else "theirs", part.lines, (part.start, part.block.end)))
            else:
                sides = (part, other[number]) if by_ours else (other[number], part)
                pieces += self._part(base[number], *sides, scope)
        return pieces

    def _part(self, base: Part, ours: Part, theirs: Part, scope: str) -> list[Piece]:
        inner = base.kind if base.kind in ("def", "class") else scope
        return [*self._header(base, ours, theirs), *self.block(base.block, ours.block, theirs.block, inner)]

    def _header(self, base: Part, ours: Part, theirs: Part) -> list[Piece]:
        mine = lines_at("ours", ours.lines, (ours.start, ours.end))
        yours = lines_at("theirs", theirs.lines, (theirs.start, theirs.end))
        if theirs.text in (base.text, ours.text):
            return [mine]
        if base.text == ours.text:
            return [yours]
        spans = tuple((v, (p.start, p.end)) for v, p in zip(VERSIONS, (base, ours, theirs), strict=True))
        comments = [comments_in(part.text) for part in (base, ours, theirs)]
        if ours.code == theirs.code and comments[1] == comments[2]:
            return [max(mine, yours, key=lambda piece: (len(piece.text), piece.text))]
        if theirs.code == base.code and comments[2] in comments[:2]:
            self.note(spans, "theirs only reformatted it")
            return [mine]
        if ours.code == base.code and comments[1] in (comments[0], comments[2]):
            self.note(spans, "ours only reformatted it")
            return [yours]
        try:
            text = join_header(base, ours, theirs)
        except Refused as reason:
            self.refuse(spans, str(reason))
            return [mine]
        self.note(spans, "edits of both sides in one header")
        return [Piece("", 0, 0, text, spans)]

    def refuse(self, spans: Iterable[tuple[str, Span]], reason: str) -> None:
        """Record a conflict."""
        self.conflicts.append(Place(tuple(spans), reason))

    def note(self, spans: Iterable[tuple[str, Span]], reason: str) -> None:
        """Record how something was joined."""
        self.joined.append(Place(tuple(spans), reason))


@dataclass(frozen=True, slots=True)
class _Edit:
    """What one side did at one place of a block: statements of the base, and what they became."""

    side: int
    nodes: tuple[Node, ...]
    slot: int = -1


class _Walk:
    """Walks the statements of a block in the order of the base."""

    def __init__(self, merge: BlockMerge, base: Block, ours: Block, theirs: Block, scope: str) -> None:
        self.merge, self.scope = merge, scope
        self.base, self.sides = base.nodes, (ours.nodes, theirs.nodes)
        ids = identities(base.nodes, ours.nodes, theirs.nodes)
        self.partners = [match(base.nodes, side, ids[0], ids[n]) for n, side in enumerate(self.sides, 1)]
        self.slots = [_slots(partners, len(side)) for partners, side in zip(self.partners, self.sides, strict=True)]
        self.run: list[_Edit] = []

    def pieces(self) -> list[Piece]:
        """The joined block, its tail aside."""
        made: list[Piece] = []
        for number in range(len(self.base) + 1):
            made += self._put_in(number)
            if number < len(self.base):
                made += self._statement(number)
        return made

    def _edit(self, side: int, nodes: Sequence[Node], slot: int = -1) -> None:
        """Take down an edit; refuse where one of the other side next to it bears on it."""
        edit = _Edit(side, tuple(nodes), slot)
        for other in self.run:
            if other.side == side or (slot != -1 and other.slot == slot):
                continue
            pair = (edit, other) if side == 0 else (other, edit)
            reason = apart(pair[0].nodes, pair[1].nodes, self.scope, in_order=True)
            if reason is not None:
                self.merge.refuse([*_where(pair[0].nodes, self), *_where(pair[1].nodes, self)], reason)
                break
        self.run.append(edit)

    def _put_in(self, slot: int) -> list[Piece]:
        runs = [[self.sides[side][k] for k in self.slots[side].get(slot, ())] for side in (0, 1)]
        if not runs[0] and not runs[1]:
            return []
        for side in (0, 1):
            if runs[side] and not same_nodes(runs[side], runs[1 - side]):
                self._edit(side, runs[side], slot)
        if not runs[0] or not runs[1]:
            side = 0 if runs[0] else 1
            return [piece for node in runs[side] for piece in whole_node(VERSIONS[side + 1], node)]
        return self._both_put_in(slot, runs[0], runs[1])

    def _both_put_in(self, slot: int, ours: list[Node], theirs: list[Node]) -> list[Piece]:
        """What both sides put in at one place: what is the same once, the rest side by side where it may be."""
        spans = [*_where(ours, self), *_where(theirs, self)]
        ids = identities(ours, theirs)
        blocks = common(ids[0], ids[1])
        replaced = self._gone_in_both(slot)
        pieces: list[Piece] = []
        position = other = 0
        for first, second in [*blocks, (len(ours), len(theirs))]:
            rest = ours[position:first], theirs[other:second]
            if rest[0] and rest[1]:
                reason = apart(rest[0], rest[1], self.scope, in_order=False)
                reason = "both sides replaced the same code" if replaced else reason
                if reason is not None:
                    self.merge.refuse(spans, reason)
                    return [piece for node in ours for piece in whole_node("ours", node)]
            order = sorted(zip(VERSIONS[1:], rest, strict=True), key=lambda item: [node.text for node in item[1]])
            pieces += [piece for version, nodes in order for node in nodes for piece in whole_node(version, node)]
            if first < len(ours):
                pieces += (
                    self.merge.node(ours[first], ours[first], theirs[second], self.scope)
                    if (ours[first].text == theirs[second].text and ours[first].lead == theirs[second].lead)
                    else fuller(ours[first], theirs[second])
                )
            position, other = first + 1, second + 1
        self.merge.note(spans, "both sides put in things that stand for themselves")
        return pieces

    def _gone_in_both(self, slot: int) -> bool:
        """Whether both sides put something in place of the same statement, imports aside."""
        for number in range(slot, len(self.base)):
            if any(partners[number] >= 0 for partners in self.partners):
                return False
            if not isinstance(self.base[number].only, ast.Import | ast.ImportFrom):
                return True
        return False

    def _statement(self, number: int) -> list[Piece]:
        base = self.base[number]
        places = [partners[number] for partners in self.partners]
        nodes = [side[k] if k >= 0 else None for side, k in zip(self.sides, places, strict=True)]
        ours, theirs = nodes
        if ours is None or theirs is None:
            return self._gone(base, ours, theirs)
        changed = [not node.says(base) for node in (ours, theirs)]
        for side, node in enumerate((ours, theirs)):
            if changed[side]:
                self._edit(side, (base, node), slot=-2 - number)
        if not any(changed):
            self.run = []
        return self.merge.node(base, ours, theirs, self.scope)

    def _gone(self, base: Node, ours: Node | None, theirs: Node | None) -> list[Piece]:
        """A statement that at least one side took out."""
        kept = ours or theirs
        if kept is None:
            return []
        side = 0 if ours is None else 1
        self._edit(side, (base,))
        if kept.says(base):
            return []
        spans = [("base", (base.start, base.end)), (VERSIONS[2 - side], (kept.start, kept.end))]
        spans += _around(self, side, base)
        version = VERSIONS[2 - side]
        if isinstance(base.only, ast.ImportFrom):
            try:
                moved = [self.sides[side][k] for slot in self.slots[side].values() for k in slot]
                text = without_imported(kept, base, moved)
            except Refused as reason:
                self.merge.refuse(spans, str(reason))
                return whole_node(version, kept)
            self.merge.note(spans, "one side took an import out, the other added names to it")
            return [Piece("", 0, 0, text, tuple(spans))] if text else []
        self.merge.refuse(spans, "one side deleted what the other changed")
        return whole_node(version, kept)


def _slots(partners: Sequence[int], count: int) -> dict[int, list[int]]:
    """The statements of a side that have no partner, by the place in the base that they stand before."""
    owners = {partner: number for number, partner in enumerate(partners) if partner >= 0}
    slots: dict[int, list[int]] = {}
    slot = 0
    for index in range(count):
        if index in owners:
            slot = owners[index] + 1
        else:
            slots.setdefault(slot, []).append(index)
    return slots


def _around(walk: _Walk, side: int, base: Node) -> list[tuple[str, Span]]:
    """What the side that took a statement out has in its place."""
    number = walk.base.index(base)
    slots = walk.slots[side]
    nodes = [walk.sides[side][k] for slot in range(number + 1, -1, -1) for k in slots.get(slot, ())]
    return _where(nodes[:8], walk)


def _where(nodes: Iterable[Node], walk: _Walk) -> list[tuple[str, Span]]:
    forms = (walk.base, *walk.sides)
    lines = [form[0].lines if form else None for form in forms]
    found = []
    for node in nodes:
        version = next(v for v, known in zip(VERSIONS, lines, strict=True) if known is node.lines)
        found.append((version, (node.first, node.end)))
    return found
