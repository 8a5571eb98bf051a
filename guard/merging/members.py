"""Keyed lists inside a statement: join what both sides put in, took out and changed, written in one side's form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from guard.errors import GuardError

Position = tuple[int, int]


class Refused(GuardError):  # noqa: N818 -- an answer of the resolver, and no error
    """The edits of both sides are not joined; the message is the reason."""


class Text(Protocol):
    """The text that members stand in."""

    @property
    def lines(self) -> Sequence[str]:
        """All lines, with their ends."""

    def text(self, start: Position, end: Position) -> str:
        """The text between two positions."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the text between two positions."""

    start: Position
    end: Position
    text: str


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a list.

    Attributes:
        key: what makes two members of two versions the same one.
        node: its syntax.
        start, end: where it stands.
        name: its key where it has a value of its own, else empty.
        value: that value.
        rest: what else there is to it.
        group: members of two groups never stand side by side (positional and keyword-only parameters).
    """

    key: str
    node: Any
    start: Position
    end: Position
    name: str = ""
    value: Any = None
    rest: str = ""
    group: str = ""

    @property
    def says(self) -> str:
        """The member, whatever its formatting."""
        import ast

        value = ast.dump(self.value) if self.value is not None else ""
        return f"{self.key}\0{self.rest}\0{value}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One step of the joined list.

    Attributes:
        host: index of the host's member; -1 for one that the guest puts in.
        member: what stands there in the end; None where the host's member goes.
        replaced: whether the guest's text takes the place of the host's.
    """

    host: int
    member: Member | None
    replaced: bool = False


def merge_keyed(
    base: Sequence[Member],
    host: Sequence[Member],
    guest: Sequence[Member],
    both_put_in: Callable[[Member, Member], bool],
    join: Callable[[Member, Member, Member], Member],
) -> list[Entry]:
    """The joined list, in the host's order; what the guest puts in stands behind what it stands behind there.

    Arguments:
        both_put_in: whether two members that both sides put in at one place may stand side by side in any order.
        join: makes one of a member that both sides changed.

    Raises:
        Refused: a key stands twice, one key has two values, or delete meets change.
    """
    known = [{member.key: member for member in form} for form in (base, host, guest)]
    if any(len(table) < len(form) for table, form in zip(known, (base, host, guest), strict=True)):
        raise Refused("a list holds one member twice")
    before, mine, yours = known
    plan: list[Entry] = []
    for index, member in enumerate(host):
        plan.append(_kept(index, member, before.get(member.key), yours.get(member.key), join))
    for key, member in before.items():
        if key not in mine and key in yours and yours[key].says != member.says:
            raise Refused("one side took out what the other changed")
    _same_order(base, host, guest)
    for index, member in enumerate(guest):
        if member.key not in before and member.key not in mine:
            _put_in(plan, host, guest, index, before, both_put_in)
    return plan


def _kept(
    index: int,
    member: Member,
    before: Member | None,
    other: Member | None,
    join: Callable[[Member, Member, Member], Member],
) -> Entry:
    if other is None:
        if before is None:
            return Entry(index, member)
        if before.says != member.says:
            raise Refused("one side took out what the other changed")
        return Entry(index, None)
    if other.says == member.says or (before is not None and other.says == before.says):
        return Entry(index, member)
    if before is None:
        raise Refused("one key has two values")
    if before.says == member.says:
        return Entry(index, other, replaced=True)
    return Entry(index, join(before, member, other))


def _same_order(base: Sequence[Member], host: Sequence[Member], guest: Sequence[Member]) -> None:
    """Refuse where a side put members in another order: that may have a meaning."""
    for side in (host, guest):
        there = {member.key for member in side}
        old = [member.key for member in base if member.key in there]
        keys = {member.key for member in base}
        if old != [member.key for member in side if member.key in keys]:
            raise Refused("a side changed the order of a list")


def _put_in(
    plan: list[Entry],
    host: Sequence[Member],
    guest: Sequence[Member],
    index: int,
    before: dict[str, Member],
    both_put_in: Callable[[Member, Member], bool],
) -> None:
    member = guest[index]
    place = 0
    for previous in reversed(guest[:index]):
        found = [n for n, entry in enumerate(plan) if _key(entry, host) == previous.key]
        if found:
            place = found[0] + 1
            break
    while place < len(plan) and plan[place].host >= 0 and host[plan[place].host].key not in before:
        other = host[plan[place].host]
        if other.group != member.group:
            break
        if not both_put_in(other, member):
            raise Refused("both sides put something in at one place, and its order has a meaning")
        # Their order has no meaning, so it is that of their names: the same whichever side is the host.
        if other.key > member.key:
            break
        place += 1
    plan.insert(place, Entry(-1, member))


