"""One statement, or one header, that both sides changed."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Sequence
from typing import Any

from guard.judge.numeric import is_numeric
from guard.judge.tokens import edits
from guard.merging.expressions import Joiner, Source, dump
from guard.merging.joining import join_lines
from guard.merging.members import Refused, edited
from guard.merging.syntax import Node, Part, comments_in, head_of, tokens_of

_BODIES = ("body", "orelse", "finalbody", "handlers")


def changed_tokens(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The tokens that an edit put in or took out."""
    found: list[str] = []
    for edit in edits(before, after):
        found += [*before[edit.start : edit.end], *after[edit.new_start : edit.new_end]]
    return found


def join_statement(base: Node, ours: Node, theirs: Node) -> str:
    """The text of a plain statement with the edits of both sides.

    Raises:
        Refused: with the reason.
    """
    if base.documentation and ours.documentation and theirs.documentation:
        return _documentation(base, ours, theirs)
    trees = [node.only for node in (base, ours, theirs)]
    if any(tree is None for tree in trees):
        raise Refused("both sides changed a line of several statements")
    if not isinstance(trees[0], ast.ImportFrom):
        _not_numeric(base.tokens, ours.tokens, theirs.tokens)
    reasons = []
    for host, guest in _hosts(ours, theirs):
        try:
            return _made_in(base, host, guest)
        except Refused as reason:
            reasons.append(reason)
    raise reasons[0]


def join_header(base: Part, ours: Part, theirs: Part) -> str:
    """The text of a header with the edits of both sides.

    Raises:
        Refused: with the reason.
    """
    if not ours.kind == theirs.kind == base.kind:
        raise Refused("both sides changed what a block hangs on")
    if base.kind not in ("def", "class"):
        _not_numeric(*(tokens_of(head_of(part.owner, part.kind)) for part in (base, ours, theirs)))
    reasons = []
    for host, guest in _hosts(ours, theirs):
        try:
            return _header_made_in(base, host, guest)
        except Refused as reason:
            reasons.append(reason)
    raise reasons[0]


def _hosts(ours: Any, theirs: Any) -> list[tuple[Any, Any]]:
    """In whose text the other's edits are made, first choice first: the longer one, whichever side it is of."""
    first, second = sorted((ours, theirs), key=lambda item: (len(item.text), item.text), reverse=True)
    return [(first, second), (second, first)]


def _not_numeric(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> None:
    if is_numeric(changed_tokens(base, ours)) and is_numeric(changed_tokens(base, theirs)):
        raise Refused("both sides changed one number")


def _made_in(base: Node, host: Node, guest: Node) -> str:
    assert host.only is not None
    _comments(base, host, guest)
    joiner = Joiner(Source(host.lines, host.offset), Source(guest.lines, guest.offset))
    wanted = joiner.join(base.only, host.only, guest.only)  # type: ignore[type-var]
    text = edited(joiner.host, (host.start, 0), _end(host.lines, host.end), joiner.edits)
    parsed = _parsed(text)
    if len(parsed) != 1 or dump(parsed[0]) != dump(wanted):
        raise Refused("the joined statement cannot be written in either side's form")
    return text


def _header_made_in(base: Part, host: Part, guest: Part) -> str:
    if set(comments_in_head(guest)) - set(comments_in_head(base)) - set(comments_in_head(host)):
        raise Refused("both sides changed a header, and one a comment in it")
    joiner = Joiner(Source(host.lines, host.offset), Source(guest.lines, guest.offset))
    wanted = joiner._fields(base.owner, host.owner, guest.owner, skip=_BODIES)
    text = edited(joiner.host, (host.start, 0), _end(host.lines, host.end), joiner.edits)
    indent = text[: len(text) - len(text.lstrip())]
    program = f"{text}{indent} pass\n"
    if host.kind == "except":
        program = f"{indent}try:\n{indent} pass\n{program}"
    elif host.kind == "elif":
        program = f"{indent}if 0:\n{indent} pass\n{program}"
    parsed = _parsed(program)
    owner: Any = parsed[0] if len(parsed) == 1 else None
    if owner is not None and host.kind == "except":
        owner = owner.handlers[0]
    elif owner is not None and host.kind == "elif":
        owner = owner.orelse[0]
    if owner is None or dump(head_of(owner, host.kind)) != dump(head_of(wanted, host.kind)):
        raise Refused("the joined header cannot be written in either side's form")
    return text


def comments_in_head(part: Part) -> tuple[str, ...]:
    """The comments in a header."""
    return comments_in(part.text)


def _comments(base: Node, host: Node, guest: Node) -> None:
    if guest.comments not in (base.comments, host.comments):
        raise Refused("both sides changed a statement, and one a comment in it")


def _end(lines: Sequence[str], end: int) -> tuple[int, int]:
    return end - 1, len(lines[end - 1])


def _parsed(text: str) -> list[ast.stmt]:
    program = f"if 1:\n{text}" if text[:1] in " \t" else text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Refused("the joined statement would not parse") from None
    first = body[0] if body else None
    return first.body if program is not text and isinstance(first, ast.If) else body


def _documentation(base: Node, ours: Node, theirs: Node) -> str:
    forms = [node.text.splitlines(keepends=True) for node in (base, ours, theirs)]
    joined = join_lines(*forms)
    if joined is None:
        raise Refused("the docstrings disagree")
    text = "".join(joined)
    found = _parsed(text)
    if len(found) != 1 or not isinstance(found[0], ast.Expr) or not isinstance(found[0].value, ast.Constant):
        raise Refused("the docstrings disagree")
    return text


def without_imported(changed: Node, base: Node, put_in: Sequence[Node]) -> str:
    """What one side put into an import that the other side took out: the import of just those names; may be empty.

    Arguments:
        put_in: what the other side has that the base has not: an import may only have moved there.

    Raises:
        Refused: it is no import of names, a comment stands in the way, or a name that the one side took out is still
            imported by the other, from elsewhere.
    """
    now, before = changed.only, base.only
    if not isinstance(now, ast.ImportFrom) or not isinstance(before, ast.ImportFrom) or now.module != before.module:
        raise Refused("one side deleted what the other changed")
    known = {(alias.name, alias.asname) for alias in before.names}
    kept = {alias.name for alias in now.names}
    gone = {alias.name for alias in before.names} - kept
    elsewhere = {
        alias.name
        for node in put_in
        for part in node.statements
        if isinstance(part, ast.ImportFrom)
        for alias in part.names
    }
    if gone & elsewhere:
        raise Refused("one side took a name out of an import that the other moved")
    fresh = [alias for alias in now.names if (alias.name, alias.asname) not in known]
    if not fresh:
        return ""
    joiner = Joiner(Source(changed.lines, changed.offset), Source(changed.lines, changed.offset))
    wanted = copy.copy(now)
    wanted.names = fresh
    empty = copy.copy(now)
    empty.names = [alias for alias in now.names if alias not in fresh]
    made = joiner.join(empty, now, wanted)
    text = edited(joiner.host, (changed.start, 0), _end(changed.lines, changed.end), joiner.edits)
    parsed = _parsed(text)
    if dump(made) != dump(wanted) or len(parsed) != 1 or dump(parsed[0]) != dump(wanted):
        raise Refused("one side deleted an import that the other changed")
    return text
