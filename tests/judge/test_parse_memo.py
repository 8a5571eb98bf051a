"""A file read with what its other versions already had parsed is the file read alone."""

from __future__ import annotations

import inspect
import json
import textwrap

import pytest

from guard.documents import definitions, statements
from guard.documents.definitions import ParseMemo, SourceFile, parse
from guard.documents.segments import SegmentMemo, outline
from guard.errors import NotAnalysedError

TRICKY = {
    "a string with a definition in it": 'TEXT = """\ndef f():\n    return 1\n"""\n\ndef g():\n    return TEXT\n',
    "branches at the top": "if FAST:\n    def f(x): return x\nelse:\n    def f(x):\n        return x + 1\nafter = f\n",
    "decorated, with comments between": "@cache\n# why\n@other(\n    1,\n)\ndef f():\n    pass\n# end\nx = 1\n",
    "a header over several lines": "def f(\n    a,\n    b,\n):\n    return a + b\nclass C(\n    Base,\n):\n    x = 1\n",
    "twice the same": "def f():\n    return 1\ndef f():\n    return 1\n",
    "statements around": "import a\ndef f(): pass\nfor i in a:\n    b(i)\nclass C:\n    def m(self): pass\nc = C()\n",
    "a try at the top": "try:\n    import a\nexcept ImportError:\n    a = None\n\n\ndef f():\n    return a\n",
    "async and continued": "async def f():\n    await x\nx = 1 + \\\n    2\ny = (\n1)\n",
    "empty": "",
}
REAL = {module.__name__: inspect.getsource(module) for module in (definitions, statements, json)}


def facts(file: SourceFile) -> list[object]:
    return [
        (key, d.kind, d.line, d.end_line, d.own, d.statements, file.excerpt(d.line, d.end_line))
        for key, d in file.definitions.items()
    ]


@pytest.mark.parametrize("text", [*TRICKY.values(), *REAL.values()], ids=[*TRICKY, *REAL])
def test_other_versions_of_a_file_change_nothing(text: str) -> None:
    memo = ParseMemo()
    versions = [text, f"import first\n\n\n{text}", textwrap.dedent(text) + "\n\nlast = 1\n", text]
    for version in versions:
        assert facts(parse(version.encode(), memo)) == facts(parse(version.encode()))


def test_what_versions_share_is_parsed_once() -> None:
    memo = ParseMemo()
    parse(b"def f():\n    return 1\n\n\ndef g():\n    return 2\n", memo)
    parse(b"x = 1\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 3\n", memo)
    assert len(memo) == 4


def test_no_python_is_told_with_its_own_line() -> None:
    text = b"def f():\n    return 1\n\n\ndef g(:\n    return 2\n"
    for memo in (None, ParseMemo()):
        with pytest.raises(NotAnalysedError, match="line 5"):
            parse(text, memo)


@pytest.mark.parametrize("character", ["\u00a0", "\x0b", "\x1c", "\u2028"])
@pytest.mark.parametrize("line", ["{}", "    return 1 {}", ""])
def test_what_only_looks_blank_is_no_python(character: str, line: str) -> None:
    text = f"def f():\n    pass\n{line.format(character)}\ndef g():\n    pass\n{'' if line else character}\n"
    for memo in (None, ParseMemo()):
        with pytest.raises(NotAnalysedError):
            parse(text.encode(), memo)
    assert outline(text.encode(), SegmentMemo()).error
