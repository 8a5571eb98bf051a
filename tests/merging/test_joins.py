"""What both sides changed in one hunk is joined where the syntax says how, and left open where it does not."""

from __future__ import annotations

import pytest

from tests.merging.conftest import Join

# what it shows: base, ours, theirs, joined
JOINED = {
    "imported names are a set": (
        "from m import a, b\n",
        "from m import a, b, ours\n",
        "from m import a, b, theirs\n",
        "from m import a, b, ours, theirs\n",
    ),
    "an import taken out on one side and extended on the other": (
        "from m import a, b\nuse(a)\n",
        "from m import b\nuse(a)\n",
        "from m import a, b, c\nuse(a)\n",
        "from m import b, c\nuse(a)\n",
    ),
    "imports put in at one place": (
        "import os\n\nx = 1\n",
        "import os\nimport re\n\nx = 1\n",
        "import os\nimport sys\n\nx = 1\n",
        "import os\nimport re\nimport sys\n\nx = 1\n",
    ),
    "keyword arguments of one call": (
        "f(a, b)\n",
        "f(a, b, left=1)\n",
        "f(a, b, right=2)\n",
        "f(a, b, left=1, right=2)\n",
    ),
    "keyword arguments, each on its line": (
        "f(\n    a,\n    b=1,\n)\n",
        "f(\n    a,\n    b=1,\n    left=1,\n)\n",
        "f(\n    a,\n    b=1,\n    right=2,\n)\n",
        "f(\n    a,\n    b=1,\n    left=1,\n    right=2,\n)\n",
    ),
    "two arguments of one call, each changed by one side": (
        "f(a=1, b=2)\n",
        "f(a=x, b=2)\n",
        "f(a=1, b=y)\n",
        "f(a=x, b=y)\n",
    ),
    "parameters with defaults": (
        "def f(a, b=1):\n    return a\n",
        "def f(a, b=1, left=2):\n    return a\n",
        "def f(a, b=1, right=3):\n    return a\n",
        "def f(a, b=1, left=2, right=3):\n    return a\n",
    ),
    "a keyword-only parameter and a positional one": (
        "def f(p, q):\n    return p\n",
        "def f(p, q, *, r=None):\n    return p\n",
        "def f(p, q, s=2):\n    return p\n",
        "def f(p, q, s=2, *, r=None):\n    return p\n",
    ),
    "members of __all__": (
        "__all__ = ['a', 'b']\n",
        "__all__ = ['a', 'b', 'left']\n",
        "__all__ = ['a', 'b', 'right']\n",
        "__all__ = ['a', 'b', 'left', 'right']\n",
    ),
    "items of a dict": (
        "T = {'a': 1}\n",
        "T = {'a': 1, 'left': 2}\n",
        "T = {'a': 1, 'right': 3}\n",
        "T = {'a': 1, 'left': 2, 'right': 3}\n",
    ),
    "definitions put in at one place": (
        "def f():\n    return 1\n",
        "def f():\n    return 1\n\n\ndef left():\n    return 2\n",
        "def f():\n    return 1\n\n\ndef right():\n    return 3\n",
        "def f():\n    return 1\n\n\ndef left():\n    return 2\n\n\ndef right():\n    return 3\n",
    ),
    "fields of a class": (
        "class C:\n    a: int = 1\n",
        "class C:\n    a: int = 1\n    left: int = 2\n",
        "class C:\n    a: int = 1\n    right: int = 3\n",
        "class C:\n    a: int = 1\n    left: int = 2\n    right: int = 3\n",
    ),
    "options of a parser": (
        "group.add_argument('--a')\n",
        "group.add_argument('--a')\ngroup.add_argument('--left')\n",
        "group.add_argument('--a')\ngroup.add_argument('--right')\n",
        "group.add_argument('--a')\ngroup.add_argument('--left')\ngroup.add_argument('--right')\n",
    ),
    "one side only reformats what the other changes": (
        "def f(a):\n    x = call(a, b)\n    return x\n",
        "def f(a):\n    x = call(\n        a,\n        b,\n    )\n    return x\n",
        "def f(a):\n    x = call(a, b, c=1)\n    return x\n",
        "def f(a):\n    x = call(a, b, c=1)\n    return x\n",
    ),
    "a comment on one side goes with its statement": (
        "def f(a):\n    x = first(a)\n    y = second(a)\n    return x\n",
        "def f(a):\n    x = first(a)\n    # why\n    y = second(a)\n    return x\n",
        "def f(a):\n    x = first(a)\n    y = other(a)\n    return x\n",
        "def f(a):\n    x = first(a)\n    # why\n    y = other(a)\n    return x\n",
    ),
    "the same change in two formats stands once": (
        "x = f(a)\n",
        "x = f(a, b=1)\n",
        "x = f(\n    a,\n    b=1,\n)\n",
        "x = f(\n    a,\n    b=1,\n)\n",
    ),
    "neighbouring statements that do not bear on each other": (
        "def f(a, b):\n    first(a)\n    second(b)\n    return 0\n",
        "def f(a, b):\n    first(a, deep=True)\n    second(b)\n    return 0\n",
        "def f(a, b):\n    first(a)\n    second(b, wide=True)\n    return 0\n",
        "def f(a, b):\n    first(a, deep=True)\n    second(b, wide=True)\n    return 0\n",
    ),
    "entries of a docstring": (
        'def f(a):\n    """Do.\n\n    Args:\n        a: one.\n    """\n    return a\n',
        'def f(a):\n    """Do.\n\n    Args:\n        a: one.\n        left: two.\n    """\n    return a\n',
        'def f(a):\n    """Do.\n\n    Args:\n        a: one.\n        right: three.\n    """\n    return a\n',
        'def f(a):\n    """Do.\n\n    Args:\n        a: one.\n        left: two.\n        right: three.\n    """\n'
        "    return a\n",
    ),
}

