"""Laws of the judge of text, on random files: kept is never called lost, lost never kept, and the sides are equal."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.documents.units import document
from guard.judge.text_changes import SideVerdicts, judge_documents
from guard.model import Side

WORDS = ("alpha", "beta", "gamma", "delta", "omega")
Lines = tuple[str, ...]


@st.composite
def files(draw: st.DrawFn) -> tuple[Lines, list[tuple[Side, int, str]]]:
    """A file, and edits of either side on lines of their own: (side, line, `change`, `delete` or `insert`)."""
    base = tuple(f"key{n} = {draw(st.sampled_from(WORDS))}" for n in range(draw(st.integers(6, 14))))
    # Edits two lines apart do not meet: which side an edit between two others belongs to is then no question.
    places = draw(st.lists(st.integers(0, (len(base) - 1) // 2), unique=True, max_size=4))
    kinds = st.tuples(st.sampled_from(list(Side)), st.sampled_from(["change", "delete", "insert"]))
    return base, [(side, 2 * place, kind) for place in places for side, kind in [draw(kinds)]]


def made(base: Lines, edits: Sequence[tuple[Side, int, str]]) -> Lines:
    lines: list[str] = []
    for number, line in enumerate(base):
        kind = next((kind for _, place, kind in edits if place == number), None)
        if kind != "delete":
            lines.append(f"{line} new" if kind == "change" else line)
        if kind == "insert":
            lines.append(f"fresh{number} = yes")
    return tuple(lines)


def judged(*forms: Lines, path: str = "a.cfg") -> dict[Side, SideVerdicts]:
    return judge_documents(*(document(path, "\n".join(lines).encode()) for lines in forms))


def lost(verdicts: SideVerdicts) -> set[str]:
    return {item.unit.text for item in verdicts.lost if item.verdict.is_loss}


@settings(max_examples=150, deadline=None)
@given(files(), st.randoms(use_true_random=False))
def test_what_is_there_is_not_lost_and_what_is_not_is(
    given_file: tuple[Lines, list[tuple[Side, int, str]]], chance: random.Random
) -> None:
    base, edits = given_file
    ours, theirs = (made(base, [e for e in edits if e[0] is side]) for side in Side)
    everything = made(base, edits)
    for side, verdicts in judged(base, ours, theirs, everything).items():
        assert lost(verdicts) == set()
        assert verdicts.kept == verdicts.total, side
    if not edits:
        return
    gone = chance.choice(edits)
    merged = made(base, [edit for edit in edits if edit != gone])
    verdicts = judged(base, ours, theirs, merged)
    said = lost(verdicts[gone[0]])
    line = base[gone[1]]
    expected = {"change": f"{line} new", "delete": line, "insert": f"fresh{gone[1]} = yes"}[gone[2]]
    assert said == {expected}
    assert lost(verdicts[gone[0].other]) == set()
    mirrored = judged(base, theirs, ours, merged)
    assert lost(mirrored[gone[0].other]) == said, "the sides are equal"


@settings(max_examples=60, deadline=None)
@given(files(), st.randoms(use_true_random=False))
def test_order_and_blank_lines_are_nothing(
    given_file: tuple[Lines, list[tuple[Side, int, str]]], chance: random.Random
) -> None:
    base, edits = given_file
    ours, theirs = (made(base, [e for e in edits if e[0] is side]) for side in Side)
    merged = [f"  {line}  " for line in made(base, edits)]
    chance.shuffle(merged)
    for verdicts in judged(base, ours, theirs, tuple(part for line in merged for part in (line, ""))).values():
        assert lost(verdicts) == set()


@pytest.mark.parametrize("path", ["a.md", "a.yaml", "a.cu", "a.toml", "a.json", "Dockerfile"])
def test_any_text_is_judged_without_a_crash(path: str) -> None:
    chance = random.Random(7)
    pieces = [
        "a: 1\n",
        "- b\n",
        "{",
        "}",
        "\n",
        "# h\n",
        '"x"',
        "[t]\n",
        "k = 1\n",
        "```\n",
        ": ",
        ",",
        "\t",
        "|\n",
        "é",
        "\0",
    ]
    for _ in range(60):
        forms = ["".join(chance.choices(pieces, k=12)) for _ in range(4)]
        documents = [document(path, form.encode(), "lines") for form in forms]
        judge_documents(*documents)
        for form in forms:
            document(path, form.encode())
