"""Units of files that have no data structure: sentences of prose, statements of C-like code, lines of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guard.documents.units import Unit

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:])\1{2,}\s*$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s+")
_TABLE_RULE = re.compile(r"[\s|:+=-]+")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`*_\[(\"0-9])")
_COMMENT_LINE = re.compile(r"\s*(#(?!!)|//|;;)")
_SECTION = re.compile(r"\s*\[([^\]]+)\]\s*$")
_SHELL_FUNCTION = re.compile(r"\s*(?:function\s+)?([\w:-]+)\s*\(\s*\)\s*\{?\s*$")
_CODE_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
    |(?P<string>[uULR8]*"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>\w+)
    |(?P<mark>::|->|<<<|>>>|[-+*/%&|^=!<>]=|&&|\|\||[^\s\w])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_NO_NAMES = frozenset(
    ("if", "for", "while", "switch", "else", "do", "try", "catch", "return", "sizeof", "template", "const", "noexcept")
)


def prose_units(text: str) -> Iterator[Unit]:
    """Headings, sentences, list items, table rows and the lines of code blocks; wrapping does not count."""
    headings: list[str] = []
    block: list[tuple[int, str]] = []
    fence = ""
    lines = text.split("\n")

    def flush() -> Iterator[Unit]:
        if block:
            yield from _sentences(block, _scope(headings))
            block.clear()

    for number, line in enumerate(lines, 1):
        opened = _FENCE.match(line)
        if fence or opened:
            yield from flush()
            if not fence and opened:
                fence = opened[1]
            elif opened and opened[1].startswith(fence):
                fence = ""
            elif line.strip():
                yield _unit(_scope(headings), line, number)
            continue
        heading = _HEADING.match(line)
        underlined = number < len(lines) and line.strip() and not block and _UNDERLINE.match(lines[number])
        if heading or (underlined and not _UNDERLINE.match(line)):
            yield from flush()
            level, title = (len(heading[1]), heading[2]) if heading else (2, line.strip())
            del headings[level - 1 :]
            headings.extend("" for _ in range(level - 1 - len(headings)))
            headings.append(" ".join(title.split()))
            yield _unit(_scope(headings[:-1]), title, number)
        elif not line.strip() or (_UNDERLINE.match(line) and not block):
            yield from flush()
        elif line.lstrip().startswith("|"):
            yield from flush()
            if not _TABLE_RULE.fullmatch(line):
                yield _unit(_scope(headings), line, number)
        else:
            if _ITEM.match(line):
                yield from flush()
            block.append((number, line))
    yield from flush()


def code_units(text: str) -> Iterator[Unit]:
    """Statements, heads of blocks and preprocessor lines of C-like code; comments and line breaks do not count."""
    scopes: list[str] = []
    tokens: list[str] = []
    first = last = line = 1
    depth = position = 0

    def statement() -> Iterator[Unit]:
        if any(character.isalnum() for token in tokens for character in token):
            yield Unit(".".join(filter(None, scopes)), " ".join(tokens), "", first, last)
        tokens.clear()

    for match in _CODE_TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        kind, token = match.lastgroup, match[0]
        if kind == "comment":
            continue
        if kind == "directive":
            words = " ".join(token.replace("\\\n", " ").split())
            yield Unit(".".join(filter(None, scopes)), words, "", line, line + token.count("\n"))
            continue
        if not tokens:
            first = line
        last = line + token.count("\n")
        if token in "([":
            depth += 1
        elif token in ")]":
            depth = max(0, depth - 1)
        if token == "{" and kind == "mark":
            name = _block_name(tokens)
            tokens.append(token)
            yield from statement()
            scopes.append(name)
            depth = 0
        elif token == "}":
            yield from statement()
            if scopes:
                scopes.pop()
            depth = 0
        elif token == ";" and depth == 0:
            yield from statement()
        else:
            tokens.append(token)
    yield from statement()


def line_units(text: str) -> Iterator[Unit]:
    """Lines with white space normalised, without blank lines, lines of comment alone and continuation marks."""
    scope = ""
    for number, line in enumerate(text.split("\n"), 1):
        body = line.strip().removesuffix("\\").rstrip()
        if not any(character.isalnum() for character in body) or _COMMENT_LINE.match(line):
            scope = "" if line.startswith("}") else scope
            continue
        head = _SECTION.match(line) or _SHELL_FUNCTION.match(line)
        if head:
            scope = head[1].strip()
        yield _unit("" if head else scope, body, number)


def _sentences(block: list[tuple[int, str]], scope: str) -> Iterator[Unit]:
    """The sentences of one paragraph or list item, each with the lines that it spans."""
    words = [(word, number) for number, line in block for word in line.split()]
    joined = " ".join(word for word, _ in words)
    start = 0
    for sentence in _SENTENCE_END.split(joined):
        count = len(sentence.split())
        span = words[start : start + count]
        start += count
        if span and any(character.isalnum() for character in sentence):
            yield Unit(scope, sentence, "", span[0][1], span[-1][1])


def _scope(headings: list[str]) -> str:
    return " / ".join(title for title in headings[1:] or headings if title)


def _unit(scope: str, line: str, number: int) -> Unit:
    return Unit(scope, " ".join(line.split()), "", number, number)


def _block_name(tokens: list[str]) -> str:
    """The name that a block's head gives: what stands before the parentheses, or after class, struct, namespace."""
    words = tokens[: tokens.index("(")] if "(" in tokens else tokens
    names = [word for word in words if word.isidentifier() and word not in _NO_NAMES]
    if "(" not in tokens and ":" in words:  # class A : public B
        names = [word for word in words[: words.index(":")] if word.isidentifier()]
    return names[-1] if names else ""
