"""What is not known is not gone: files that cannot be read, objects of unknown class, questions that ask themselves."""

from __future__ import annotations

import pytest

from guard.model import Severity
from tests.broken.conftest import Files, Judge

MESSAGES = """\
class Messages:
    def __init__(self, sink):
        self.sink = sink
        self.spare_limit = {0}

    def say_missing(self, name, context):
        self.sink.write(name, context)


def count_words(text):
    return len(text.split())


def parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width-of-lines", type=int)
    return parser.parse_args()
"""
READER = """\
from messages import Messages, count_words


def run(messages: Messages, args, name):
    if count_words(name) > messages.spare_limit > args.width_of_lines:
        messages.say_missing(name, [])
"""
UNREADABLE = {
    "markers": "<<<<<<< HEAD\nA = 1\n=======\nA = 2\n>>>>>>> main\n",
    "a bracket": "def f(:\n    pass\n",
    "Python 2": "print 'x'\n",
    "too deep": "x = " + "(" * 3000 + ")" * 3000 + "\n",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_nothing_follows_from_the_silence_of_a_file_that_cannot_be_read(kind: str, judge: Judge) -> None:
    files: Files = {"messages.py": MESSAGES.format(3), **{f"user{n}.py": READER for n in range(4)}}
    ours: Files = {"messages.py": MESSAGES.format(4), "user0.py": f"{READER}\nNEWER = 1\n"}
    theirs: Files = {"messages.py": MESSAGES.format(5), "user1.py": f"{READER}\nOTHER = 2\n"}
    result = judge(files, ours, theirs, {"messages.py": MESSAGES.format(4) + UNREADABLE[kind]})
    assert {found.path for found in result.findings} <= {"messages.py"}


def test_a_name_that_is_gone_from_a_file_that_parses_is_told(judge: Judge) -> None:
    files: Files = {"messages.py": MESSAGES.format(3), "k.txt": "1"}
    gone = MESSAGES.format(4).replace("say_missing", "say_absent")
    result = judge(files, {"messages.py": gone}, {"user.py": READER})
    assert [(found.path, found.subject) for found in result.findings] == [("user.py", "say_missing")]


REQUESTS = "class Requests:\n    def {}(self):\n        return 1\n"


@pytest.mark.parametrize(
    "name", ["get", "items", "update", "columns", "shape", "size", "view", "backward", "step", "state_dict"]
)
def test_a_common_name_says_nothing_of_an_object_of_unknown_class(name: str, judge: Judge) -> None:
    use = f"def one(session, key):\n    return session.{name}(key)\n\n\ndef two(frame):\n    return frame.{name}\n"
    result = judge({"factory.py": REQUESTS.format(name), "k.txt": "1"}, {"factory.py": None}, {"use.py": use})
    assert result.findings == ()


def test_a_name_that_its_side_reads_without_a_giver_says_nothing(judge: Judge) -> None:
    reads = "def old(settings):\n    return settings.ledger_rows\n"
    use = "def new(inliner):\n    return inliner.document.ledger_rows\n"
    base: Files = {"factory.py": REQUESTS.format("ledger_rows"), "old.py": reads}
    result = judge(base, {"factory.py": None, "old.py": f"{reads}\nX = 1\n"}, {"use.py": use})
    assert result.findings == ()


def test_a_name_that_nothing_else_has_is_a_warning_however_many_read_it(judge: Judge) -> None:
    use = "def one(requests):\n    return requests.rebuild_rows() + requests.rebuild_rows()\n"
    base: Files = {"factory.py": REQUESTS.format("rebuild_rows"), "k.txt": "1"}
    result = judge(base, {"factory.py": None}, {"use.py": use, "more.py": use})
    assert [(found.code, found.severity) for found in result.findings] == [("GRD303", Severity.WARNING)]


INIT = "    def __init__(self):\n        "
RINGS = {
    "through itself": f"class R:\n    options = {{}}\n\n{INIT}self.options = R.options.copy()\n",
    "in the class body": f"class R:\n    options = R.options.copy()\n\n{INIT}self.options = self.options.x()\n",
    "through each other": (
        f"class A:\n{INIT}self.a = B.b()\n\n\nclass R(A):\n{INIT}self.b = A.a()\n\n\nclass B:\n{INIT}self.b = R.a()\n"
    ),
    "an alias": f"cfg = cfg.copy()\n\n\nclass R:\n{INIT}self.options = cfg.R.options\n",
}


@pytest.mark.parametrize("ring", RINGS)
def test_a_question_that_comes_back_to_itself_is_unknown(ring: str, judge: Judge) -> None:
    run = "\n    def run(self, name, times):\n        return name\n"
    text = RINGS[ring].replace("class B:", "class B(object):")
    runner = f"{text}\n\nclass Last(R):{run}"
    use = "from runner import Last\n\n\ndef go(name):\n    return Last().run(name).options.options.b.a\n"
    result = judge({"runner.py": runner.replace(", times", "")}, {"other.py": use}, {"runner.py": runner})
    assert [(found.code, found.path) for found in result.findings] == [("GRD304", "other.py")]
