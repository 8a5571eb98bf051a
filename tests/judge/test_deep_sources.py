"""One file that is deeper or longer than anybody writes costs itself at most; what is lost beside it is told."""

from __future__ import annotations

import pytest

from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

LOSS = "def loss(x, n):\n    return x / n\n"
DEEP = {
    "300 chained calls": "x = a" + "".join(f".b{n}({n})" for n in range(300)),
    "3,000 chained calls": "x = a" + "".join(f".b{n}({n})" for n in range(3000)),
    "a sum of 900 terms": "x = " + " + ".join(f"a{n}" for n in range(900)),
    "a sum of 9,000 terms": "x = " + " + ".join(f"a{n}" for n in range(9000)),
    "500 nots": "x = " + "not " * 500 + "a",
    "3,600 hex digits": "x = 0x" + "f" * 3600,
    "100,000 hex digits": "x = 0x" + "f" * 100_000,
    "80 brackets": "x = " + "[" * 80 + "]" * 80,
    "1,000 brackets": "x = " + "[" * 1000 + "]" * 1000,
    "90 nested blocks": "\n".join("    " * n + "if a:" for n in range(90)) + "\n" + "    " * 90 + "x = 1",
    "500 lambdas": "x = " + "lambda: " * 500 + "1",
    "300 conditional expressions": "x = " + "".join(f"{n} if a{n} else " for n in range(300)) + "0",
}


@pytest.mark.parametrize("name", DEEP)
def test_the_loss_beside_it_is_told(workshop: Workshop, guard: Guard, name: str) -> None:
    def deep(eps: int) -> str:
        return f"{DEEP[name]}\nEPS = {eps}\n"

    base = {"a.py": deep(1), "b.py": LOSS, "k.txt": "1\n"}
    lost = {**base, "k.txt": "2\n"}
    make_sync(workshop, base, {**base, "a.py": deep(2), "b.py": LOSS.replace("x / n", "x / (n * 2)")}, lost, lost)
    answer = guard.check("--merge", "HEAD", "--no-cache")
    paths = {finding["path"] for finding in answer.findings("GRD2")}
    assert "b.py" in paths, answer.errors
    named = {outcome.get("subject") for outcome in answer.report["outcomes"] if outcome["status"] != "ran"}
    assert "a.py" in paths | named
    assert answer.status != 2
