"""A pin from a fix: a rule where the edit has a shape that rules can state, else the definition's content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from guard.checks.pinning.examples import examples
from guard.checks.pinning.sources import EditSource, edit_source
from guard.checks.pinning.trial import clauses_for, found_by
from guard.checks.pinning.writing import render
from guard.errors import ConfigError
from guard.git import Commit, Repository
from guard.lint.language import Rule
from guard.lint.schema import load_text
from guard.provenance.blame import pull_request
from guard.provenance.fixes import Fix, FixEdit, changed_files, read_fix
from guard.provenance.landings import plain_subject
from guard.sync.readings import Readings

RULE, CONTENT = "rule", "content"
_MOST_WORDS = 7
_TRAILER = re.compile(r"^[A-Z][\w-]+: |^\(cherry[- ]picked", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pin:
    """A pin ready to be written.

    Attributes:
        name: readable name, also of the file.
        kind: `rule` or `content`.
        text: the YAML file.
        shapes: the kinds of edits that the clauses state, or why the content was pinned.
        places: path and symbol of each pinned definition.
    """

    name: str
    kind: str
    text: str
    shapes: tuple[str, ...]
    places: tuple[tuple[str, str], ...]


def make_pins(repository: Repository, commit: Commit) -> tuple[Pin, ...]:
    """The pins of a fix: one rule for all that rules can state, and a content pin where nothing can be stated.

    Every rule was tried: it finds the pre-fix form in the parent's file and nothing in the fix's, and its bad example
    is found and its good one not.

    Raises:
        ConfigError: the commit changes no Python code that could be pinned.
    """
    readings = Readings(repository)
    fix = read_fix(repository, commit, readings)
    if not fix.edits:
        raise ConfigError(f"{commit.sha[:10]} changes no statement of a Python file: there is nothing to pin")
    blobs = {file.path: (file.before, file.after) for file in changed_files(repository, commit)}
    clauses: list[dict[str, Any]] = []
    shapes: list[str] = []
    places: list[tuple[str, str]] = []
    shown: tuple[str, str] | None = None
    for source, before, after in _sources(fix, blobs, readings):
        stated = clauses_for(source, before, after)
        if not stated:
            continue
        kept = [clause for _, clause in stated]
        pair = _examples(source, kept, before, after)
        if pair is None:
            continue
        clauses += kept
        shapes += [candidate.shape for candidate, _ in stated]
        places.append((source.edit.path, source.edit.symbol))
        shown = shown or pair
    if clauses and shown is not None:
        text = render(_rule_document(commit, clauses, shapes, shown))
        load_text(Rule, text, "pin")  # what is written loads
        return (Pin(pin_name(commit), RULE, text, tuple(dict.fromkeys(shapes)), tuple(places)),)
    return (_content_pin(commit, fix),)


def pin_name(commit: Commit) -> str:
    """`pin-5798-fix-for-sequence-level-loss`: the pull request or commit, and the first words of the subject."""
    number = pull_request(commit.message)
    words = re.findall(r"[a-z0-9]+", plain_subject(commit.subject))[:_MOST_WORDS]
    return "-".join(["pin", str(number) if number is not None else commit.sha[:8], *words])


def pin_id(commit: Commit) -> str:
    """`GRD501-5798`: the family, and the pull request or commit."""
    number = pull_request(commit.message)
    return f"GRD501-{number if number is not None else commit.sha[:10]}"


def _sources(
    fix: Fix, blobs: dict[str, tuple[str | None, str | None]], readings: Readings
) -> Iterator[tuple[EditSource, bytes, bytes]]:
    for edit in sorted(fix.edits, key=lambda edit: -edit.weight):
        one, other = blobs.get(edit.path, (None, None))
        before = readings.data(one) if one else None
        after = readings.data(other) if other else None
        if before is not None and after is not None:
            yield edit_source(edit, before, after), before, after


def _examples(source: EditSource, clauses: list[dict[str, Any]], before: bytes, after: bytes) -> tuple[str, str] | None:
    document = {
        "id": "GRD501", "name": "trial", "severity": "error", "status": "stable", "summary": "trial", "why": "trial",
        "message": "trial", "match": clauses, "bad": ["pass"], "good": ["pass"],
    }  # fmt: skip
    rule = load_text(Rule, render(document), "trial")

    def finds(program: str) -> bool:
        return bool(found_by(rule, source.edit.path, program.encode("utf-8", "surrogatepass")).findings)

    return examples(source, before, after, finds)


def _rule_document(
    commit: Commit, clauses: list[dict[str, Any]], shapes: list[str], shown: tuple[str, str]
) -> dict[str, Any]:
    number = pull_request(commit.message)
    fix = f"#{number}" if number is not None else commit.sha[:10]
    kinds = ", ".join(dict.fromkeys(shapes))
    return {
        "id": pin_id(commit),
        "name": pin_name(commit),
        "severity": "error",
        "status": "stable",
        "summary": f"The fix {fix} stands: {_plain(commit.subject)}"[:200],
        "why": _why(commit),
        "origin": [number] if number is not None else [],
        "message": f"the fix {fix} is undone here ({kinds}): {_plain(commit.subject)}",
        "match": clauses,
        "bad": [shown[0]],
        "good": [shown[1]],
    }


def _content_pin(commit: Commit, fix: Fix) -> Pin:
    edits = sorted(fix.edits, key=lambda edit: -edit.weight)
    pinned = [edit for edit in edits if edit.after is not None][:4] or edits[:1]
    number = pull_request(commit.message)
    name = f"#{number}" if number is not None else commit.sha[:10]
    document = {
        "id": pin_id(commit),
        "name": pin_name(commit),
        "summary": f"The fix {name} stands: {_plain(commit.subject)}"[:200],
        "why": _why(commit),
        "origin": [number] if number is not None else [],
        "message": f"the fix {name} is no longer in effect here: {_plain(commit.subject)}",
        "definitions": [_definition(edit) for edit in pinned],
    }
    why = ("no shape of the rule language states the edit",)
    return Pin(pin_name(commit), CONTENT, render(document), why, tuple((e.path, e.symbol) for e in pinned))


def _definition(edit: FixEdit) -> dict[str, Any]:
    told = {"path": edit.path, "symbol": edit.symbol}
    if edit.before is not None:
        told["before"] = edit.before.own + "\n"
    if edit.after is not None:
        told["after"] = edit.after.own + "\n"
    return told


def _why(commit: Commit) -> str:
    """The message's body without trailers, else the subject."""
    body = commit.message.partition("\n")[2]
    trailer = _TRAILER.search(body)
    told = " ".join((body[: trailer.start()] if trailer else body).split())
    return _plain(told[:600] or commit.subject)


def _plain(text: str) -> str:
    return " ".join(text.replace("$", "").split())
