"""What comes first: a person reads the top of the report."""

from __future__ import annotations

import dataclasses

from synthetic import LOADER, NO_PULL, ROUTER, SEQ_AUX, mark, small

from guard.model import Evidence, Finding, Origin, Severity, Side, Verdict
from guard.report.excerpt import excerpt
from guard.report.groups import group, headline, silent_edit

FIX = next(found for found in small().findings if found.origins and found.origins[0] is SEQ_AUX)
LOUD = Origin("a" * 40, 77, "Fix everything in training", True, ("tests/t.py",))


def loud(number: int, evidence: Evidence, score: float) -> Finding:
    return dataclasses.replace(
        FIX,
        path="training.py",
        line=number,
        origins=(LOUD,),
        evidence=evidence,
        score=score,
        fingerprint=mark(str(number)),
    )


BIG = Evidence("a()", "a()", "b(1, 2, 3, 4)\nc(5, 6, 7, 8)", "a()")
TINY = Evidence("f(a)", "f(a)", "f(b)", "f(a)")


def test_a_small_numeric_fix_comes_before_larger_losses_with_more_score() -> None:
    assert silent_edit(FIX) == 2
    assert silent_edit(loud(1, BIG, 30)) == 0
    groups = group([loud(1, BIG, 30), loud(2, TINY, 40), FIX])
    assert [found.label for found in groups] == ["#5798", "#77"]


def test_an_edit_of_a_comment_is_no_edit() -> None:
    commented = Evidence("f(a)", "f(a)", "# why\nf(a * b)  # so", "f(a)")
    assert silent_edit(loud(1, commented, 1)) == 2


def test_severity_comes_before_everything() -> None:
    error = Finding("GRD301", "undefined-name", Severity.ERROR, "z.py", 1, "m", "e" * 16)
    warning = dataclasses.replace(FIX, severity=Severity.WARNING)
    assert [found.label for found in group([warning, error])] == ["undefined-name", "#5798"]


def test_findings_of_one_commit_stay_together_and_others_group_by_kind_and_file() -> None:
    groups = group(small().findings)
    assert [(found.label, len(found.findings)) for found in groups] == [
        ("#5798", 1),
        ("#6012", 6),
        ("undefined-name", 1),
        ("lost-change", 1),
        ("4c25861f0a", 1),
        ("explicit-normalization-group", 1),
    ]


def test_headlines_say_what_became_of_the_test() -> None:
    lost_test = Finding("GRD207", "lost-test", Severity.ERROR, "t.py", 1, "m", "d" * 16, origins=(SEQ_AUX,))
    assert headline(group([FIX])[0]) == "is reverted in router.py; its test is still there"
    assert headline(group([FIX, lost_test])[0]) == "is reverted in router.py and t.py; its test is lost too"
    assert headline(group([FIX])[0], room=30) == "is reverted in router.py"
    dead = dataclasses.replace(FIX, verdict=Verdict.DEAD, origins=(NO_PULL,))
    assert headline(group([dead])[0]) == "is there but dead in router.py"


def test_the_excerpt_shows_the_lines_that_the_message_names() -> None:
    evidence = Evidence(
        base="first()\nkept()\ncall(x)",
        ours="other()\nkept()\ncall(x, group=pg)",
        theirs="first()\nkept()\ncall(x)",
        merged="first()\nkept()\ncall(x)",
    )
    finding = dataclasses.replace(
        FIX, path=ROUTER, message="ours' `group=pg` is not in merged", lost_side=Side.OURS, evidence=evidence,
        subject=None, origins=(LOADER,),
    )  # fmt: skip
    assert [(row.tree, "".join(run for run, _ in row.pieces)) for row in excerpt(finding)] == [
        ("ours", "call(x, group=pg)"),
        ("merged", "call(x)"),
    ]


def test_files_with_markers_are_one_group_and_come_first() -> None:
    def left(number: int) -> Finding:
        path = f"f{number}.py"
        return Finding("GRD308", "conflict-markers", Severity.ERROR, path, 3, "1 unresolved conflict", mark(path))

    consequence = Finding("GRD301", "undefined-name", Severity.ERROR, "a.py", 1, "m", "e" * 16, score=90.0)
    silent = loud(2, TINY, 40)
    named = dataclasses.replace(left(2), origins=(LOUD,))
    groups = group([consequence, silent, left(1), named, left(3)])
    assert groups[0].label == "conflict-markers"
    assert headline(groups[0]) == "3 files have markers of a conflict left in them"
    assert len(groups) == 3
    (alone,) = group([left(1)])
    assert headline(alone) == "1 unresolved conflict"
