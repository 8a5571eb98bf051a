from __future__ import annotations

import json
from pathlib import Path

import pytest

from guard.checks.pinning.making import CONTENT, RULE, make_pins
from guard.checks.pinning.trial import found_by
from guard.git import Repository
from guard.lint.language import Rule
from guard.lint.schema import load_text
from tests.conftest import Workshop
from tests.ledger.conftest import FIXED, ROUTER
from tests.ledger.test_contains import run

BODY = "def step(x, y, group=None):\n    a = load(x)\n    b = load(y)\n    total = a + b\n    return total\n"
EDITS = {
    "argument added": ("total = reduce(a)", "total = reduce(a, group=group)"),
    "argument value": ("total = reduce(a, group=None)", "total = reduce(a, group=group)"),
    "factor": ("total = a", "total = a * scale"),
    "divisor": ("total = a.sum()", "total = a.sum() / b"),
    "clamp": ("total = a / b", "total = a / b.clamp(min=1)"),
    "call replaced": ("total = torch.cuda.default_stream()", "total = torch.cuda.current_stream()"),
    "statement added": ("total = a + b", "total = a + b\n    total = total.float()"),
    "statement moved": ("a = unpad(a)\n    total = bias(a)", "total = bias(a)\n    a = unpad(a)"),
    "guard added": ("total = a + b\n    send(total)", "total = a + b\n    if group is not None:\n        send(total)"),
    "condition": ("if a is not None:\n        total = b", "if a is None:\n        total = b"),
    "dtype": ("total = softmax(a).float()", "total = softmax(a.float())"),
    "assignment": ("self.keep = True\n    total = a", "self.keep = a in b\n    total = a"),
    "positional": ("total = gather(a, 0)", "total = gather(a, 1)"),
    "subscript": ("total = a[0]", "total = a[1:]"),
}  # fmt: skip


def _fix(workshop: Workshop, before: str, after: str) -> str:
    workshop.commit("start", {"core/step.py": before})
    return workshop.commit("Fix the step (#7)", {"core/step.py": after})


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_each_shape_of_edit_becomes_a_rule_that_holds(edit: tuple[str, str], workshop: Workshop) -> None:
    before, after = (BODY.replace("total = a + b", text) for text in edit)
    sha = _fix(workshop, before, after)
    with Repository.open(workshop.folder) as repository:
        (pin,) = make_pins(repository, repository.commit(sha))
    assert pin.kind == RULE
    rule = load_text(Rule, pin.text, "pin")
    assert (rule.id, rule.name, rule.origin) == ("GRD501-7", "pin-7-fix-the-step", (7,))
    assert found_by(rule, "core/step.py", before.encode()).findings
    assert not found_by(rule, "core/step.py", after.encode()).findings
    assert found_by(rule, "core/step.py", rule.bad[0].encode()).findings
    assert not found_by(rule, "core/step.py", rule.good[0].encode()).findings
    assert not found_by(rule, "other/place.py", before.encode()).findings


def test_what_no_rule_states_is_pinned_by_content(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    before = "def step(x, eps=1e-5):\n    return x + eps\n"
    after = before.replace("1e-5", "1e-8")
    sha = _fix(workshop, before, after)
    with Repository.open(workshop.folder) as repository:
        (pin,) = make_pins(repository, repository.commit(sha))
    assert pin.kind == CONTENT
    assert run(workshop.folder, monkeypatch, "learn", "HEAD").return_value == 0
    assert (workshop.folder / "rules/pins/content/pin-7-fix-the-step.yaml").is_file()
    assert _broken(workshop, monkeypatch) == []
    workshop.write({"core/step.py": before})
    assert _broken(workshop, monkeypatch) == ["pin-7-fix-the-step"]


def test_a_pin_is_held_against_paths_and_ranges_without_a_merge(
    forked: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(forked.folder, monkeypatch, "learn", "#58")
    pinned = forked.commit("Pin the fix")
    assert _broken(forked, monkeypatch) == []
    forked.commit("Go back", {"router.py": ROUTER})
    assert _broken(forked, monkeypatch) == ["pin-58-fix-the-sequence-loss-scale-for-several"]
    result = run(forked.folder, monkeypatch, "check", "--since", pinned, "-o", "json")
    told = [f for f in json.loads(result.stdout)["findings"] if f["code"] == "GRD501"]
    assert [(f["severity"], f["path"], f["line"]) for f in told] == [("error", "router.py", 11)]
    assert result.return_value == 1


def test_a_merge_that_breaks_a_pin_is_an_error_and_the_whole_tree_is_looked_at(
    forked: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked.switch("dev")
    run(forked.folder, monkeypatch, "learn", "fix")
    forked.commit("Pin a fix that dev does not have yet")
    forked.switch("main")
    forked.commit("Unrelated", {"other.py": "VALUE = 2\n"})
    forked.switch("dev")
    forked.merge("main", {"router.py": ROUTER})
    result = run(forked.folder, monkeypatch, "check", "--merge", "HEAD", "-o", "json", "--select", "GRD501")
    assert [f["path"] for f in json.loads(result.stdout)["findings"]] == ["router.py"]
    forked.commit("Take the fix", {"router.py": FIXED})
    result = run(forked.folder, monkeypatch, "check", "router.py", "-o", "json", "--select", "GRD501")
    assert json.loads(result.stdout)["findings"] == []


def test_pins_of_a_bare_repository_come_from_the_merged_tree(
    forked: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forked.switch("dev")
    run(forked.folder, monkeypatch, "learn", "fix")
    forked.commit("Pin a fix that dev does not have yet")
    merge = forked.merge("main", {"router.py": ROUTER})
    bare = tmp_path / "bare.git"
    forked.git("clone", "-q", "--bare", str(forked.folder), str(bare))
    result = run(bare, monkeypatch, "check", "--merge", merge, "-o", "json", "--select", "GRD501")
    assert [f["path"] for f in json.loads(result.stdout)["findings"]] == ["router.py"]


def test_learn_prints_and_refuses_to_replace(forked: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = run(forked.folder, monkeypatch, "learn", "fix", "--print").stdout
    assert "valid_token_count" in printed
    assert not (forked.folder / "rules").exists()
    run(forked.folder, monkeypatch, "learn", "fix")
    with pytest.raises(Exception, match="--force"):
        run(forked.folder, monkeypatch, "learn", "fix")
    assert run(forked.folder, monkeypatch, "learn", "fix", "--force").return_value == 0


def _broken(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    result = run(workshop.folder, monkeypatch, "check", ".", "-o", "json", "--select", "GRD5")
    return [finding["name"] for finding in json.loads(result.stdout)["findings"]]


def test_a_bare_repository_prints_the_pin(forked: Workshop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    forked.git("clone", "-q", "--bare", str(forked.folder), str(bare))
    printed = run(bare, monkeypatch, "learn", "fix").stdout
    assert "valid_token_count" in printed
    assert not (bare / "rules").exists()
