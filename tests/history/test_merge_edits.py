"""What a merge did on its own: told by counting lines, held against git making the merge again."""

from __future__ import annotations

import pytest

from guard.git import Repository
from guard.provenance.blame import Strokes
from guard.provenance.merge_edits import merge_strokes
from tests.conftest import Workshop

BASE = "def scale(loss):\n    loss = loss * one_factor\n    middle = 1\n    middle = 2\n    return loss + the_rest\n"
OURS = BASE.replace("one_factor", "our_factor")
THEIRS = BASE.replace("the_rest", "their_rest")
BOTH = OURS.replace("the_rest", "their_rest")
PATH = "loss.py"


def sides(workshop: Workshop, ours: str = OURS, theirs: str = THEIRS) -> str:
    base = workshop.commit("Base", {PATH: BASE})
    workshop.branch("theirs")
    workshop.commit("Theirs", {PATH: theirs})
    workshop.switch("main")
    workshop.commit("Ours", {PATH: ours})
    return base


def asked(workshop: Workshop, tip: str, base: str, *paths: str, texts: tuple[str, ...]) -> Strokes:
    lines = {line.strip() for text in texts for line in text.split("\n")}
    with Repository.open(workshop.folder) as repository:
        return merge_strokes(repository, tip, [base], lines, paths or (PATH,))


def told(strokes: Strokes) -> set[tuple[str, str, str]]:
    return {
        (sign, line, stroke.commit)
        for sign, known in (("+", strokes.added), ("-", strokes.removed))
        for line, found in known.items()
        for stroke in found
    }


def as_git_says(workshop: Workshop, merge: str) -> set[tuple[str, str, str]]:
    patch = workshop.git("show", "--remerge-diff", "--format=", "-U0", "--no-renames", merge).split("\n")
    edits = (line for line in patch if line[:1] in "+-" and not line.startswith(("+++", "---")))
    return {(line[0], line[1:].strip(), merge) for line in edits if len(line[1:].strip()) >= 4}


@pytest.mark.parametrize(
    "merged",
    [
        pytest.param(BOTH, id="as git merges"),
        pytest.param(OURS, id="theirs is dropped"),
        pytest.param(THEIRS, id="ours is dropped"),
        pytest.param(BASE, id="both are dropped"),
        pytest.param(BOTH + "    extra = nobody_wrote_it\n", id="a line of nobody"),
        pytest.param(BOTH.replace("    middle = 1\n", ""), id="a line of all is dropped"),
        pytest.param(BOTH.replace("    middle = 1\n", "    loss = loss * one_factor\n"), id="an old line is back"),
        pytest.param(BOTH + "    middle = 2\n", id="a second copy of a line"),
    ],
)
def test_a_merge_without_a_conflict_is_told_as_git_makes_it_again(workshop: Workshop, merged: str) -> None:
    base = sides(workshop)
    merge = workshop.merge("theirs", {PATH: merged})
    found = told(asked(workshop, merge, base, texts=(BASE, OURS, THEIRS, merged)))
    assert found == as_git_says(workshop, merge)


def test_a_conflict_that_keeps_one_side_drops_the_lines_of_the_other_and_nothing_else(workshop: Workshop) -> None:
    ours, theirs = BASE.replace("one_factor", "our_factor"), BASE.replace("one_factor", "their_factor")
    base = sides(workshop, ours, theirs)
    merge = workshop.merge("theirs", {PATH: ours})
    found = told(asked(workshop, merge, base, texts=(BASE, ours, theirs)))
    assert found == {("-", "loss = loss * their_factor", merge)}


@pytest.mark.parametrize("more", ["", "    extra = nobody_wrote_it\n"])
def test_a_line_that_each_side_puts_in_at_its_own_place_is_no_edit_of_the_merge(workshop: Workshop, more: str) -> None:
    first, last = (
        "def before(loss):\n    return loss + the_rest\n\n\n",
        "\n\ndef after(loss):\n    return loss + the_rest\n",
    )
    base = sides(workshop, first + BASE, BASE + last)
    merge = workshop.merge("theirs", {PATH: first + BASE + last + more} if more else None)
    found = told(asked(workshop, merge, base, texts=(BASE, more)))
    assert found == as_git_says(workshop, merge)


def test_a_file_that_one_side_renamed_is_merged_under_its_new_name(workshop: Workshop) -> None:
    base = workshop.commit("Base", {PATH: BASE})
    workshop.branch("theirs")
    workshop.commit("Theirs", {PATH: THEIRS})
    workshop.switch("main")
    workshop.git("mv", PATH, "scaling.py")
    workshop.commit("Rename", {"scaling.py": BASE})
    merge = workshop.merge("theirs")
    assert (workshop.folder / "scaling.py").read_text() == THEIRS
    assert told(asked(workshop, merge, base, PATH, "scaling.py", texts=(BASE, THEIRS))) == set()
    workshop.switch("main")
    workshop.git("reset", "-q", "--hard", "HEAD~1")
    undone = workshop.merge("theirs", {"scaling.py": BASE})
    found = told(asked(workshop, undone, base, PATH, "scaling.py", texts=(BASE, THEIRS)))
    assert found == {("-", "return loss + their_rest", undone), ("+", "return loss + the_rest", undone)}


def test_several_merge_bases_are_left_to_git(workshop: Workshop) -> None:
    base = workshop.commit("Base", {PATH: BASE})
    workshop.branch("theirs")
    theirs = workshop.commit("Theirs", {PATH: THEIRS})
    workshop.switch("main")
    ours = workshop.commit("Ours", {PATH: OURS})
    workshop.merge(theirs)
    workshop.switch("theirs")
    workshop.merge(ours)
    workshop.commit("More of theirs", {PATH: BOTH.replace("their_rest", "their_new_rest")})
    workshop.switch("main")
    workshop.commit("More of ours", {PATH: BOTH.replace("our_factor", "our_new_factor")})
    assert len(workshop.git("merge-base", "--all", "main", "theirs").split()) == 2
    lost = BOTH.replace("our_factor", "our_new_factor")
    merge = workshop.merge("theirs", {PATH: lost})
    found = told(asked(workshop, merge, base, texts=(BOTH, lost, "    return loss + their_new_rest")))
    assert found == {("-", "return loss + their_new_rest", merge), ("+", "return loss + their_rest", merge)}


def test_the_newest_merge_comes_first(workshop: Workshop) -> None:
    base = sides(workshop)
    first = workshop.merge("theirs", {PATH: BOTH + "    once = added\n"})
    workshop.switch("theirs")
    workshop.commit("Theirs again", {PATH: THEIRS + "    again = 1\n"})
    workshop.switch("main")
    second = workshop.merge("theirs", {PATH: BOTH + "    again = 1\n"})
    strokes = asked(workshop, second, base, texts=("    once = added",))
    (added,), (removed,) = strokes.added["once = added"], strokes.removed["once = added"]
    assert (added.commit, removed.commit) == (first, second)
    assert removed.order < added.order
