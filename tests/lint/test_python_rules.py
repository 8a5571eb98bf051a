"""Rules in Python: what loads, what does not and says where, and that they go the way of every other rule."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from guard.errors import ConfigError
from guard.lint.python_rules import CodeRule, installed_rules, read_module
from guard.lint.ruleset import RuleSet, load_rules
from guard.model import Severity
from tests.lint.programs import BUILTIN, lint_tree

RULE = """
from guard.lint.python_rules import PythonRule


class NoPrint(PythonRule):
    code = "GRD590"
    name = "no-print"
    severity = "warning"
    summary = "Nothing is printed."
    why = "A print on each rank fills the log."
    words = (("print",),)
    bad = ("print(1)\\n",)
    good = ("log(1)\\n",)

    def visit_Call(self, node):
        if self.file.qualified(node.func) in {"print", "builtins.print"}:
            self.report(node, "prints", subject="print")
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "rule.py"
    path.write_text(text)
    return path


def test_a_visitor_finds_by_qualified_name_and_tells_the_place(tmp_path: Path) -> None:
    ((rule, origin),) = read_module(written(tmp_path, RULE))
    assert origin.endswith("rule.py")
    program = "from builtins import print as say\n\nclass C:\n    def f(self):\n        é = say(1); say(é)\n"
    found = lint_tree({"p.py": program}, RuleSet((rule,), "d")).findings
    assert [(f.code, f.line, f.column, f.symbol, f.subject) for f in found] == [
        ("GRD590", 5, 14, "C.f", "print"),
        ("GRD590", 5, 22, "C.f", "print"),
    ]
    assert found[0].severity is Severity.WARNING
    assert found[0].fingerprint != found[1].fingerprint


def test_a_suppression_with_a_reason_hides_it(tmp_path: Path) -> None:
    ((rule, _),) = read_module(written(tmp_path, RULE))
    program = "print(1)  # guard: allow[no-print] a script\nprint(2)\n"
    assert [f.line for f in lint_tree({"p.py": program}, RuleSet((rule,), "d")).findings] == [2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "rule.py:1: defines no rule"),
        ("x = 1\n\nraise ValueError('no')\n", "rule.py:3: ValueError: no"),
        ("def f(:\n", "rule.py:1: SyntaxError"),
        (RULE.replace('    name = "no-print"\n', ""), "rule.py:5: NoPrint has no name"),
        (RULE.replace('"warning"', '"fatal"'), "rule.py:5: NoPrint.severity: 'fatal' is no severity"),
        (RULE.replace('(("print",),)', '["print"]'), "rule.py:5: NoPrint.words is no tuple"),
    ],
)
def test_a_rule_that_does_not_load_is_an_error_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_module(written(tmp_path, text))
    assert says in str(error.value)


def test_a_package_names_its_rules_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_rules_of_a_package.py").write_text(RULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    ((rule, _),) = installed_rules([EntryPoint("p", "own_rules_of_a_package:NoPrint", "guard.rules")])
    assert rule.id == "GRD590"
    with pytest.raises(ConfigError, match="is no subclass of PythonRule"):
        installed_rules([EntryPoint("p", "pathlib:Path", "guard.rules")])
    with pytest.raises(ConfigError, match="ModuleNotFoundError"):
        installed_rules([EntryPoint("p", "not_there_at_all:Rule", "guard.rules")])


def test_code_of_a_given_place_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "rule.py").write_text("raise SystemExit('ran')\n")
    assert not load_rules([tmp_path], builtin=False).rules


def test_shipped_rules_in_python_are_loaded() -> None:
    assert {"GRD140", "GRD141", "GRD142"} <= {rule.id for rule in BUILTIN if isinstance(rule, CodeRule)}
