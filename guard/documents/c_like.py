"""Units of C-like code: statements, heads of blocks and preprocessor lines, by the definition that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guard.documents.directives import directive
from guard.documents.units import Unit

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


def code_units(text: str) -> Iterator[Unit]:
    """Statements, heads of blocks and preprocessor lines of C-like code; comments and line breaks do not count."""
    blocks: list[tuple[str, str]] = []  # (name of a definition, or empty; else the keyword of the block)
    tokens: list[str] = []
    first = last = line = 1
    depth = position = 0

    def unit(said: str, start: int, end: int) -> Unit:
        scope = ".".join(name for name, _ in blocks if name)
        inner = next((k for k in range(len(blocks) - 1, -1, -1) if blocks[k][0]), -1)
        return Unit(scope, said, "", start, end, "/".join(word for _, word in blocks[inner + 1 :]))

    def statement() -> Iterator[Unit]:
        if any(character.isalnum() for token in tokens for character in token):
            yield unit(" ".join(tokens), first, last)
        tokens.clear()

    for match in _CODE_TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        kind, token = match.lastgroup, match[0]
        if kind == "comment":
            if acted := directive(token):
                yield unit(acted, line, line)
            continue
        if kind == "directive":
            yield unit(" ".join(token.replace("\\\n", " ").split()), line, line + token.count("\n"))
            continue
        if not tokens:
            first = line
        last = line + token.count("\n")
        if token in "([":
            depth += 1
        elif token in ")]":
            depth = max(0, depth - 1)
        if token == "{" and kind == "mark":
            name, keyword = _block_name(tokens), next((word for word in tokens if word.isidentifier()), "")
            tokens.append(token)
            yield from statement()
            blocks.append((name, keyword if not name else ""))
            depth = 0
        elif token == "}":
            yield from statement()
            if blocks:
                blocks.pop()
            depth = 0
        elif token == ";" and depth == 0:
            yield from statement()
        else:
            tokens.append(token)
    yield from statement()


def _block_name(tokens: list[str]) -> str:
    """The name that a block's head gives: what stands before the parentheses, or after class, struct, namespace."""
    words = tokens[: tokens.index("(")] if "(" in tokens else tokens
    names = [word for word in words if word.isidentifier() and word not in _NO_NAMES]
    if "(" not in tokens and ":" in words:  # class A : public B
        names = [word for word in words[: words.index(":")] if word.isidentifier()]
    return names[-1] if names else ""
