"""The same words, another meaning: what a used name is was changed by the side that did not write the use."""

from __future__ import annotations

import pytest

from tests.broken.conftest import Judge

THING, USE = "thing.py", "use.py"
PLAIN = "def fetch(key):\n    return key\n"
STORE = "class Store:\n    @property\n    def size(self):\n        return 1\n"
CALLED = STORE.replace("    @property\n", "")
BASE = "import abc\n\n\nclass Base{}:\n    @abc.abstractmethod\n    def run(self):\n        ...\n"
STOP = "\n    @abc.abstractmethod\n    def stop(self):\n        ...\n"
SUB = "from thing import Base\n\n\nclass Sub(Base):\n    def run(self):\n        return 1\n{}\n\nSUB = Sub()\n"
RUN = (
    "class Base:\n    def run(self, x{0}):\n        return x\n\n\n"
    "def drive(base: Base, x):\n    return base.run(x{1})\n"
)
OVER = (
    "from thing import Base, drive\n\n\n"
    "class Sub(Base):\n    def run(self, {}):\n        return x\n\n\nOUT = drive(Sub(), 1)\n"
)
DATA = (
    "from dataclasses import dataclass\n\n\n"
    "@dataclass\nclass Settings:\n    rate: float = 0.1\n{}    decay: float = 0.0\n"
)

BROKEN = {
    "a sum with a coroutine": (
        PLAIN,
        f"async {PLAIN}",
        "from thing import fetch\n\n\ndef total(k):\n    return fetch(k) + 1\n",
    ),
    "an item of a coroutine": (
        PLAIN,
        f"async {PLAIN}",
        "from thing import fetch\n\n\ndef first(k):\n    return fetch(k)[0]\n",
    ),
    "a coroutine that never runs": (PLAIN, f"async {PLAIN}", "from thing import fetch\n\n\ndef go(k):\n    fetch(k)\n"),
    "a method read as a property": (
        STORE,
        CALLED,
        "from thing import Store\n\n\ndef total():\n    return Store().size + 1\n",
    ),
    "a property called as a method": (
        CALLED,
        STORE,
        "from thing import Store\n\n\ndef total(store: Store):\n    return store.size()\n",
    ),
    "an object without an abstract method": (BASE.format("(abc.ABC)"), BASE.format("(abc.ABC)") + STOP, SUB.format("")),
    "the same by a metaclass": (
        BASE.format("(metaclass=abc.ABCMeta)"),
        BASE.format("(metaclass=abc.ABCMeta)") + STOP,
        SUB.format(""),
    ),
    "an override without the new argument": (RUN.format("", ""), RUN.format(", scale", ", 2"), OVER.format("x")),
    "an override without the new keyword": (
        RUN.format("", ""),
        RUN.format(", *, scale", ", scale=2"),
        OVER.format("x"),
    ),
}
FINE = {
    "a coroutine that is awaited": (
        PLAIN,
        f"async {PLAIN}",
        "from thing import fetch\n\n\nasync def total(k):\n    return await fetch(k) + 1\n",
    ),
    "a coroutine that is handed on": (
        PLAIN,
        f"async {PLAIN}",
        "import asyncio\n\nfrom thing import fetch\n\n\ndef total(k):\n    return asyncio.run(fetch(k))\n",
    ),
    "a method that was one before": (
        CALLED,
        CALLED.replace("1", "2"),
        "from thing import Store\n\n\ndef callback():\n    return Store().size\n",
    ),
    "an object that has every method": (
        BASE.format("(abc.ABC)"),
        BASE.format("(abc.ABC)") + STOP,
        SUB.format("\n    def stop(self):\n        pass\n"),
    ),
    "abstract in name only": (BASE.format(""), BASE.format("") + STOP, SUB.format("")),
    "an override that takes anything": (RUN.format("", ""), RUN.format(", scale", ", 2"), OVER.format("x, *rest")),
    "a new argument with a default": (RUN.format("", ""), RUN.format(", scale=1", ""), OVER.format("x")),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_use_of_what_has_become_something_else_is_a_break(kind: str, judge: Judge) -> None:
    before, after, use = BROKEN[kind]
    result = judge({THING: before, "k.txt": "1"}, {USE: use}, {THING: after})
    assert [(found.code, found.path) for found in result.findings] == [("GRD304", USE)]
    assert {origin.subject for origin in result.findings[0].origins} == {"Change of theirs (#7)", "Change of ours"}


@pytest.mark.parametrize("kind", FINE)
def test_a_use_that_fits_what_it_has_become_is_none(kind: str, judge: Judge) -> None:
    before, after, use = FINE[kind]
    assert judge({THING: before, "k.txt": "1"}, {USE: use}, {THING: after}).findings == ()


@pytest.mark.parametrize(
    "use", ["Settings(0.1, 0.2)", "Settings(0.1, LEFT)", "Settings(*[0.1], decay=0.2)", "Settings(0.1, decay=0.2)"]
)
def test_an_argument_that_meets_another_field_is_told_whatever_it_is_called(use: str, judge: Judge) -> None:
    text = f"from thing import Settings\n\nLEFT = 0.2\n\n\ndef make():\n    return {use}\n"
    result = judge({THING: DATA.format("")}, {USE: text}, {THING: DATA.format("    momentum: float = 0.9\n")})
    assert [found.code for found in result.findings] == (["GRD310"] if "decay" not in use else [])
