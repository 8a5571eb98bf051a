"""Python that this interpreter cannot read, with the lines that it cannot read set apart as text.

A file of an older or a newer Python, or one with a slip in it, is Python but for a few lines. Each of those is replaced
by a call that holds its text: the rest of the file is read as ever, and a change of such a line is still a change.
"""

from __future__ import annotations

import ast
import re

UNREAD = "__unread__"
MOST_LINES = 20  # of one file; one with more of them is not Python
_TAB = 8  # columns: where tabs and blanks are mixed, a tab goes to the next multiple, as in Python 2
MOST_PARSED = 2_000_000  # characters; each line costs a parse of the whole
_LITERAL = rf"""'{UNREAD} (?:[^'\\]|\\.)*'|"{UNREAD} (?:[^"\\]|\\.)*\""""
_SAID = re.compile(rf"(?:{UNREAD}\(\s*)?({_LITERAL})(?:\s*\))?")
_CONFLICT = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_HEADER = re.compile(r"(except|elif|if|while|with|for)\b(.*):\s*(?:#.*)?$")


def readable(text: str) -> tuple[ast.Module, int]:
    """Parse a text, lines that cannot be read as calls of `__unread__` with what they say.

    Method: where the parser stops, that line is replaced and the text is parsed again.

    Returns:
        The tree, with the lines of the text; and how many lines were replaced.

    Raises:
        SyntaxError: too many lines, a line whose place in a block cannot be kept, or an unresolved conflict.
    """
    if _CONFLICT.search(text):
        ast.parse(text)
    lines = text.split("\n")
    most = min(MOST_LINES, MOST_PARSED // max(1, len(text)))
    replaced: set[int] = set()
    while True:
        try:
            return ast.parse("\n".join(lines)), len(replaced)
        except TabError:
            if not any("\t" in _indent(line) for line in lines):
                raise
            lines = [_indent(line).expandtabs(_TAB) + line.lstrip() for line in lines]
        except SyntaxError as error:
            at = (error.lineno or 1) - 1
            if len(replaced) >= most or not 0 <= at < len(lines) or not _replace(lines, at, replaced, error):
                raise


def as_written(text: str) -> str:
    """A statement, or part of one, with the lines that were set apart as they stand in the file."""
    if UNREAD not in text:
        return text
    return _SAID.sub(lambda found: str(ast.literal_eval(found.group(1))).removeprefix(f"{UNREAD} "), text)


def _replace(lines: list[str], at: int, replaced: set[int], error: SyntaxError) -> bool:
    """Set one line apart; whether that can bring the parser further."""
    line = lines[at]
    said = line.strip()
    if not said or at in replaced or said.startswith(("#", "def ", "class ", "async ", "@")):
        return False
    header = _HEADER.match(said)
    if isinstance(error, IndentationError):
        # The rest of a statement of which the first line was replaced: it joins that line.
        first = next((number for number in range(at - 1, -1, -1) if lines[number].strip()), -1)
        if at - 1 not in replaced or first < 0 or lines[first].endswith(":"):
            return False
        lines[first] += f"; {_call(said)}"
        lines[at] = ""
    else:
        lines[at] = _indent(line) + (_header(*header.groups()) if header else _call(said))
    replaced.add(at)
    return True


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _header(word: str, rest: str) -> str:
    """A line that opens a block, with what it says as text."""
    call = _call(rest.strip())
    return f"for {UNREAD} in {call}:" if word == "for" else f"{word} {call}:"


def _call(said: str) -> str:
    # The text says itself what it is: where only some tokens of a statement are told, it stands alone.
    return f"{UNREAD}({f'{UNREAD} {said}'!r})"
