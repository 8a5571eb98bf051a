"""`# guard: allow[rule-name] reason` comments: what they hide, and which of them are wrong themselves."""

from __future__ import annotations

import dataclasses
import io
import re
import tokenize
from dataclasses import dataclass

from guard.codes import name_of
from guard.model import Finding, Severity, fingerprint

_ALLOW = re.compile(r"#\s*guard:\s*allow\[([^\]]*)\]\s*(.*)")
MARK = b"guard:"


@dataclass(frozen=True, slots=True)
class Allow:
    """One suppression comment: the lines it covers, the rules it names, its reason."""

    line: int
    covers: int
    names: tuple[str, ...]
    reason: str
    column: int


def allows(text: str) -> list[Allow]:
    """All suppression comments of a program; one on a line of its own covers the next line of code."""
    found: list[Allow] = []
    waiting: list[Allow] = []
    # Reading all tokens costs more than most rules do, and few programs hold such a text at all.
    if _ALLOW.search(text) is None:
        return []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                match = _ALLOW.match(token.string)
                if match is None:
                    continue
                names = tuple(part.strip() for part in match.group(1).split(",") if part.strip())
                line, column = token.start
                allow = Allow(line, line, names, match.group(2).strip(), column + 1)
                alone = token.line[:column].strip() == ""
                (waiting if alone else found).append(allow)
            elif token.type not in {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT} and waiting:
                found.extend(dataclasses.replace(allow, covers=token.start[0]) for allow in waiting)
                waiting.clear()
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found
    return found + waiting


def apply(
    path: str,
    text: str,
    findings: list[Finding],
    active: dict[str, str],
    spans: dict[str, tuple[int, int]],
    complete: bool,
) -> list[Finding]:
    """Take out what is suppressed with a reason; add findings for comments that hide nothing or do not say why.

    Args:
        path: the file.
        text: its source.
        findings: what the rules found in it.
        active: id and name of every rule that ran, to its id.
        spans: first and last line of the whole statement of each finding, by fingerprint.
        complete: whether `active` are all the rules there are.
    """
    kept = list(findings)
    extra: list[Finding] = []
    for allow in allows(text):
        ids = {active[name] for name in allow.names if name in active}
        hidden = [
            f
            for f in kept
            if f.code in ids
            and (
                allow.covers == f.line
                or spans.get(f.fingerprint, (f.line, f.line))[0]
                <= allow.covers
                <= spans.get(f.fingerprint, (f.line, f.line))[1]
            )
        ]
        if not allow.reason:
            extra.append(_own("GRD902", path, allow, "the comment suppresses nothing until it says why"))
        elif hidden:
            kept = [f for f in kept if f not in hidden]
        elif unknown := [name for name in allow.names if name not in active]:
            # Of a part of the rules nothing can be said about the names of the others.
            if complete:
                extra.append(_own("GRD901", path, allow, f"no rule is called {', '.join(unknown)}"))
        elif not allow.names:
            extra.append(_own("GRD901", path, allow, "the comment names no rule"))
        else:
            extra.append(_own("GRD901", path, allow, f"nothing to suppress here for {', '.join(allow.names)}"))
    return kept + extra


def _own(code: str, path: str, allow: Allow, message: str) -> Finding:
    mark = fingerprint(code, path, "<comment>", f"{','.join(allow.names)} {allow.reason}")
    return Finding(code, name_of(code), Severity.WARNING, path, allow.line, message, mark, column=allow.column)