# what it shows: base, ours, theirs, a word of the reason
OPEN = {
    "delete against change": ("x = 1\ny = f(a)\nz = 3\n", "x = 1\nz = 3\n", "x = 1\ny = f(b)\nz = 3\n", "deleted"),
    "both replaced": ("x = f(a)\n", "x = g(a)\n", "x = h(a)\n", "replaced"),
    "both put another call in its place": ("f(a)\n", "g(a, 1)\n", "h(b)\n", "deleted"),
    "one key with two values": ("f(a)\n", "f(a, k=x)\n", "f(a, k=y)\n", "two values"),
    "one new name for two things": ("from m import a\n", "from m import b as a\n", "from n import c as a\n", ""),
    "one name of two modules": ("import os\n", "import os\nfrom m import a\n", "import os\nfrom n import a\n", "name"),
    "positional arguments that shift": ("f(a)\n", "f(new, a)\n", "f(b)\n", "shift"),
    "numeric code changed by both": (
        "def f(loss, n):\n    loss = loss / n\n    return loss\n",
        "def f(loss, n):\n    loss = loss / n * scale\n    return loss\n",
        "def f(loss, n):\n    loss = loss / (n + eps)\n    return loss\n",
        "number",
    ),
    "numeric neighbours": (
        "def f(loss, n):\n    a = loss / n\n    b = n + 1\n    return a, b\n",
        "def f(loss, n):\n    a = loss / n / 2\n    b = n + 1\n    return a, b\n",
        "def f(loss, n):\n    a = loss / n\n    b = n + 2\n    return a, b\n",
        "numeric",
    ),
    "docstrings that disagree": ('"""One."""\n', '"""Two."""\n', '"""Three."""\n', "docstrings"),
    "calls whose order may matter": ("f()\n", "f()\nleft()\n", "f()\nright()\n", "order"),
    "a value that the other side's statement reads": (
        "def f(a):\n    x = first(a)\n    y = second(a)\n    return x, y\n",
        "def f(a):\n    x = other(a)\n    y = second(a)\n    return x, y\n",
        "def f(a):\n    x = first(a)\n    y = second(x)\n    return x, y\n",
        "bears on",
    ),
    "two returns at one place": (
        "def f(a):\n    g(a)\n",
        "def f(a):\n    g(a)\n    return 1\n",
        "def f(a):\n    g(a)\n    return 2\n",
        "leaves",
    ),
    "an import that one side moved and the other cut down": (
        "from m import a, b\n",
        "from m import a\n",
        "from n import a, b\n",
        "moved",
    ),
    "one definition put in twice": (
        "x = 1\n",
        "x = 1\n\n\ndef f():\n    return 1\n",
        "x = 1\n\n\ndef f():\n    return 2\n",
        "same name",
    ),
    "required parameters put in by both": (
        "def f(a):\n    return a\n",
        "def f(a, left):\n    return a\n",
        "def f(a, right):\n    return a\n",
        "order",
    ),
    "comments that disagree": ("# one\nx = 1\n", "# two\nx = 1\n", "# three\nx = 1\n", "comments"),
    "a list of numbers": ("S = [1, 2]\n", "S = [1, 2, 3]\n", "S = [1, 2, 4]\n", ""),
}


@pytest.mark.parametrize("case", JOINED.values(), ids=JOINED)
def test_joined(join: Join, case: tuple[str, str, str, str]) -> None:
    base, ours, theirs, wanted = case
    assert join(base, ours, theirs).text == wanted
    assert join(base, theirs, ours).text == wanted


@pytest.mark.parametrize("case", OPEN.values(), ids=OPEN)
def test_left_open(join: Join, case: tuple[str, str, str, str]) -> None:
    base, ours, theirs, reason = case
    for sides in ((ours, theirs), (theirs, ours)):
        found = join(base, *sides)
        assert found.reasons
        assert all(reason in said for said in found.reasons), found.reasons


def test_an_open_hunk_does_not_keep_others_open(join: Join) -> None:
    """The hunks of one function: one is joined, the other stays as git left it."""
    middle = "    keep_one()\n    keep_two()\n    keep_three()\n"
    base = f"def f(a):\n    x = one(a)\n{middle}    call(a)\n"
    ours = f"def f(a):\n    x = two(a)\n{middle}    call(a, left=1)\n"
    theirs = f"def f(a):\n    x = three(a)\n{middle}    call(a, right=2)\n"
    found = join(base, ours, theirs).resolution
    assert [outcome.resolved for outcome in found.outcomes] == [False, True]
    assert found.program == f"def f(a):\n    x = two(a)\n{middle}    call(a, left=1, right=2)\n"
