"""The figures at the head of a report, against what a person counts in the four trees."""

from __future__ import annotations

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

ONE = "def one(a):\n    return a + 1\n"
TWO = "def two(a):\n    return a + 2\n"
BASE = {
    "clean.py": ONE,
    "both.py": ONE + "\n\n" + TWO,
    "taken.py": ONE + "\n\n" + TWO,
    "settings.yaml": "a: 1\nb: 2\nc: 3\n",
    "notes.md": "one\n\ntwo\n",
}
OURS = {
    **BASE,
    "both.py": BASE["both.py"].replace("a + 1", "a + 10"),
    "taken.py": BASE["taken.py"].replace("a + 1", "a + 10"),
    "settings.yaml": "a: 10\nb: 2\nc: 3\n",
    "own.py": ONE,
}
THEIRS = {
    **BASE,
    "clean.py": ONE.replace("a + 1", "a - 1"),
    "both.py": BASE["both.py"].replace("a + 2", "a + 20"),
    "taken.py": BASE["taken.py"].replace("a + 2", "a + 20"),
    "settings.yaml": "a: 1\nb: 2\nc: 30\n",
}
MERGED = {
    "clean.py": THEIRS["clean.py"],
    "both.py": OURS["both.py"].replace("a + 2", "a + 20"),
    "taken.py": THEIRS["taken.py"],
    "settings.yaml": THEIRS["settings.yaml"],
    "notes.md": BASE["notes.md"],
    "own.py": ONE,
}


def test_files_are_counted_by_side_and_those_taken_whole_apart(workshop: Workshop, guard: Guard) -> None:
    merge = make_sync(workshop, BASE, OURS, THEIRS, MERGED)
    (record,) = guard.check("--merge", merge, folder=workshop.folder).report["merges"]
    ours, theirs = record["files"]["ours"], record["files"]["theirs"]
    # ours changed both, taken, settings and own; taken and settings are theirs' whole, and lost one change each
    assert (ours["total"], ours["whole"], ours["taken"]) == (4, 2, 2)
    assert ours["taken_changes"] == {"total": 2, "kept": 0}
    assert (theirs["total"], theirs["whole"], theirs["taken"]) == (4, 4, 0)
    # files of every kind count: both.py is as git merged it, so taken.py and settings.yaml are what was looked at
    assert record["changes"]["ours"] == {
        "total": sum(row["total"] for row in record["survival"] if row["side"] == "ours"),
        "kept": sum(row["kept"] for row in record["survival"] if row["side"] == "ours"),
        "lost": 2,
    }
    text = guard("check", "--merge", merge).output
    assert "files that keep all of them: ours 2 of 4 · theirs 4 of 4" in text
    assert "taken whole from theirs though both changed them: 2 files; 0 of ours' 2 changes survive in them" in text
    for form in ("markdown", "html"):
        assert "taken whole from theirs though both changed them" in guard("check", "--merge", merge, "-o", form).output