def _key(entry: Entry, host: Sequence[Member]) -> str:
    return host[entry.host].key if entry.host >= 0 else (entry.member.key if entry.member else "")


def replace_members(host_text: Text, guest_text: Text, host: Sequence[Member], plan: Sequence[Entry]) -> list[TextEdit]:
    """The edits that make the joined list of the host's text.

    Raises:
        Refused: a comment stands where an edit is to be made, or the host has no member to hold on to.
    """
    edits = []
    left = [entry.host for entry in plan if entry.host >= 0 and entry.member is not None]
    for entry in plan:
        if entry.host >= 0 and entry.replaced and entry.member is not None:
            text = guest_text.text(entry.member.start, entry.member.end)
            edits.append(TextEdit(host[entry.host].start, host[entry.host].end, text))
    gone = [entry.host for entry in plan if entry.host >= 0 and entry.member is None]
    if gone and not left:
        raise Refused("nothing is left of a list")
    edits += [_taken_out(host_text, host, run) for run in _runs(gone)]
    anchor = -1
    pending: list[Member] = []
    for entry in plan:
        if entry.host >= 0:
            if entry.member is not None:
                if pending:
                    edits.append(_inserted(host_text, guest_text, host, anchor, entry.host, pending))
                pending, anchor = [], entry.host
        elif entry.member is not None:
            pending.append(entry.member)
    if pending:
        edits.append(_inserted(host_text, guest_text, host, anchor, -1, pending))
    return edits


def _runs(indices: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and runs[-1][1] == index - 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return runs


def _taken_out(text: Text, host: Sequence[Member], run: tuple[int, int]) -> TextEdit:
    first, last = run
    if last + 1 < len(host):
        start, end = host[first].start, host[last + 1].start
    else:
        start, end = host[first - 1].end, host[last].end
    if "#" in text.text(start, end):
        raise Refused("a comment stands beside what one side took out")
    return TextEdit(start, end, "")


def _inserted(
    text: Text, guest: Text, host: Sequence[Member], after: int, before: int, members: Sequence[Member]
) -> TextEdit:
    """Members put in behind the host's member `after` (or before `before`, at the start of the list)."""
    texts = [guest.text(member.start, member.end) for member in members]
    if after >= 0:
        anchor = host[after].end
        gap_end = host[before].start if before >= 0 else None
        stacked = _stacked(text, host, after)
        rest = text.lines[anchor[0]][anchor[1] :]
        if "#" in rest:
            if (
                gap_end is None
                or gap_end[0] == anchor[0]
                or not stacked
                or "#" in text.text((anchor[0] + 1, 0), gap_end)
            ):
                raise Refused("a comment stands where something is to be put in")
            return TextEdit(gap_end, gap_end, "".join(item + "," + stacked for item in texts))
        separator = "," + (stacked or " ")
        return TextEdit(anchor, anchor, "".join(separator + item for item in texts))
    if before < 0:
        raise Refused("the list is empty on one side")
    anchor = host[before].start
    stacked = _stacked(text, host, before)
    return TextEdit(anchor, anchor, "".join(item + "," + (stacked or " ") for item in texts))


def _stacked(text: Text, host: Sequence[Member], index: int) -> str:
    """The line break and indentation between members where each stands on a line of its own; else empty."""
    line = text.lines[host[index].start[0]]
    own_line = not line[: host[index].start[1]].strip()
    alone = all(
        host[other].start[0] != host[index].start[0] for other in (index - 1, index + 1) if 0 <= other < len(host)
    )
    return "\n" + line[: host[index].start[1]] if own_line and alone else ""


def edited(text: Text, start: Position, end: Position, edits: Sequence[TextEdit]) -> str:
    """The text between two positions with edits made in it.

    Raises:
        Refused: two edits overlap.
    """
    made = ""
    position = start
    for edit in sorted(edits, key=lambda item: (item.start, item.end)):
        if edit.start < position:
            raise Refused("two edits overlap")
        made += text.text(position, edit.start) + edit.text
        position = edit.end
    return made + text.text(position, end)
