"""Rules of one's own: their examples are tried, their holes are bound, their names are their own, definitions match."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.cli import guard
from guard.errors import ConfigError
from guard.lint.ruleset import load_rules
from tests.lint.programs import lines, rules

RULE = """id: GRD590
name: my-rule
severity: error
status: stable
summary: S.
why: W.
message: "$X is passed"
bad: ["f(1)"]
good: ["g(1)"]
match:
  - pattern: 'f($X)'
"""


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(guard, list(arguments), standalone_mode=False)
    if isinstance(done.exception, ConfigError):
        return 2, str(done.exception)
    assert done.exception is None, done.exception
    return done.return_value, done.output


def test_examples_that_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text(RULE)
    status, told = run(tmp_path, monkeypatch, "rules", "test", "mine.yaml")
    assert status == 0
    assert "mine.yaml: GRD590 my-rule: 1 bad, 1 good" in told
    assert "1 rules, 2 examples, 0 do not hold" in told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('bad: ["f(1)"]', 'bad: ["f(1)", "g(1)"]', "bad[1]: the rule finds nothing in it"),
        ('good: ["g(1)"]', 'good: ["f(2)"]', "good[0]: the rule finds something in line 1: 2 is passed"),
        ('bad: ["f(1)"]', 'bad: ["f(1"]', "bad[0]: not analysed"),
        ("match:", "in: {path: ['*.pyx', 'src/**']}\nmatch:", None),
        ("match:", "in: {not-path: ['example*']}\nmatch:", "bad[0]: the rule finds nothing in it"),
    ],
)
def test_an_example_that_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str | None
) -> None:
    pins = tmp_path / "rules" / "pins"
    pins.mkdir(parents=True)
    (pins / "mine.yaml").write_text(RULE.replace(old, new))
    (tmp_path / "code.py").write_text("x = 1\n")
    (tmp_path / ".git").mkdir()
    status, told = run(tmp_path, monkeypatch, "rules", "test", "rules/pins")
    loaded, why = run(tmp_path, monkeypatch, "check", "--no-cache", "code.py")
    if said is None:
        assert (status, loaded) == (0, 0)
        return
    assert status == 1
    assert said in told
    assert loaded == 2
    assert said.partition(": ")[0] in why


def test_nothing_tried_is_not_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").write_text(RULE.replace('["f(1)"]', "[]").replace('["g(1)"]', "[]"))
    status, told = run(tmp_path, monkeypatch, "rules", "test", "mine.yaml")
    assert status == 3
    assert "without a bad example" in told


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("$X is passed", "$Y is passed", "match[0].message: nothing gives $Y a value"),
        ("'f($X)'", "'f($X)'\n    subject: $Z", "match[0].subject: nothing gives $Z a value"),
        ("'f($X)'", "'f($X)'\n    at: Z", "match[0].at: nothing gives $Z a value"),
        ("'f($X)'", "'f($X)'\n    where: [{named: {of: Q, like: x}}]", "match[0].named.of: nothing gives $Q a value"),
        ("'f($X)'", "'f($X)'\n    require: [{value: {of: Q, is: g()}}]", "match[0].value.of: nothing gives $Q"),
        ("'f($X)'", "'f($X)'\n    where: [{parameter: Q}]", "match[0].parameter: nothing gives $Q a value"),
        ("'f($X)'", "'f($X)'\n    where: [{then: {keeps: Q, pattern: g()}}]", "match[0].then.keeps: nothing gives $Q"),
        ("match:", "fix: {replace: 'f($Q)'}\nmatch:", "fix.replace: nothing gives $Q a value"),
        ("match:", "fix: {of: Q, replace: '1'}\nmatch:", "fix.of: nothing gives $Q a value"),
        (
            "'f($X)'",
            "'f($X)'\n    where: [{not: [{before: 'g($N)'}]}]\n    message: '$N'",
            "match[0].message: nothing gives $N a value",
        ),
        ("id: GRD590", "id: GRD102", "'GRD102' is also in"),
        ("name: my-rule", "name: integer-counters", "'integer-counters' is also in"),
        ("id: GRD590", "id: GRD502", "'GRD502' is guard's own GRD502"),
        ("name: my-rule", "name: reverted-fix", "'reverted-fix' is guard's own GRD201"),
    ],
)
def test_a_mistake_is_told_when_the_rule_is_loaded(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "mine.yaml").write_text(RULE.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_rules([tmp_path])
    assert said in str(caught.value)
    assert "mine.yaml:1: " in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "code", "found"),
    [
        ("def forward($S, $X): ...", "def forward(self, x: Tensor) -> Tensor:\n    return x\n", True),
        ("def forward($S, $X): ...", "@torch.no_grad()\ndef forward(self, x=None):\n    return x\n", True),
        ("def forward($S, $X): ...", "def forward(self, x, y):\n    return x\n", False),
        ("def forward($S, *$_): ...", "def forward(self, x: int, y: int, *rest):\n    return x\n", True),
        ("def forward($S, *$_): ...", "def forward(self, *, key: int):\n    return key\n", False),
        ("def forward($S, **$_): ...", "def forward(self, *, key: int, **more):\n    return key\n", True),
        ("def forward($S, $X: int): ...", "def forward(self, x: int):\n    return x\n", True),
        ("def forward($S, $X: int): ...", "def forward(self, x: str):\n    return x\n", False),
        ("def forward($S, $X: int): ...", "def forward(self, x):\n    return x\n", False),
        ("def forward($S, $X) -> int: ...", "def forward(self, x) -> str:\n    return x\n", False),
        ("def $F($X=None): ...", "def any_name(x: int | None = None) -> None:\n    return x\n", True),
        ("def $F($X=None): ...", "def any_name(x):\n    return x\n", False),
        ("def forward($S):\n    return $S", "def forward(self) -> int:\n    return self\n", True),
        ("def forward($S):\n    return $S", "async def forward(self):\n    return self\n", False),
        ("async def forward($S): ...", "async def forward(self: 'A') -> None:\n    return self\n", True),
        ("class Loss: ...", "@final\nclass Loss(Function):\n    x = 1\n", True),
        ("class Loss(Function): ...", "class Loss(Module):\n    x = 1\n", False),
        ("@staticmethod\ndef f(): ...", "def f() -> None:\n    return\n", False),
    ],
)
def test_a_definition_matches_whatever_its_annotations(pattern: str, code: str, found: bool) -> None:
    body = "\n".join("    " + line for line in pattern.splitlines())
    chosen = rules(f"- pattern: |\n{body}\n")
    assert bool(lines(code, chosen)) is found


def test_under_while() -> None:
    chosen = rules("""
        - pattern: 'step($X)'
          where:
            - under: {while: ['$_.more()']}
    """)
    code = """
    while data.more():
        step(1)
    else:
        step(2)
    while True:
        step(3)
    while data.more() and ready:
        for _ in range(2):
            step(4)
    """
    assert lines(code, chosen) == [2, 9]
