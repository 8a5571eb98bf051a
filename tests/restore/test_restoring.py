"""One edit of a side made again on merged: what joins, what clashes, and what stays byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from guard.merging.restoring import LineEdit, line_by_line, line_edits, reapply, split_lines, three_way

BASE = b"a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"


def restored(base: bytes, side: bytes, merged: bytes, edits: Sequence[LineEdit] | None = None) -> bytes | None:
    return reapply(base, side, merged, edits or line_edits(split_lines(base), split_lines(side)))


def test_an_edit_comes_back_beside_the_other_sides() -> None:
    side = BASE.replace(b"b = 2", b"b = 20")
    merged = BASE.replace(b"c = 3", b"c = 30").replace(b"e = 5\n", b"e = 5\nf = 6\n")
    assert restored(BASE, side, merged) == merged.replace(b"b = 2", b"b = 20")


def test_both_appended_at_one_place() -> None:
    assert restored(BASE, BASE + b"ours = 1\n", BASE + b"theirs = 1\n") == BASE + b"ours = 1\ntheirs = 1\n"


def test_a_part_that_is_there_is_not_doubled() -> None:
    side = BASE.replace(b"c = 3\n", b"c = 3\nx = 1\ny = 2\nz = 3\n")
    merged = BASE.replace(b"c = 3\n", b"c = 3\ny = 2\n")
    assert restored(BASE, side, merged) == side
    assert restored(BASE, side, side) == side


def test_tokens_of_one_line() -> None:
    base = b"x = f(a, n)\n"
    assert restored(base, b"x = f(a, n * bsz)\n", b"y = f(a, n)\n") == b"y = f(a, n * bsz)\n"
    assert restored(base, b"x = f(a, n, p=1)\n", b"x = f(a, n, q=2)\n") == b"x = f(a, n, p=1, q=2)\n"


def test_what_clashes_is_refused() -> None:
    assert restored(b"x = 1\n", b"x = 2\n", b"x = 3\n") is None
    assert restored(BASE, BASE.replace(b"b = 2", b"b = 20"), BASE.replace(b"b = 2\n", b"")) is None


def test_a_deletion_is_made_again() -> None:
    side = BASE.replace(b"b = 2\nc = 3\n", b"")
    assert restored(BASE, side, BASE.replace(b"a = 1", b"a = 9")) == b"a = 9\nd = 4\ne = 5\n"


def test_only_the_chosen_edits() -> None:
    side = BASE.replace(b"b = 2", b"b = 20").replace(b"d = 4", b"d = 40")
    first, _second = line_by_line(line_edits(split_lines(BASE), split_lines(side)))
    assert restored(BASE, side, BASE, [first]) == BASE.replace(b"b = 2", b"b = 20")


def test_line_ends_and_the_missing_last_one_stay() -> None:
    windows = BASE.replace(b"\n", b"\r\n")
    side = BASE.replace(b"b = 2\n", b"b = 20\nb2 = 1\n")
    assert restored(BASE, side, windows) == windows.replace(b"b = 2\r\n", b"b = 20\r\nb2 = 1\r\n")
    assert restored(windows, side.replace(b"\n", b"\r\n"), BASE) == side
    assert restored(BASE, side, BASE.removesuffix(b"\n")) == side.removesuffix(b"\n")
    mixed = BASE.replace(b"a = 1\n", b"a = 1\r\n")
    assert restored(BASE, side, mixed) == mixed.replace(b"b = 2\n", b"b = 20\nb2 = 1\n")


def test_bytes_that_are_no_utf8_stay() -> None:
    base = b"# caf\xe9\nx = 1\n"
    assert restored(base, base.replace(b"1", b"2"), base + b"y = 1\n") == b"# caf\xe9\nx = 2\ny = 1\n"


LINES = st.lists(st.sampled_from(["a", "b", "c", "d = 1", "d = 2", ""]), max_size=8)


@settings(max_examples=200, deadline=None)
@given(LINES, LINES, LINES)
def test_laws_of_the_three_way_merge(base: list[str], one: list[str], other: list[str]) -> None:
    """One side's edits alone give that side; the same on both sides once; the order of the sides sets no verdict."""

    def refuse(_base: list[str], _one: list[str], _other: list[str]) -> None:
        return None

    assert three_way(base, one, base, refuse) == one
    assert three_way(base, base, other, refuse) == other
    assert three_way(base, one, one, refuse) == one
    assert (three_way(base, one, other, refuse) is None) is (three_way(base, other, one, refuse) is None)


@settings(max_examples=200, deadline=None)
@given(LINES, LINES)
def test_reapplying_every_edit_on_the_base_gives_the_side(base: list[str], side: list[str]) -> None:
    before, made = "\n".join(base).encode(), "\n".join(side).encode()
    edits = line_edits(split_lines(before), split_lines(made))
    assert reapply(before, made, before, edits) == made
    assert reapply(before, made, made, edits) == made
