from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


CONTENT_BEFORE = "def step(x, y, eps=1e-5):\n    total = x + eps\n    total = total * y\n    return total\n"
CONTENT_AFTER = CONTENT_BEFORE.replace("1e-5", "1e-8")
RULE_BEFORE = BODY.replace("total = a + b", "total = reduce(a)")
RULE_AFTER = BODY.replace("total = a + b", "total = reduce(a, group=group)")


@pytest.mark.parametrize(
    ("before", "after", "kind"), [(CONTENT_BEFORE, CONTENT_AFTER, CONTENT), (RULE_BEFORE, RULE_AFTER, RULE)]
)
@pytest.mark.parametrize(
    "rename",
    [
        lambda text: {"core/step.py": None, "core/stepping.py": text},
        lambda text: {"core/step.py": None, "other/step.py": text},
        lambda text: {"core/step.py": text.replace("def step", "def advance")},
        lambda text: {"core/step.py": None, "core/walk.py": text.replace("def step", "def advance")},
    ],
    ids=["file", "folder", "definition", "both"],
)
def test_a_pin_follows_its_code(
    before: str, after: str, kind: str, rename: Any, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fix(workshop, before, after)
    run(workshop.folder, monkeypatch, "learn", "HEAD")
    assert (workshop.folder / "rules/pins/content").is_dir() is (kind == CONTENT)
    start = workshop.commit("Pin it", {"a.py": "A = 1\n"})
    workshop.commit("Rename it", rename(after))
    assert _since(workshop, monkeypatch, start) == []
    workshop.commit("Undo it there", {path: text for path, text in rename(before).items() if text is not None})
    (found,) = _since(workshop, monkeypatch, start)
    assert (found["severity"], "without its place" in found["message"]) == ("error", False)
    assert (workshop.folder / found["path"]).is_file()


@pytest.mark.parametrize(("before", "after"), [(CONTENT_BEFORE, CONTENT_AFTER), (RULE_BEFORE, RULE_AFTER)])
@pytest.mark.parametrize("left", [None, "def other(a):\n    return a\n"], ids=["file gone", "definition gone"])
def test_a_pin_without_its_place_is_an_error(
    before: str, after: str, left: str | None, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fix(workshop, before, after)
    run(workshop.folder, monkeypatch, "learn", "HEAD")
    start = workshop.commit("Pin it", {"a.py": "A = 1\n"})
    workshop.commit("Drop it", {"core/step.py": left})
    (found,) = _since(workshop, monkeypatch, start)
    assert (found["code"], found["severity"], found["name"]) == ("GRD501", "error", "pin-7-fix-the-step")
    assert "pin without its place" in found["message"]
    workshop.branch("dev", start)
    workshop.commit("work", {"b.py": "B = 1\n"})
    workshop.merge("main", {})
    result = run(workshop.folder, monkeypatch, "check", "--merge", "HEAD", "-o", "json", "--select", "GRD501")
    assert len(json.loads(result.stdout)["findings"]) == 1
    assert result.return_value == 1
    rows = run(workshop.folder, monkeypatch, "contains", "pin-7-fix-the-step", "--in", "HEAD", start, "-o", "json")
    assert [row["status"] for row in json.loads(rows.stdout)["contains"]] == ["not-merged", "present"]


def _since(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, start: str) -> list[dict[str, Any]]:
    result = run(workshop.folder, monkeypatch, "check", "--since", start, "-o", "json", "--select", "GRD501")
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return found
