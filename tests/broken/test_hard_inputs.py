"""Inputs that have hurt tools of this kind, in their smallest form."""

from __future__ import annotations

from guard.model import Severity
from tests.broken.conftest import Judge, told

HIP = "def is_hip():\n    return False\n\n\ndef other():\n    return 1\n"


def test_a_clean_merge_that_calls_what_the_other_side_deleted(judge: Judge) -> None:
    result = judge(
        base={"lib.py": HIP, "use.py": "import lib\n\n\ndef run():\n    return lib.other()\n"},
        ours={"lib.py": "def other():\n    return 1\n"},
        theirs={"new.py": "from lib import is_hip\n\nx = is_hip()\n"},
    )
    assert told(result) == [("GRD302", "new.py", "<module>", "is_hip")]
    (found,) = result.findings
    assert found.severity is Severity.ERROR
    assert [origin.subject for origin in found.origins] == ["Change of ours", "Change of theirs (#7)"]
    assert found.evidence.merged == "from lib import is_hip"


def test_the_same_inside_one_file(judge: Judge) -> None:
    filler = "".join(f"A{n} = {n}\n" for n in range(20))
    result = judge(
        base={"lib.py": HIP + "\n\n" + filler},
        ours={"lib.py": "def other():\n    return 1\n\n\n" + filler},
        theirs={"lib.py": HIP + "\n\n" + filler + "x = is_hip()\n"},
    )
    assert told(result) == [("GRD301", "lib.py", "<module>", "is_hip")]


def test_conflict_markers_are_one_finding_a_file(judge: Judge) -> None:
    left = "<<<<<<< HEAD\nx = 2\n=======\nx = 3\n>>>>>>> upstream/main\n"
    result = judge(
        base={"a.py": "x = 1\n", "b.py": "y = 1\n"},
        ours={"a.py": "x = 2\n"},
        theirs={"a.py": "x = 3\n", "b.py": "import a\nz = a.x\n"},
        merged={"a.py": left + "\n" + left},
    )
    assert told(result) == [("GRD308", "a.py", "<module>", "<<<<<<<")]
    assert result.findings[0].line == 1
    assert not result.outcomes


def test_a_heading_of_equals_signs_is_nothing(judge: Judge) -> None:
    text = '"""Title\n=======\n\ntext\n"""\n'
    result = judge(
        base={"a.py": "x = 1\n"}, ours={"b.py": text}, theirs={"c.py": text}, merged={"b.py": text + "y = 1\n"}
    )
    assert told(result) == []


def test_identity_is_the_name_and_never_a_count(judge: Judge) -> None:
    result = judge(
        base={"m.py": "def f():\n    return 0\n"},
        ours={"m.py": "def f():\n    return a\n"},
        theirs={"m.py": "def f():\n    x = 1\n\n    return a\n"},
        merged={"m.py": "def f():\n    return b\n"},
    )
    assert told(result) == [("GRD301", "m.py", "f", "b")]


def test_a_latent_bug_of_one_side_is_its_own(judge: Judge) -> None:
    result = judge(
        base={"m.py": "import os\n\n\ndef f():\n    return os.sep\n\n\ndef g():\n    return 1\n"},
        ours={"m.py": "def f():\n    return os.sep\n\n\ndef g():\n    return 1\n"},
        theirs={"n.py": "x = 1\n"},
    )
    assert told(result) == []


def test_a_repair_that_the_merge_undid(judge: Judge) -> None:
    broken = "def f():\n    return os.sep\n\n\ndef g():\n    return 1\n"
    result = judge(
        base={"m.py": broken},
        ours={"m.py": broken.replace("return 1", "return 2")},
        theirs={"m.py": "import os\n\n\n" + broken},
        merged={"m.py": broken.replace("return 1", "return 2")},
    )
    assert told(result) == [("GRD301", "m.py", "f", "os")]


def test_a_file_that_does_not_parse_in_merged_only(judge: Judge) -> None:
    result = judge(
        base={"m.py": "def f(a):\n    return a\n"},
        ours={"m.py": "def f(a, b):\n    return a\n"},
        theirs={"m.py": "def f(a, c):\n    return a\n"},
        merged={"m.py": "def f(a, b, c:\n    return a\n"},
    )
    assert told(result) == [("GRD314", "m.py", "<module>", None)]


def test_a_file_for_another_python_is_no_break_of_the_merge(judge: Judge) -> None:
    result = judge(
        base={"m.py": "x = 1\n\n\n\ny = 2\n"},
        ours={"m.py": "x = 1\n\n\n\nprint x\n"},
        theirs={"m.py": "x = 3\n\n\n\ny = 2\n"},
    )
    assert told(result) == []
    assert [outcome.subject for outcome in result.outcomes] == ["m.py"]


def test_what_cannot_be_read_is_an_outcome_and_the_rest_stands(judge: Judge) -> None:
    result = judge(
        base={"bad.py": b"x = '\xff'\n", "lib.py": HIP},
        ours={"bad.py": b"x = '\xfe'\n", "lib.py": "def other():\n    return 1\n"},
        theirs={"new.py": "from lib import is_hip\n"},
    )
    assert told(result) == [("GRD302", "new.py", "<module>", "is_hip")]
    assert [(outcome.subject, outcome.status.value) for outcome in result.outcomes] == [("bad.py", "skipped")]


def test_a_caller_across_a_rename(judge: Judge) -> None:
    caller = "from schedule import step\n\n\ndef drive():\n    return step(1, 2, 3)\n"
    more = "\n\n" + "".join(f"def helper{n}():\n    return {n}\n\n\n" for n in range(5))
    result = judge(
        base={"schedule.py": "def step(a, b, kind):\n    return a\n", "old_name.py": caller + more},
        ours={"old_name.py": None, "new_name.py": caller + more},
        theirs={
            "schedule.py": "def step(a, b):\n    return a\n",
            "old_name.py": caller.replace("1, 2, 3", "1, 2") + more,
        },
        merged={"new_name.py": caller + more},
    )
    assert told(result) == [("GRD304", "new_name.py", "drive", "step")]
