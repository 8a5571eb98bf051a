"""`# guard: allow[rule-name] reason` comments: what they hide, and which of them are wrong themselves.

One beside code covers that line; on a line of its own it covers the next line of code; on the line of a `def` or
`class` the whole definition. `# guard: allow-file[rule-name] reason` covers the file. Directives of other tools may
stand beside it.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from guard.codes import name_of
from guard.model import Finding, Severity, fingerprint

# Where one directive ends and the next of the same comment begins.
_DIRECTIVE = re.compile(
    r"#+\s*(?=(?:guard\s*:|noqa\b|type:|pragma\b|pylint:|pyright:|mypy:|ruff:|isort:|fmt:|flake8:|nosec\b|yapf:|pytype:))",
    re.IGNORECASE,
)
_ALLOW = re.compile(r"#+\s*guard:\s*allow(-file)?\[([^\[\]]*)\]\s*(.*)", re.DOTALL)
_MEANT = re.compile(
    r"#+\s*guard\s*:?\s*(?:al+ow|disable|ignore|suppress|skip|noqa)[-\w]*\s*(?:[\[(:=]|GRD\d)", re.IGNORECASE
)
MARK = b"guard:"
_LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class Allow:
    """One suppression comment.

    Attributes:
        line, column: where it stands.
        covers: the line of code that it covers.
        names: the rules it names.
        reason: why.
        last: the last line that it covers, of a definition that of its end.
        file: whether it covers the whole file.
        malformed: whether it is no suppression at all, but was meant as one.
    """

    line: int
    covers: int
    names: tuple[str, ...]
    reason: str
    column: int
    last: int = 0
    file: bool = False
    malformed: bool = False

    def holds(self, first: int, last: int) -> bool:
        """Whether a finding of a statement from one line to another is covered."""
        return self.file or first <= self.covers <= last or self.covers <= first <= self.last


def allows(text: str) -> list[Allow]:
    """All suppression comments of a program, those included that are misspelt."""
    found: list[Allow] = []
    waiting: list[Allow] = []
    # Reading all tokens costs more than most rules do, and few programs hold such a text at all.
    if _ALLOW.search(text) is None and _MEANT.search(text) is None:
        return []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                alone = token.line[: token.start[1]].strip() == ""
                (waiting if alone else found).extend(_of_comment(token))
            elif token.type not in _LAYOUT and waiting:
                found.extend(dataclasses.replace(allow, covers=token.start[0]) for allow in waiting)
                waiting.clear()
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found
    return _over_definitions(text, found + waiting)


def _of_comment(token: tokenize.TokenInfo) -> Iterator[Allow]:
    """The suppressions of one comment; prose that only speaks of one is none."""
    line, column = token.start
    starts = [match.start() for match in _DIRECTIVE.finditer(token.string)]
    if not starts or starts[0] != 0:
        starts = [0]
    for start, end in zip(starts, [*starts[1:], len(token.string)], strict=True):
        part = token.string[start:end]
        match = _ALLOW.match(part)
        if match is not None:
            names = tuple(name.strip() for name in match.group(2).split(",") if name.strip())
            reason = match.group(3).strip().lstrip(":-–— ").strip()
            yield Allow(line, line, names, reason, column + start + 1, file=match.group(1) is not None)
        elif _MEANT.match(part):
            yield Allow(line, line, (), part.strip(), column + start + 1, malformed=True)


def _over_definitions(text: str, found: list[Allow]) -> list[Allow]:
    """The same, with the last line of the definition at whose head one stands."""
    heads: dict[int, int] = {}
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
            for line in range(first, max(node.lineno, node.body[0].lineno - 1) + 1):
                heads.setdefault(line, node.end_lineno or node.lineno)
    return [dataclasses.replace(allow, last=heads.get(allow.covers, 0)) for allow in found]


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
        spanned = [(f, spans.get(f.fingerprint, (f.line, f.line))) for f in kept if f.code in ids]
        hidden = [f for f, (first, last) in spanned if allow.covers == f.line or allow.holds(first, last)]
        if allow.malformed:
            wanted = "a suppression is written # guard: allow[rule-name] reason"
            extra.append(_own("GRD905", path, allow, f"this comment suppresses nothing: {wanted}"))
        elif not allow.reason:
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
