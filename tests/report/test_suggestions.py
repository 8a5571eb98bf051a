"""What a reader can take over: commands that run as printed, edits and patches that do what they say, links."""

from __future__ import annotations

import html
import json
import re
import shlex
import subprocess
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from guard.codes import CODES
from guard.commands.output import documents_of_install
from guard.lint.pages import codes_document
from guard.lint.ruleset import load_rules
from guard.report.line_hash import line_hashes
from tests.conftest import Workshop
from tests.syncs import Guard, make_sync

ROOT = Path(__file__).parents[2]
BASE = "def aux(probs, bsz):\n    count = probs.shape[0]\n    return probs.sum() / count\n"
FIXED = BASE.replace("shape[0]", "shape[0] * bsz")
LINTED = "import torch\n\n\ndef start(grad_stream):\n    grad_stream.wait_stream(torch.cuda.default_stream())\n"
COMMAND = re.compile(
    r"guard (?:explain|restore|accept) (?:[0-9a-f]{16}|GRD\d+)[^`\n<\"%\\]*|guard check --fix [\w./]+\.py"
)
FORMATS = ["text", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson", "markdown", "html"]


@pytest.fixture
def lossy(workshop: Workshop) -> str:
    """dev loses a fix in one sync and a line of settings in a second one; the start of the range."""
    merge = make_sync(
        workshop,
        {"m.py": BASE, "s.yaml": "a: 1\nb: 2\n"},
        {"m.py": BASE + "\n\nx = 1\n", "s.yaml": "a: 1\nb: 2\n"},
        {"m.py": FIXED, "s.yaml": "a: 1\nb: 2\n"},
        {"m.py": BASE + "\n\nx = 1\n", "s.yaml": "a: 1\nb: 2\n"},
        theirs_message="Fix the count (#5798)",
    )
    workshop.switch("main")
    workshop.commit("Set b (#12)", {"s.yaml": "a: 1\nb: 20\n"})
    workshop.switch("dev")
    workshop.commit("own", {"own.py": "own = 1\n"})
    workshop.merge("main", {"s.yaml": "a: 1\nb: 2\n"})
    workshop.commit("later, with a finding of a rule", {"l.py": LINTED})
    return workshop.git("rev-parse", f"{merge}^1")


def printed(text: str) -> list[str]:
    """The commands of guard in a report, each once."""
    plain = html.unescape(unquote(text)).replace("\\n", "\n").replace("&#39;", "'")
    return sorted({found.strip().rstrip(").,;").strip() for found in COMMAND.findall(plain)})


@pytest.mark.parametrize("verb", ["check --since", "check --merge", "check", "history"])
def test_every_printed_command_runs(workshop: Workshop, guard: Guard, lossy: str, verb: str) -> None:
    words = {
        "check --since": ["check", "--since", lossy],
        "check --merge": ["check", "--merge", "HEAD~1"],
        "check": ["check", "l.py"],
        "history": ["history", f"{lossy}..dev"],
    }[verb]
    commands: set[str] = set()
    files = [argument for form in FORMATS for argument in ("-o", f"{form}=report.{form}")]
    guard(*words, *files, "--jobs", "1", folder=workshop.folder)
    for form in FORMATS:
        found = printed((workshop.folder / f"report.{form}").read_text())
        assert found or form == "concise", form
        if verb.startswith("check --"):
            assert form == "concise" or any(command.startswith("guard restore") for command in found), form
        commands.update(found)
    # What edits a file comes last: the others speak of the file as it was.
    for command in sorted(commands, key=lambda command: ("--fix" in command, command)):
        ran = guard(*shlex.split(command)[1:])
        assert ran.status == 0, (command, ran.errors)
        if command.startswith("guard restore"):
            applied = subprocess.run(
                ["git", "apply", "--check", "-"], cwd=workshop.folder, input=ran.output, text=True, check=False
            )
            assert applied.returncode == 0


def test_a_sarif_fix_and_an_rdjson_suggestion_bring_the_loss_back(workshop: Workshop, guard: Guard, lossy: str) -> None:
    sarif = json.loads(guard("check", "--since", lossy, "-o", "sarif", folder=workshop.folder).output)
    results = sarif["runs"][0]["results"]
    lost = next(r for r in results if r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "m.py")
    (change,) = lost["fixes"][0]["artifactChanges"]
    (replacement,) = change["replacements"]
    lines = (workshop.folder / "m.py").read_text().splitlines(keepends=True)
    region = replacement["deletedRegion"]
    lines[region["startLine"] - 1 : region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
    assert "".join(lines) == FIXED + "\n\nx = 1\n"
    document = json.loads(guard("check", "--since", lossy, "-o", "rdjson").output)
    suggested = [d for d in document["diagnostics"] if d["location"]["path"] == "m.py" and "suggestions" in d]
    assert [s["text"] for s in suggested[0]["suggestions"]] == [
        replacement["insertedContent"]["text"].removesuffix("\n")
    ]
    without = json.loads(guard("check", "--since", lossy, "-o", "sarif", "--no-patches").output)
    assert not any("fixes" in r for r in without["runs"][0]["results"] if r["ruleId"].startswith("GRD2"))


def test_lines_have_the_identity_that_code_scanning_gives_them(workshop: Workshop, guard: Guard, lossy: str) -> None:
    (workshop.folder / "m.py").write_text("nothing that was checked\n")
    sarif = json.loads(guard("check", "--since", lossy, "-o", "sarif", folder=workshop.folder).output)
    for result in sarif["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        line, path = place["region"]["startLine"], place["artifactLocation"]["uri"]
        data = subprocess.run(
            ["git", "show", f"HEAD:{path}"], cwd=workshop.folder, capture_output=True, check=True
        ).stdout
        assert result["partialFingerprints"]["primaryLocationLineHash"] == line_hashes(data, {line})[line]


def test_each_rule_has_its_address(workshop: Workshop, guard: Guard, lossy: str) -> None:
    (workshop.folder / "guard.toml").write_text('docs-url = "https://example.org/docs/"\n')
    sarif = json.loads(guard("check", "--since", lossy, "-o", "sarif", folder=workshop.folder).output)
    schema = json.loads((ROOT / "tests" / "report" / "schemas" / "sarif-2.1.0.json").read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(sarif)
    pages = {name: (ROOT / "docs" / name).read_text() for name in ("rules.md", "codes.md")}
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"]:
        address, _, anchor = rule["helpUri"].partition("#")
        heading = f"## {rule['id']} "
        (line,) = [row for row in pages[address.rpartition("/")[2]].splitlines() if row.startswith(heading)]
        assert line.removeprefix("## ").lower().replace(" ", "-") == anchor


def test_the_page_of_codes_is_written_from_the_list() -> None:
    assert (ROOT / "docs" / "codes.md").read_text() == codes_document(), "guard rules --codes > docs/codes.md"
    assert all(f"## {code} {name}\n" in codes_document() for code, (name, _) in CODES.items())
    assert not {rule.id for rule in load_rules()} & set(CODES)


@pytest.mark.parametrize(
    ("record", "address"),
    [
        (None, None),
        ("not json", None),
        ('{"url": "https://example.org/a/b.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}',
         "https://example.org/a/b/blob/c0ffee/docs"),
        ('{"url": "ssh://git@example.org/a/b", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}}', None),
        ('{"url": "file:///home/ada/guard", "dir_info": {"editable": true}}', "file:///home/ada/guard/docs"),
    ],
)  # fmt: skip
def test_the_documents_are_where_guard_was_installed_from(record: str | None, address: str | None) -> None:
    assert documents_of_install(record) == address


def test_what_was_skipped_is_said_and_is_no_annotation(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"bad.py": "def (:\n", "good.py": "x = 1\n"})
    lines = guard("check", "bad.py", "good.py", "-o", "github", folder=workshop.folder).output.splitlines()
    assert any(line.startswith("guard: ") and "bad.py" in line for line in lines)
    assert not any(line.startswith("::") and "skipped" in line for line in lines)


def test_the_safe_edit_of_a_rule_is_offered_where_formats_can_show_it(workshop: Workshop, guard: Guard) -> None:
    workshop.commit("base", {"l.py": LINTED})
    sarif = json.loads(guard("check", "l.py", "-o", "sarif", folder=workshop.folder).output)
    (result,) = sarif["runs"][0]["results"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert result["partialFingerprints"]["primaryLocationLineHash"] == line_hashes(LINTED.encode(), {5})[5]
    document = json.loads(guard("check", "l.py", "-o", "rdjson").output)
    (suggestion,) = document["diagnostics"][0]["suggestions"]
    guard("check", "--fix", "l.py")
    fixed = (workshop.folder / "l.py").read_text()
    assert fixed != LINTED
    assert fixed.splitlines(keepends=True)[4] == replacement["insertedContent"]["text"]
    assert fixed.splitlines()[4] == suggestion["text"]
    assert suggestion["range"] == {"start": {"line": 5}, "end": {"line": 5}}


def test_each_change_names_its_author(workshop: Workshop, guard: Guard, lossy: str) -> None:
    findings = guard.check("--since", lossy, folder=workshop.folder).findings("GRD2")
    told = {origin["author"] for finding in findings for origin in finding["origins"]}
    assert told == {"Ada"}
